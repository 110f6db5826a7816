// Keys from the wire to the index: what the feed tells of them is what the record says, and both ways of following find them all.
import test, { type ExecutionContext } from 'ava';
import { RecordFlags } from '../../src/actors/messages.ts';
import { javaHash } from '../../src/base/bytes.ts';
import type { Random } from '../../src/base/random.ts';
import { encodeBatch } from '../../src/message/batch.ts';
import { formatProperties } from '../../src/message/properties.ts';
import { SysFlags } from '../../src/message/record.ts';
import { decodeRecord, type MessageRecord } from '../../src/message/record-decode.ts';
import { RequestCodes, ResponseCodes } from '../../src/protocol/codes.ts';
import { FeedReader } from '../../src/runtime/feed.ts';
import type { Files } from '../../src/store/files/files.ts';
import { LogReader } from '../../src/store/log-reader.ts';
import { SimBroker, type SimOptions } from './sim-broker.ts';
import { bodyOf, recordsOf, type SimClient, sendFields } from './sim-client.ts';

const INDEX_FOLDER = '/store/index';
/** Several files for what a test sends. */
const settings = { maxHashSlotNum: 64, maxIndexNum: 100 };
const TOPICS = ['Orders', 'a-b_c%|', 'T'.repeat(127)];
const WORDS = ['key', 'ключ', 'ß', '中文', '😀', 'x'.repeat(40)];
const TAGS = ['A', 'two words', 'ключ'];
/** As many as are asked for, and the most that a query gives by default. */
const FOUND_COUNT_MAX = 64;
const SYS_FLAGS = [0, 0, SysFlags.commit, SysFlags.rollback];

/** Unlike any other, as far as `serial` is. */
function wordOf(random: Random, serial: number): string {
  return `${WORDS[random.below(WORDS.length)]}${serial}${WORDS[random.below(WORDS.length)]}`;
}

function propertiesAt(random: Random, serial: number): string {
  const keys = Array.from({ length: 1 + random.below(3) }, (_, i) => wordOf(random, serial * 10 + i));
  const pairs: [string, string][] = [['TAGS', TAGS[random.below(TAGS.length)] as string]];
  if (random.below(3) > 0) pairs.push(['UNIQ_KEY', wordOf(random, serial)]);
  if (random.below(3) === 0) pairs.push(['KEYS', keys.join(random.below(2) === 0 ? ' ' : '  ')]);
  const text = formatProperties(new Map(pairs));
  // Old clients leave the last separator out.
  return random.below(3) === 0 ? text.slice(0, -1) : text;
}

/** Singles and batches to all topics, with all kinds of keys; acknowledged. */
function sendAll(t: ExecutionContext, sim: SimBroker, requestCount: number): void {
  const { random } = sim;
  const client = sim.client();
  for (let i = 0; i < requestCount; i++) {
    const batch = random.below(4) === 0;
    const topic = TOPICS[random.below(TOPICS.length)] as string;
    const count = batch ? 1 + random.below(5) : 1;
    const all = Array.from({ length: count }, (_, n) => propertiesAt(random, i * 10 + n));
    const ext = {
      ...sendFields(topic, 0, '', '', batch),
      i: batch ? '' : (all[0] as string),
      f: SYS_FLAGS[random.below(SYS_FLAGS.length)] as number,
    };
    const body = batch
      ? encodeBatch(all.map((text) => ({ flag: 0, body: bodyOf('b', 20), properties: Buffer.from(text) })))
      : bodyOf('m', 1 + random.below(1_000));
    const answer = client.ask(batch ? RequestCodes.SEND_BATCH_MESSAGE : RequestCodes.SEND_MESSAGE_V2, ext, body);
    t.is(answer.code, ResponseCodes.SUCCESS, `${answer.remark} seed=${sim.seed}`);
  }
}

interface Told {
  readonly record: MessageRecord;
  readonly flags: number;
  readonly uniqueKeyHash: number;
  readonly tagHash: number;
}

/** Everything in the feed, each entry with the record it is of. */
function toldOf(sim: SimBroker): Told[] {
  const { storePathCommitLog, mappedFileSizeCommitLog } = sim.settings;
  const log = new LogReader(sim.files, storePathCommitLog, mappedFileSizeCommitLog);
  log.setStable(sim.position('appended'));
  const told: Told[] = [];
  const onEntry = (_key: number, _offset: number, position: number, size: number, ...rest: number[]): void => {
    const [, , flags = 0, uniqueKeyHash = 0, tagHash = 0] = rest;
    const bytes = Buffer.alloc(size);
    log.read(position, size, bytes, 0);
    told.push({ record: decodeRecord(bytes, 0), flags, uniqueKeyHash, tagHash });
  };
  const feed = new FeedReader(sim.memory.feed);
  while (feed.poll({ onEntry }, 1_000) > 0);
  log.close();
  return told;
}

function isRolledBack(record: MessageRecord): boolean {
  return (record.sysFlag & SysFlags.transactionMask) === SysFlags.rollback;
}

function keysOf(record: MessageRecord): string[] {
  const unique = record.properties.get('UNIQ_KEY');
  const keys = record.properties.get('KEYS')?.split(' ') ?? [];
  return [...(unique === undefined ? [] : [unique]), ...keys].filter((key) => key !== '');
}

