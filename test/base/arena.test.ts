// The arena: regions apart from each other, copies that move what they should, and the kernel's checksum against the library's.
import { crc32 } from 'node:zlib';
import test from 'ava';
import fc from 'fast-check';
import { Arena, type ArenaMemory, allocateRegion, allocateRegions } from '../../src/base/arena.ts';
import { KERNEL_TABLES_SIZE } from '../../src/base/kernel.ts';

const SIZE = 1 << 16;

/** With and without WebAssembly. */
const memories: readonly (readonly [string, () => ArenaMemory])[] = [
  ['kernel', () => allocateRegion(SIZE).memory],
  ['plain', () => new SharedArrayBuffer(KERNEL_TABLES_SIZE + SIZE)],
];

function filled(bytes: Uint8Array): Uint8Array {
  for (let i = 0; i < bytes.length; i++) bytes[i] = (i * 31 + (i >>> 8)) & 255;
  return bytes;
}

test('arena: regions lie behind the tables, aligned, in order and apart', (t) => {
  const sizes = [1, 0, 129, 4096, 7];
  const regions = allocateRegions(sizes);
  let end = KERNEL_TABLES_SIZE;
  for (const [i, region] of regions.entries()) {
    t.is(region.at % 128, 0);
    t.true(region.at >= end, `region ${i}`);
    t.is(region.size, sizes[i] as number);
    end = region.at + region.size;
  }
  const arena = Arena.of((regions[0] as { memory: ArenaMemory }).memory);
  t.true(arena.bytes.length >= end);
  t.true(regions.every((region) => Arena.of(region.memory) === arena));
  t.throws(() => allocateRegions([2 ** 30, 2 ** 30]), { message: /fits into its addresses/ });
});

for (const [name, memoryOf] of memories) {
  test(`arena, ${name}: copies are those of an ordinary array, also where they overlap`, (t) => {
    const arena = Arena.of(memoryOf());
    const first = KERNEL_TABLES_SIZE;
    const model = new Uint8Array(SIZE);
    filled(model);
    arena.bytes.set(model, first);
    const other = filled(new Uint8Array(5000));
    const place = fc.nat(SIZE - 4097);
    const size = fc.oneof(fc.nat(64), fc.nat(4096));
    fc.assert(
      fc.property(place, place, size, fc.constantFrom('within', 'in', 'out'), (from, to, count, way) => {
        if (way === 'within') {
          arena.copy(arena.bytes, first + from, arena.bytes, first + to, count);
          model.copyWithin(to, from, from + count);
        } else if (way === 'in') {
          arena.copy(other, from % 900, arena.bytes, first + to, count);
          model.set(other.subarray(from % 900, (from % 900) + count), to);
        } else {
          const out = new Uint8Array(4200);
          arena.copy(arena.bytes, first + from, out, 7, count);
          return Buffer.compare(out.subarray(7, 7 + count), model.subarray(from, from + count)) === 0 && out[7 + count] === 0;
        }
        return Buffer.compare(arena.bytes.subarray(first, first + SIZE), model) === 0;
      }),
      { numRuns: 500 },
    );
    t.pass();
  });
}

test('arena: its checksum is the library’s, for every length and place', (t) => {
  const arena = Arena.of(allocateRegion(SIZE).memory);
  t.true(arena.hasKernel);
  const first = KERNEL_TABLES_SIZE;
  filled(arena.bytes.subarray(first, first + SIZE));
  for (let size = 0; size < 200; size++) {
    const at = first + size * 3;
    if (arena.crc32(at, at + size) >>> 0 !== crc32(new Uint8Array(arena.buffer, at, size))) t.fail(`size=${size}`);
  }
  for (const [at, size] of [
    [0, SIZE],
    [1, 4099],
    [13, 1024],
  ] as const)
    t.is(arena.crc32(first + at, first + at + size) >>> 0, crc32(new Uint8Array(arena.buffer, first + at, size)));
  t.is(arena.crc32(first, first), 0);
});

test('arena: what lies outside of it is never touched', (t) => {
  const arena = Arena.of(allocateRegion(SIZE).memory);
  const end = arena.bytes.length;
  t.throws(() => arena.copy(arena.bytes, end - 8, arena.bytes, KERNEL_TABLES_SIZE, 9));
  t.throws(() => arena.copy(arena.bytes, KERNEL_TABLES_SIZE, arena.bytes, end - 8, 9));
  t.throws(() => arena.crc32(end - 8, end + 8));
});

test('arena: without a kernel there is no checksum, and it says so', (t) => {
  const arena = Arena.of(new SharedArrayBuffer(KERNEL_TABLES_SIZE + 64));
  t.false(arena.hasKernel);
  t.throws(() => arena.crc32(0, 8), { message: /kernel/ });
});
