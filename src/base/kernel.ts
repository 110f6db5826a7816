// A few machine-near loops over shared memory as a WebAssembly module, put together byte by byte: JavaScript's own copies between shared
// arrays move one byte at a time where source and target are not aligned alike, which records in a log never are.
import { assert } from './assert.ts';

//   copy(to, from, size)     memory.copy
//   crc32(at, end) -> i32    the usual CRC-32, sixteen bytes a step, by sixteen tables that lie at the start of the memory
//
//   0        tables: 16 of 256 words                     16 KiB
//   16384    whatever the memory is for

const TABLE_COUNT = 16;
const TABLE_SIZE = 1024;
export const KERNEL_TABLES_SIZE = TABLE_COUNT * TABLE_SIZE;
assert(KERNEL_TABLES_SIZE === 16_384, 'kernel table layout');

export const WASM_PAGE_SIZE = 65_536;
const PAGE_COUNT_MAX = 65_536;
const POLYNOMIAL = 0xedb88320;

/** What we use of WebAssembly's interface, for which the platform's types have no declarations. */
export interface WasmMemory {
  readonly buffer: SharedArrayBuffer;
}
interface WasmApi {
  readonly Memory: new (limits: { initial: number; maximum: number; shared: true }) => WasmMemory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: { e: { m: WasmMemory } }) => { readonly exports: Kernel };
}

export interface Kernel {
  copy(to: number, from: number, size: number): void;
  crc32(at: number, end: number): number;
}

/** Absent where node runs without a compiler (`--jitless`). */
const api = (globalThis as { WebAssembly?: WasmApi }).WebAssembly;

/** Shared memory that a kernel can work on, its tables filled in; undefined where there is none to be had. */
export function allocateWasmMemory(pageCount: number): WasmMemory | undefined {
  if (api === undefined) return undefined;
  try {
    const memory = new api.Memory({ initial: pageCount, maximum: pageCount, shared: true });
    fillTables(new Int32Array(memory.buffer, 0, KERNEL_TABLES_SIZE >> 2));
    return memory;
  } catch {
    // Such as an address space that is limited: each memory claims far more of it than it uses.
    return undefined;
  }
}

export function kernelOver(memory: WasmMemory): Kernel {
  assert(api !== undefined, 'this memory comes from WebAssembly');
  return new api.Instance(new api.Module(moduleBytes()), { e: { m: memory } }).exports;
}

function fillTables(tables: Int32Array): void {
  for (let i = 0; i < 256; i++) {
    let crc = i;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) !== 0 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    tables[i] = crc;
  }
  for (let i = 256; i < TABLE_COUNT * 256; i++) {
    const before = tables[i - 256] as number;
    tables[i] = (before >>> 8) ^ (tables[before & 0xff] as number);
  }
}

// The module's binary form: https://webassembly.github.io/spec/core/binary/

type Code = readonly number[];

const I32 = 0x7f;
const NO_RESULT = 0x40;
const [block, loop, branch, branchIf, end] = [0x02, 0x03, 0x0c, 0x0d, 0x0b];
const [lessUnsigned, greaterOrEqualUnsigned] = [0x49, 0x4f];
const [add, subtract, and, xor, shiftLeft, shiftRight] = [0x6a, 0x6b, 0x71, 0x73, 0x74, 0x76];
const memoryCopy = [0xfc, 0x0a, 0x00, 0x00];

const getLocal = (index: number): Code => [0x20, index];
const setLocal = (index: number): Code => [0x21, index];
const constant = (value: number): Code => [0x41, ...signed(value)];
/** Little-endian word at the address on the stack plus `offset`; the alignment is a hint only. */
const loadWord = (offset: number): Code => [0x28, 0x00, ...unsigned(offset)];
const loadByte = (offset: number): Code => [0x2d, 0x00, ...unsigned(offset)];

/** LEB128. */
function unsigned(value: number): Code {
  const low = value & 0x7f;
  return value > 0x7f ? [low | 0x80, ...unsigned(value >>> 7)] : [low];
}