function positionsOf(client: SimClient, topic: string, key: string, indexType = 'K'): number[] {
  const ext = { topic, key, indexType, maxNum: FOUND_COUNT_MAX, beginTimestamp: 0, endTimestamp: Number.MAX_SAFE_INTEGER };
  return recordsOf(client.ask(RequestCodes.QUERY_MESSAGE, ext)).map((record) => record.position);
}

function checkQueries(t: ExecutionContext, sim: SimBroker, records: readonly MessageRecord[]): void {
  const client = sim.client();
  for (const record of records) {
    const found = isRolledBack(record) ? [] : [record.position];
    for (const key of keysOf(record)) t.deepEqual(positionsOf(client, record.topic, key), found, `${record.topic}#${key} seed=${sim.seed}`);
  }
}

/** @param records all there are. */
function checkTags(t: ExecutionContext, sim: SimBroker, records: readonly MessageRecord[]): void {
  const client = sim.client();
  for (const topic of new Set(records.map((record) => record.topic))) {
    for (const tag of TAGS) {
      const tagged = records.filter((one) => one.topic === topic && one.properties.get('TAGS') === tag && !isRolledBack(one));
      const positions = tagged.map(({ position }) => position).slice(-FOUND_COUNT_MAX);
      t.deepEqual(positionsOf(client, topic, tag, 'T'), positions, `${topic}#T#${tag} seed=${sim.seed}`);
      t.deepEqual(positionsOf(client, topic, tag), [], 'a tag is no key');
    }
  }
}

function takeIndex(files: Files): Map<string, Buffer> {
  const taken = new Map<string, Buffer>();
  for (const name of files.list(INDEX_FOLDER)) {
    const path = `${INDEX_FOLDER}/${name}`;
    const bytes = Buffer.alloc(files.stat(path)?.sizeBytes ?? 0);
    const fd = files.open(path, 'read');
    files.read(fd, bytes, 0, bytes.length, 0);
    files.close(fd);
    files.remove(path);
    taken.set(name, bytes);
  }
  return taken;
}

/** Stops the broker; a new one that finds no index makes the same files again, by reading all of the log. */
async function checkMadeAgain(t: ExecutionContext, sim: SimBroker, options: SimOptions): Promise<void> {
  await sim.stop();
  sim.assertHealthy();
  const followed = takeIndex(sim.files);
  t.true(followed.size > 1);
  const next = await SimBroker.start(sim.seed + 1_000, { ...options, files: sim.kill(), clock: sim.clock });
  await next.stop();
  next.assertHealthy();
  t.deepEqual(takeIndex(next.files), followed, `seed=${sim.seed}`);
}

test('index: 10 seeds of random keys: the feed tells what the record says, and each key finds its message', async (t) => {
  const seen = new Set<string>();
  for (let seed = 1; seed <= 10; seed++) {
    const sim = await SimBroker.start(seed, { settings });
    sendAll(t, sim, 80);
    const told = toldOf(sim);
    t.true(told.length >= 80);
    for (const { record, flags, uniqueKeyHash, tagHash } of told) {
      const unique = record.properties.get('UNIQ_KEY');
      const tag = record.properties.get('TAGS');
      let wantedTagHash = 0;
      let [wanted, hash, kind] = [0, 0, 'without keys'];
      if (isRolledBack(record)) kind = 'rolled back';
      else if (record.properties.has('KEYS')) [wanted, kind] = [RecordFlags.furtherKeys, 'with KEYS'];
      else if (unique !== undefined) {
        [wanted, hash, kind] = [RecordFlags.uniqueKeyHashed, javaHash(`${record.topic}#${unique}`), 'with a unique key'];
        if (/^[0-9A-F]{32}$/.test(unique)) kind = 'with a key that the broker made';
      }
      seen.add(kind);
      if (kind !== 'rolled back' && kind !== 'with KEYS' && tag !== undefined) {
        wanted |= RecordFlags.tagHashed;
        wantedTagHash = javaHash(`${record.topic}#T#${tag}`);
        seen.add('with a tag');
      }
      t.deepEqual([flags, uniqueKeyHash, tagHash], [wanted, hash, wantedTagHash], `${kind} ${record.topic}#${unique} seed=${seed}`);
    }
    const records = told.map(({ record }) => record);
    checkQueries(t, sim, records);
    checkTags(t, sim, records);
    await checkMadeAgain(t, sim, { settings });
  }
  t.is(seen.size, 5, [...seen].join());
});

test('index: 5 seeds of an indexer that the feed overruns: it reads the log instead, and finds the same', async (t) => {
  for (let seed = 1; seed <= 5; seed++) {
    const options: SimOptions = { settings, overrides: { feedEntryCount: 64 } };
    const sim = await SimBroker.start(seed, options);
    sendAll(t, sim, 3);
    sim.runner.runFor(1_000);
    const early = toldOf(sim).map(({ record }) => record);
    const indexed = sim.position('indexed');
    t.is(indexed, sim.position('appended'));
    sim.runner.starve('indexer');
    sendAll(t, sim, 100);
    t.is(new FeedReader(sim.memory.feed, early.length).poll({ onEntry: () => {} }, 1), -1);
    t.is(sim.position('indexed'), indexed);
    sim.runner.feed('indexer');
    sendAll(t, sim, 10);
    checkQueries(t, sim, early);
    await checkMadeAgain(t, sim, options);
  }
});
