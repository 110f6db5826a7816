// The golden commit logs, record by record: read as another reader saw them, written back byte for byte, torn ones up to the damage.
import { createHash } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import { Arena, allocateRegion } from '../../src/base/arena.ts';
import { javaHash } from '../../src/base/bytes.ts';
import { decodeOffsetMessageId, encodeOffsetMessageId } from '../../src/message/message-id.ts';
import {
  decodeProperties,
  PropertyScan,
  scanProperties,
  storedPropertiesSize,
  writeStoredProperties,
} from '../../src/message/properties.ts';
import * as record from '../../src/message/record.ts';
import { tagsCodeOf } from '../../src/message/tags.ts';
import * as golden from './golden-store.ts';

interface Walk {
  readonly records: { readonly file: golden.LogFile; readonly at: number }[];
  readonly blanks: { readonly at: number; readonly size: number }[];
  readonly end: number;
  readonly fault: number;
}

/** Record by record from the first file on, as recovery does. */
function walk(files: readonly golden.LogFile[]): Walk {
  const records: { file: golden.LogFile; at: number }[] = [];
  const blanks: { at: number; size: number }[] = [];
  for (const file of files) {
    let at = 0;
    for (;;) {
      const size = record.checkRecord(file.bytes, at, file.bytes.length, true);
      if (size === 0) {
        blanks.push({ at: file.position + at, size: record.readTotalSize(file.bytes, at) });
        break;
      }
      if (size < 0) return { records, blanks, end: file.position + at, fault: size };
      records.push({ file, at });
      at += size;
    }
  }
  return { records, blanks, end: -1, fault: 0 };
}

function hostText(host: Uint8Array, port: number): string {
  return `${host.join('.')}:${port}`;
}

function asGolden(file: golden.LogFile, at: number): Omit<golden.GoldenRecord, 'msgId'> {
  const r = record.decodeRecord(file.bytes, at);
  return {
    size: r.size,
    physicalOffset: r.position,
    version: r.version,
    topic: r.topic,
    queueId: r.queueId,
    queueOffset: r.queueOffset,
    flag: r.flag,
    sysFlag: r.sysFlag,
    bornTimestamp: r.bornTimeMs,
    bornHost: hostText(r.bornHost, r.bornPort),
    storeTimestamp: r.storeTimeMs,
    storeHost: hostText(r.storeHost, r.storePort),
    reconsumeTimes: r.reconsumeTimes,
    preparedTransactionOffset: r.preparedPosition,
    offsetMsgId: encodeOffsetMessageId(r.storeHost, r.storePort, r.position),
    tags: r.properties.get('TAGS') ?? null,
    keys: r.properties.get('KEYS') ?? null,
    properties: Object.fromEntries(r.properties),
    bodyLength: r.body.length,
    bodySha256: createHash('sha256').update(r.body).digest('hex'),
    bodyCrc: r.bodyCrc,
  };
}

function expected(r: golden.GoldenRecord): Record<string, unknown> {
  const known: Record<string, unknown> = { ...r };
  for (const name of ['msgId', 'plainBodySha256', 'bodyCrcOk']) delete known[name];
  return known;
}

function compareScan(t: ExecutionContext, file: golden.LogFile, at: number, want: golden.GoldenRecord, scan: PropertyScan): void {
  const b = file.bytes;
  const from = record.propertiesAt(b, at);
  const end = from + record.propertiesSize(b, at);
  scanProperties(b, from, end, scan);
  t.is(tagsCodeOf(b, scan.tagsAt, scan.tagsEnd), want.tags === null ? 0 : javaHash(want.tags));
  t.is(scan.keysAt < 0 ? null : b.toString('utf8', scan.keysAt, scan.keysEnd), want.keys);
  t.is(scan.uniqueKeyAt < 0 ? want.offsetMsgId : b.toString('utf8', scan.uniqueKeyAt, scan.uniqueKeyEnd), want.msgId);
  t.is(scan.hasCluster, 'CLUSTER' in want.properties);
  t.is(
    scan.hasTimer,
    Object.keys(want.properties).some((name) => name.startsWith('TIMER_')),
  );
  t.is(scan.waitFalse, want.properties['WAIT'] === 'false');
  t.is(scan.delayLevel, Number(want.properties['DELAY'] ?? 0));
  t.is(scan.straySeparatorCount, 0);
}

