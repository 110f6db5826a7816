// State files: whatever a crash or a bad disk leaves of them, the last good state is found and never silently an empty one.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import type { Log } from '../../src/base/log.ts';
import { silentLog } from '../../src/base/log.ts';
import { DelayOffsetsFile } from '../../src/store/delay-offsets-file.ts';
import { MemoryFiles } from '../../src/store/files/memory-files.ts';
import { GroupsFile } from '../../src/store/groups-file.ts';
import { OffsetsFile } from '../../src/store/offsets-file.ts';
import { StateFile } from '../../src/store/state-file.ts';
import { TopicsFile } from '../../src/store/topics-file.ts';
import { goldenStores } from '../message/golden-store.ts';
import { getFile, putFile } from './file-bytes.ts';

const PATH = '/config/consumerOffset.json';

function countingLog(): { log: Log; errors: string[] } {
  const errors: string[] = [];
  return { errors, log: { ...silentLog, error: (message) => errors.push(message) } };
}

const version = { stateVersion: 0, timestamp: 7, counter: 1 };

/** Two generations: offset 1 in the backup, offset 2 in the file. */
function twice(): { files: MemoryFiles; main: Buffer } {
  const files = new MemoryFiles();
  const file = new OffsetsFile(files, '/config', silentLog);
  for (const offset of [1, 2]) file.save({ dataVersion: version, rows: new Map([['T@g', new Map([[0, offset]])]]) });
  return { files, main: getFile(files, PATH) };
}

function load(files: MemoryFiles): { offset: number | undefined; errors: string[] } {
  const { log, errors } = countingLog();
  const state = new OffsetsFile(files, '/config', log).load();
  return { offset: state?.rows.get('T@g')?.get(0), errors };
}

test('state file: nothing saved is null, and what was saved comes back', (t) => {
  t.is(new OffsetsFile(new MemoryFiles(), '/config', silentLog).load(), null);
  const { files } = twice();
  t.deepEqual(load(files), { offset: 2, errors: [] });
  t.deepEqual(files.list('/config'), ['consumerOffset.json', 'consumerOffset.json.bak']);
});

test('state file: cut at any length, the backup is used and told', (t) => {
  const { files, main } = twice();
  for (let size = 0; size < main.length; size++) {
    putFile(files, PATH, main.subarray(0, size));
    const { offset, errors } = load(files);
    t.is(offset, 1, `size ${size}`);
    t.is(errors.length, 1);
  }
});

test('state file: zeros, and old bytes behind the new, are no state', (t) => {
  const { files, main } = twice();
  putFile(files, PATH, new Uint8Array(main.length));
  t.deepEqual(load(files).offset, 1);
  putFile(files, PATH, Buffer.concat([main, Buffer.from('9\n\t}\n}'.repeat(15))]));
  const { offset, errors } = load(files);
  t.is(offset, 1);
  t.is(errors.length, 1);
});

test('state file: a missing one is read from its backup', (t) => {
  const { files } = twice();
  files.remove(PATH);
  const { offset, errors } = load(files);
  t.is(offset, 1);
  t.is(errors.length, 1);
});

test('state file: a crash after any step of a save leaves the old or the new state', (t) => {
  for (let steps = 0; ; steps++) {
    const { files } = twice();
    let left = steps;
    for (const name of ['open', 'truncate', 'write', 'sync', 'rename', 'syncFolder'] as const) {
      const real = files[name].bind(files) as (...values: unknown[]) => unknown;
      Object.assign(files, {
        [name]: (...values: unknown[]) => {
          if (left-- <= 0) throw new Error('crash');
          return real(...values);
        },
      });
    }
    let done = false;
    try {
      new OffsetsFile(files, '/config', silentLog).save({ dataVersion: version, rows: new Map([['T@g', new Map([[0, 3]])]]) });
      done = true;
    } catch {
      done = false;
    }
    left = Number.POSITIVE_INFINITY;
    const { offset } = load(files);
    t.true(offset === 2 || offset === 3, `after ${steps} steps: ${offset}`);
    if (done) {
      t.is(offset, 3);
      break;
    }
  }
});

test('state file: a damaged file does not take the place of its good backup', (t) => {
  const { files } = twice();
  putFile(files, PATH, Buffer.from('{'));
  const file = new OffsetsFile(files, '/config', silentLog);
  t.is(file.load()?.rows.get('T@g')?.get(0), 1);
  file.save({ dataVersion: version, rows: new Map([['T@g', new Map([[0, 4]])]]) });
  putFile(files, PATH, Buffer.from('{'));
  t.is(load(files).offset, 1);
});

test('state file: with both damaged the start is refused', (t) => {
  const { files } = twice();
  putFile(files, PATH, Buffer.from('{}'));
  putFile(files, `${PATH}.bak`, new Uint8Array(5));
  const error = t.throws(() => load(files));
  t.regex(error?.message ?? '', /path=\/config\/consumerOffset\.json why=.*lacks its table/);
  files.remove(`${PATH}.bak`);
  t.throws(() => load(files), { message: /cannot be read/ });
});

test('state file: a first save that was cut short is no state', (t) => {
  const files = new MemoryFiles();
  putFile(files, `${PATH}.tmp`, Buffer.from('{"offs'));
  t.is(load(files).offset, undefined);
  const whole = new StateFile(files, '/config/x', silentLog);
  putFile(files, '/config/x.tmp', Buffer.from('5'));
  t.is(whole.load(Number), 5);
});

