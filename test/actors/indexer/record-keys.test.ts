// What the indexer makes of an entry of the feed, and for which entries it reads the record.
import test from 'ava';
import type { ActorContext } from '../../../src/actors/context.ts';
import { RecordKeys } from '../../../src/actors/indexer/record-keys.ts';
import { RecordFlags } from '../../../src/actors/messages.ts';
import { javaHash } from '../../../src/base/bytes.ts';
import { loadSettings } from '../../../src/config/load.ts';
import { SysFlags } from '../../../src/message/record.ts';
import { MemoryFiles } from '../../../src/store/files/memory-files.ts';
import { type MadeRecord, makeRecord } from '../../store/records.ts';

const POSITION = 4_711;
const TIME_MS = 1_700_000_000_123;
const TAG_HASH = 4_242;

/** The keys of one entry whose record lies in the window, and how often that was read. */
function keysOf(flags: number, uniqueKeyHash: number, made: Partial<MadeRecord> = {}): { rows: number[][]; readCount: number } {
  const record = Buffer.from(makeRecord(POSITION, { topic: 'Orders', queueId: 0, queueOffset: 0, ...made }));
  const rows: number[][] = [];
  let readCount = 0;
  const window = {
    read: (position: number, size: number, into: Uint8Array, at: number) => {
      readCount++;
      return record.copy(into, at, position - POSITION, position - POSITION + size) === size;
    },
  };
  const { settings } = loadSettings({ sets: ['storePathRootDir=/store'] });
  const keys = new RecordKeys({ settings, files: new MemoryFiles(), windowReader: () => window } as unknown as ActorContext);
  const handler = keys.handler((...row) => rows.push(row));
  handler.onEntry(0, 0, POSITION, record.length, 0, TIME_MS, flags, uniqueKeyHash, TAG_HASH);
  return { rows, readCount };
}

test('record keys: a hash from the feed is taken as it is, and the record is not read', (t) => {
  for (const flags of [RecordFlags.uniqueKeyHashed, RecordFlags.uniqueKeyHashed | RecordFlags.noQueueOffset]) {
    t.deepEqual(keysOf(flags, -77, { properties: { UNIQ_KEY: 'u' } }), { rows: [[-77, POSITION, TIME_MS]], readCount: 0 });
  }
});

test('record keys: a tag is found by its hash from the feed, beside a unique key and without one', (t) => {
  const both = RecordFlags.uniqueKeyHashed | RecordFlags.tagHashed;
  const rows = [-77, TAG_HASH].map((hash) => [hash, POSITION, TIME_MS]);
  t.deepEqual(keysOf(both, -77), { rows, readCount: 0 });
  t.deepEqual(keysOf(RecordFlags.tagHashed, 0), { rows: rows.slice(1), readCount: 0 });
});

test('record keys: an entry that tells of no keys costs no reading', (t) => {
  for (const flags of [0, RecordFlags.noQueueOffset]) t.deepEqual(keysOf(flags, 0), { rows: [], readCount: 0 });
});

test('record keys: with further keys the record is read, the unique key comes first and the tag last', (t) => {
  const hashesOf = (...keys: string[]): number[][] => keys.map((key) => [javaHash(`Orders#${key}`), POSITION, TIME_MS]);
  for (const bodySize of [10, 5_000]) {
    const all = { bodySize, properties: { TAGS: 'red || blue', KEYS: ' a  ключ 😀 ', UNIQ_KEY: 'ünique' } };
    t.deepEqual(keysOf(RecordFlags.furtherKeys, 0, all).rows, hashesOf('ünique', 'a', 'ключ', '😀', 'T#red || blue'));
    t.deepEqual(keysOf(RecordFlags.furtherKeys, 0, { bodySize, properties: { KEYS: 'k', TAGS: '' } }).rows, hashesOf('k'));
    t.deepEqual(keysOf(RecordFlags.furtherKeys, 0, { ...all, sysFlag: SysFlags.rollback }).rows, []);
  }
});