function encodeAgain(file: golden.LogFile, at: number): Buffer {
  const b = file.bytes;
  const r = record.decodeRecord(b, at);
  const f = new record.RecordFields();
  Object.assign(f, {
    queueId: r.queueId,
    flag: r.flag,
    sysFlag: r.sysFlag,
    bornTimeMs: r.bornTimeMs,
    bornHost: r.bornHost,
    bornPort: r.bornPort,
  });
  Object.assign(f, {
    storeHost: r.storeHost,
    storePort: r.storePort,
    reconsumeTimes: r.reconsumeTimes,
    preparedPosition: r.preparedPosition,
  });
  f.bodyCrc = r.bodyCrc;
  f.bodySize = r.body.length;
  f.topic = Buffer.from(r.topic);
  f.topicUnits = r.topic.length;
  f.propertiesSize = record.propertiesSize(b, at);
  const out = Buffer.alloc(record.sizeOfRecord(f), 0xee);
  const propertiesAt = record.writeRecord(out, 0, f, b, record.bodyAt(b, at));
  b.copy(out, propertiesAt, record.propertiesAt(b, at), at + r.size);
  record.patchRecord(out, 0, r.queueOffset, r.position, r.storeTimeMs);
  return out;
}

for (const name of ['clean', 'crash', 'exotic', 'plain-crash']) {
  test(`golden: every record of ${name} is read as another reader saw it, and written back byte for byte`, (t) => {
    const stores = golden.goldenStores(t);
    if (stores === null) return;
    const want = golden.readGoldenRecords(stores, name);
    const seen = walk(golden.unpackGoldenLog(t, stores, name));
    t.is(seen.records.length, want.length);
    t.is<number, number>(seen.fault, record.RecordFaults.nothing);
    t.is(seen.end, golden.readGoldenIndex(stores)[name]?.logEnd ?? -1);
    t.deepEqual(seen.blanks, golden.readGoldenBlanks(stores, name));
    const scan = new PropertyScan();
    for (const [i, { file, at }] of seen.records.entries()) {
      const expectedRecord = want[i] as golden.GoldenRecord;
      t.deepEqual<unknown, unknown>(asGolden(file, at), expected(expectedRecord));
      compareScan(t, file, at, expectedRecord, scan);
      const id = decodeOffsetMessageId(expectedRecord.offsetMsgId);
      t.is(id?.position, expectedRecord.physicalOffset);
      t.is(Buffer.compare(encodeAgain(file, at), file.bytes.subarray(at, at + expectedRecord.size)), 0);
    }
  });
}

const tornFaults = {
  'torn-bad-body': record.RecordFaults.badBodyCrc,
  'torn-early-garbage': record.RecordFaults.badBodyCrc,
  'torn-garbage': record.RecordFaults.badLength,
  'torn-zero-tail': record.RecordFaults.sizesDiffer,
};

for (const [name, fault] of Object.entries(tornFaults)) {
  test(`golden: ${name} is read up to its damaged record`, (t) => {
    const stores = golden.goldenStores(t);
    if (stores === null) return;
    const want = golden.readGoldenIndex(stores)[name];
    const seen = walk(golden.unpackGoldenLog(t, stores, name));
    t.is(seen.end, want?.torn?.physicalOffset ?? -1);
    t.is(seen.records.length, want?.records ?? -1);
    t.is(record.recordFaultText(seen.fault), record.recordFaultText(fault));
  });
}

test('golden: the broker cuts its own keys out of stored properties and puts them back', (t) => {
  const stores = golden.goldenStores(t);
  if (stores === null) return;
  const scan = new PropertyScan();
  const region = allocateRegion(1 << 17);
  const arena = Arena.of(region.memory);
  const suffix = Buffer.from('MSG_REGION\u0001R\u0002TRACE_ON\u0001true\u0002CLUSTER\u0001C\u0002');
  for (const { file, at } of walk(golden.unpackGoldenLog(t, stores, 'clean')).records) {
    const r = record.decodeRecord(file.bytes, at);
    const from = record.propertiesAt(file.bytes, at);
    const end = from + record.propertiesSize(file.bytes, at);
    scanProperties(file.bytes, from, end, scan);
    const size = storedPropertiesSize(end - from, scan, suffix.length);
    t.is(writeStoredProperties(arena, region.at, file.bytes, from, end, scan, suffix), region.at + size);
    const out = arena.bytes.subarray(region.at, region.at + size);
    const want = new Map([...r.properties].filter(([name]) => !['MSG_REGION', 'TRACE_ON', 'CLUSTER', 'POP_CK'].includes(name)));
    for (const [name, value] of [
      ['MSG_REGION', 'R'],
      ['TRACE_ON', 'true'],
      ['CLUSTER', 'C'],
    ] as const)
      want.set(name, value);
    t.deepEqual(decodeProperties(out, 0, out.length), want);
  }
});