test('state files: offsets are written as Java writes them, unknown members stay', (t) => {
  const files = new MemoryFiles();
  putFile(
    files,
    PATH,
    Buffer.from(
      '{"dataVersion":{"counter":3,"stateVersion":0,"timestamp":9},"groupTopicMap":{"g":["T"]},"new":{0:5},"offsetTable":{"T@g":{0:1,"1":2\n\t}}}',
    ),
  );
  const file = new OffsetsFile(files, '/config', silentLog);
  const state = file.load();
  t.deepEqual(
    [...(state?.rows.get('T@g') ?? [])],
    [
      [0, 1],
      [1, 2],
    ],
  );
  if (state !== null) file.save(state);
  t.is(
    getFile(files, PATH).toString(),
    '{\n\t"dataVersion":{\n\t\t"counter":3,\n\t\t"stateVersion":0,\n\t\t"timestamp":9\n\t},\n\t"new":{\n\t\t0:5\n\t},\n\t"offsetTable":{\n\t\t"T@g":{\n\t\t\t0:1,\n\t\t\t1:2\n\t\t}\n\t}\n}',
  );
});

test('state files: members of a topic or group that nobody knows stay with it', (t) => {
  const files = new MemoryFiles();
  putFile(files, '/config/topics.json', Buffer.from('{"topicConfigTable":{"T":{"perm":6,"topicName":"T","future":{"a":[1]}}}}'));
  const topics = new TopicsFile(files, '/config', silentLog);
  t.is(topics.load()?.topics.get('T')?.['perm'], 6);
  topics.save({ dataVersion: version, topics: new Map([['T', { topicName: 'T', perm: 4 }]]) });
  const text = getFile(files, '/config/topics.json').toString().replace(/\s/g, '');
  t.is(
    text,
    '{"dataVersion":{"counter":1,"stateVersion":0,"timestamp":7},"topicConfigTable":{"T":{"future":{"a":[1]},"perm":4,"topicName":"T"}}}',
  );
});

test('state files: an entry that is written again from other members has the new ones, all others stay as they were', (t) => {
  const files = new MemoryFiles();
  const file = new GroupsFile(files, '/config', silentLog);
  const [first, second] = [{ retryMaxTimes: 1 }, { retryMaxTimes: 2 }];
  const textWith = (groups: Record<string, Record<string, number>>): string => {
    file.save({ dataVersion: version, groups: new Map(Object.entries(groups)), forbidden: new Map() });
    return getFile(files, '/config/subscriptionGroup.json').toString();
  };
  const before = textWith({ A: first, B: first });
  t.regex(before, /"A":\{\n\t\t\t"retryMaxTimes":1\n\t\t\},\n\t\t"B":\{\n\t\t\t"retryMaxTimes":1\n/);
  const after = textWith({ A: first, B: second });
  t.is(after, before.replace(/(?<="B":\{\s+"retryMaxTimes":)1/, '2'));
  t.is(textWith({ A: first, B: first }), before);
  t.false(textWith({ B: second }).includes('"A"'));
});

test('state files: the golden ones are read, and read back the same after writing', (t) => {
  const stores = goldenStores(t);
  if (stores === null) return;
  const files = new MemoryFiles();
  for (const name of ['topics.json', 'subscriptionGroup.json', 'consumerOffset.json', 'delayOffset.json']) {
    putFile(files, `/config/${name}`, readFileSync(join(stores, 'clean.config', name)));
  }
  const topics = new TopicsFile(files, '/config', silentLog);
  const groups = new GroupsFile(files, '/config', silentLog);
  const offsets = new OffsetsFile(files, '/config', silentLog);
  const delays = new DelayOffsetsFile(files, '/config', silentLog);
  const before = { topics: topics.load(), groups: groups.load(), offsets: offsets.load(), delays: delays.load() };
  t.is(before.topics?.dataVersion?.counter, 10);
  t.is(before.topics?.topics.get('SCHEDULE_TOPIC_XXXX')?.['readQueueNums'], 18);
  t.is(before.groups?.groups.get('GoldG2')?.['retryQueueNums'], 1);
  t.is(before.offsets?.rows.get('RMQ_SYS_TRANS_HALF_TOPIC@CID_RMQ_SYS_TRANS')?.get(0), 96);
  t.deepEqual(
    [...(before.delays?.offsets ?? [])],
    [
      [1, 10],
      [3, 6],
      [4, 4],
      [5, 0],
      [9, 0],
      [18, 0],
    ],
  );
  const delayText = getFile(files, '/config/delayOffset.json').toString();
  const topicText = getFile(files, '/config/topics.json').toString();
  if (before.topics !== null) topics.save(before.topics);
  if (before.groups !== null) groups.save(before.groups);
  if (before.offsets !== null) offsets.save(before.offsets);
  if (before.delays !== null) delays.save(before.delays);
  const after = { topics: topics.load(), groups: groups.load(), offsets: offsets.load(), delays: delays.load() };
  t.deepEqual(after, before);
  t.is(getFile(files, '/config/delayOffset.json').toString(), delayText);
  t.is(getFile(files, '/config/topics.json').toString(), topicText);
  t.true(getFile(files, PATH).toString().includes('"pullOffsetTable":{\n\t\t"GoldA@GoldG":{\n\t\t\t0:75,'));
});
