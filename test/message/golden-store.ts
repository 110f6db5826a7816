// The golden stores: unpacks the commit log of one, and reads what an independent reader saw in it.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import type { ExecutionContext } from 'ava';

export interface GoldenRecord {
  readonly size: number;
  readonly physicalOffset: number;
  readonly version: number;
  readonly topic: string;
  readonly queueId: number;
  readonly queueOffset: number;
  readonly flag: number;
  readonly sysFlag: number;
  readonly bornTimestamp: number;
  readonly bornHost: string;
  readonly storeTimestamp: number;
  readonly storeHost: string;
  readonly reconsumeTimes: number;
  readonly preparedTransactionOffset: number;
  readonly offsetMsgId: string;
  readonly msgId: string;
  readonly tags: string | null;
  readonly keys: string | null;
  readonly properties: Record<string, string>;
  readonly bodyLength: number;
  readonly bodySha256: string;
  readonly bodyCrc: number;
}

export interface GoldenIndex {
  readonly records: number;
  readonly logEnd: number;
  readonly stop: string;
  readonly torn?: { readonly physicalOffset: number };
}

export interface LogFile {
  readonly position: number;
  readonly bytes: Buffer;
}

function findStores(): string | null {
  for (let folder = dirname(fileURLToPath(import.meta.url)); folder !== dirname(folder); folder = dirname(folder)) {
    for (const place of [join(folder, 'shared/golden/store'), join(folder, '../shared/golden/store')]) if (existsSync(place)) return place;
  }
  return null;
}

/** The folder of the golden stores; null, with a word in the test's log, where there is none. */
export function goldenStores(t: ExecutionContext): string | null {
  const stores = findStores();
  if (stores === null) {
    t.log('skipped: no golden data beside the project');
    t.pass();
  }
  return stores;
}

function readGzip(path: string): string {
  return gunzipSync(readFileSync(path)).toString('utf8');
}

export function readGoldenIndex(stores: string): Record<string, GoldenIndex> {
  return JSON.parse(readFileSync(join(stores, 'index.json'), 'utf8')) as Record<string, GoldenIndex>;
}

export function readGoldenRecords(stores: string, name: string): GoldenRecord[] {
  const lines = readGzip(join(stores, `${name}.records.jsonl.gz`))
    .trim()
    .split('\n');
  return lines.map((line) => JSON.parse(line) as GoldenRecord);
}

export function readGoldenBlanks(stores: string, name: string): { at: number; size: number }[] {
  const summary = JSON.parse(readGzip(join(stores, `${name}.summary.json.gz`))) as { log: { blanks: { at: number; size: number }[] } };
  return summary.log.blanks;
}

/** All files of the commit log, in order, in memory. */
export function unpackGoldenLog(t: ExecutionContext, stores: string, name: string): LogFile[] {
  const folder = mkdtempSync(join(tmpdir(), 'ringmq-golden-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  execFileSync('tar', ['xzf', join(stores, `${name}.tar.gz`), '-C', folder, `${name}/commitlog`]);
  const log = join(folder, name, 'commitlog');
  return readdirSync(log)
    .filter((file) => /^\d{20}$/.test(file))
    .sort()
    .map((file) => ({ position: Number(file), bytes: readFileSync(join(log, file)) }));
}