function signed(value: number): Code {
  const low = value & 0x7f;
  const rest = value >> 7;
  const done = (rest === 0 && low < 0x40) || (rest === -1 && low >= 0x40);
  return done ? [low] : [low | 0x80, ...signed(rest)];
}

const section = (id: number, content: Code): Code => [id, ...unsigned(content.length), ...content];
const body = (content: Code): Code => [...unsigned(content.length), ...content];
const name = (text: string): Code => [text.length, ...Buffer.from(text, 'latin1')];

function moduleBytes(): Uint8Array {
  const types = section(1, [2, 0x60, 3, I32, I32, I32, 0, 0x60, 2, I32, I32, 1, I32]);
  const imports = section(2, [1, ...name('e'), ...name('m'), 0x02, 0x03, ...unsigned(1), ...unsigned(PAGE_COUNT_MAX)]);
  const functions = section(3, [2, 0, 1]);
  const exports = section(7, [2, ...name('copy'), 0, 0, ...name('crc32'), 0, 1]);
  const code = section(10, [2, ...body(copyCode()), ...body(crcCode())]);
  return Uint8Array.from([0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...types, ...imports, ...functions, ...exports, ...code]);
}

function copyCode(): Code {
  return [0, ...getLocal(0), ...getLocal(1), ...getLocal(2), ...memoryCopy, end];
}

/** Locals: 0 at, 1 end, 2 crc, 3-6 the words of a step. */
function crcCode(): Code {
  const [at, limit, crc, firstWord] = [0, 1, 2, 3];
  const wordCount = TABLE_COUNT / 4;
  const words = Array.from({ length: wordCount }, (_, i) => [
    ...getLocal(at),
    ...loadWord(i * 4),
    ...(i === 0 ? [...getLocal(crc), xor] : []),
    ...setLocal(firstWord + i),
  ]);
  // The first byte of a step is followed by most others, so it takes the last table.
  const lookUps = Array.from({ length: TABLE_COUNT }, (_, i) => [
    ...tableIndex(firstWord + (i >> 2), i & 3),
    ...loadWord((TABLE_COUNT - 1 - i) * TABLE_SIZE),
    ...(i === 0 ? [] : [xor]),
  ]);
  const step = [...words.flat(), ...lookUps.flat(), ...setLocal(crc), ...getLocal(at), ...constant(TABLE_COUNT), add, ...setLocal(at)];
  const noStepLeft = [...getLocal(limit), ...getLocal(at), subtract, ...constant(TABLE_COUNT), lessUnsigned];
  const byteIndex = [...getLocal(crc), ...getLocal(at), ...loadByte(0), xor, ...constant(0xff), and, ...constant(2), shiftLeft];
  const byte = [...byteIndex, ...loadWord(0), ...getLocal(crc), ...constant(8), shiftRight, xor, ...setLocal(crc)];
  const bytewise = [...byte, ...getLocal(at), ...constant(1), add, ...setLocal(at)];
  const noByteLeft = [...getLocal(at), ...getLocal(limit), greaterOrEqualUnsigned];
  return [
    ...[1, 1 + wordCount, I32],
    ...[...constant(-1), ...setLocal(crc)],
    ...until(noStepLeft, step),
    ...until(noByteLeft, bytewise),
    ...[...getLocal(crc), ...constant(-1), xor, end],
  ];
}

function until(condition: Code, content: Code): Code {
  return [block, NO_RESULT, loop, NO_RESULT, ...condition, branchIf, 1, ...content, branch, 0, end, end];
}

/** Byte number `byte` of the word in a local, times four: its place in a table. */
function tableIndex(word: number, byte: number): Code {
  if (byte === 0) return [...getLocal(word), ...constant(0xff), and, ...constant(2), shiftLeft];
  return [...getLocal(word), ...constant(byte * 8 - 2), shiftRight, ...constant(0x3fc), and];
}
