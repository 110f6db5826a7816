// The captured frames of stock clients and of Apache's broker, as far as they are at hand.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

export interface GoldenFrame {
  n: number;
  conn: string;
  dir: 'c2s' | 's2c';
  code: number;
  name: string;
  opaque: number;
  flag: number;
  header: 'JSON' | 'ROCKETMQ';
  version: number;
  language: string;
  remark?: string;
  ext?: Record<string, unknown>;
  bodyLength: number;
  pair?: number;
  b64: string;
}

export interface GoldenProbe {
  to: string;
  name: string;
  code: number;
  answer: number | null;
  remark?: string;
  answerExt?: Record<string, string>;
  request: string;
  response?: string;
}

function findWire(): string | undefined {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (dirname(folder) !== folder) {
    const wire = join(folder, 'shared', 'golden', 'wire');
    if (existsSync(wire)) return wire;
    folder = dirname(folder);
  }
  return undefined;
}

const wire = findWire();
export const goldenAbsent = wire === undefined ? 'shared/golden/wire is not beside the project: skipped' : undefined;

function lines<T>(file: string): T[] {
  if (wire === undefined) return [];
  const text = gunzipSync(readFileSync(join(wire, file))).toString();
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as T);
}

export function goldenClients(): string[] {
  if (wire === undefined) return [];
  return readdirSync(wire)
    .filter((file) => file.endsWith('.jsonl.gz') && file !== 'probes.jsonl.gz')
    .map((file) => file.slice(0, -'.jsonl.gz'.length))
    .sort();
}

export const goldenFrames = (client: string): GoldenFrame[] => lines(`${client}.jsonl.gz`);
export const goldenProbes = (): GoldenProbe[] => lines('probes.jsonl.gz');

/** The frame's three parts, read straight from the layout and not with the code under test. */
export function cut(frame: Buffer): { codec: number; header: Buffer; headerSize: number; body: Buffer } {
  const headerSize = frame.readUIntBE(5, 3);
  return { codec: frame.readUInt8(4), header: frame.subarray(8, 8 + headerSize), headerSize, body: frame.subarray(8 + headerSize) };
}
