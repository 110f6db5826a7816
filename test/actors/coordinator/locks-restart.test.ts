// Queue locks over a restart: the owner comes back to its queues, others wait for as long as it may still work on them.
import test from 'ava';
import { Positions } from '../../../src/actors/context.ts';
import { Messages } from '../../../src/actors/messages.ts';
import { QUEUE_LOCK_TRUST_MS } from '../../../src/core/queue-locks.ts';
import { RequestCodes } from '../../../src/protocol/codes.ts';
import type { Files } from '../../../src/store/files/files.ts';
import { MemoryFiles } from '../../../src/store/files/memory-files.ts';
import { getFile, putFile } from '../../store/file-bytes.ts';
import { Bench } from './bench.ts';
import { type Client, subscription } from './client.ts';

const PATH = '/store/config/queueLocks.json';
const sub = { group: 'G', subscriptions: [subscription('T')] };
const ends = ['stop', 'kill'] as const;
type End = (typeof ends)[number];

/** Two members of a group with a topic of four queues, of which each has locked two. */
function team(files: Files = new MemoryFiles()): { bench: Bench; a: Client; b: Client } {
  const bench = new Bench({ files });
  bench.connect().createTopic('T', 4);
  const [a, b] = [bench.connect(), bench.connect()];
  a.beat('a', [sub]);
  b.beat('b', [sub]);
  a.lock('a', 'T', [0, 1]);
  b.lock('b', 'T', [2, 3]);
  bench.advance(2_000);
  return { bench, a, b };
}

/** As processes end: in good order the broker closes its connections and its coordinator is the last to go. */
function end(bench: Bench, how: End, clients: readonly Client[]): void {
  if (how === 'kill') return;
  bench.positions.set(Positions.stopping, 1);
  for (const client of clients) client.close();
  bench.run();
  bench.coordinator.stop();
}

function next(bench: Bench): Bench {
  return new Bench({ files: bench.files, clock: bench.clock });
}

function joined(bench: Bench, clientId: string): Client {
  const client = bench.connect();
  client.beat(clientId, [sub]);
  return client;
}

const stored = (files: Files): string => (files.stat(PATH) === null ? '' : getFile(files, PATH).toString());

for (const how of ends) {
  test(`locks after a ${how}: the member that is back first gets its own queues only, the others once their owner trusts no lock any more`, (t) => {
    const { bench, a, b } = team();
    end(bench, how, [a, b]);
    const after = next(bench);
    const back = joined(after, 'b');
    t.deepEqual(back.lock('b', 'T', [0, 1, 2, 3]), [2, 3]);
    t.deepEqual(after.groups.get('G')?.lockedTopics, ['T']);
    after.advance(QUEUE_LOCK_TRUST_MS - 1);
    t.deepEqual(back.lock('b', 'T', [0, 1, 2, 3]), [2, 3]);
    const notices = back.notices.length;
    after.advance(201);
    t.is(back.notices.length, notices + 1, 'it asked in vain, and hears that they are free');
    t.deepEqual(back.lock('b', 'T', [0, 1, 2, 3]), [0, 1, 2, 3]);
    t.deepEqual(joined(after, 'a').lock('a', 'T', [0, 1]), []);
  });

  test(`locks after a ${how}: an owner that is back has what it had, for 60 s from each renewal on`, (t) => {
    const { bench, a, b } = team();
    end(bench, how, [a, b]);
    const after = next(bench);
    const stranger = joined(after, 'c');
    t.deepEqual(stranger.lock('c', 'T', [0, 1, 2, 3]), []);
    after.advance(20_000);
    const back = joined(after, 'a');
    t.deepEqual(back.lock('a', 'T', [0, 1]), [0, 1]);
    after.advance(59_999);
    stranger.beat('c', [sub]);
    back.beat('a', [sub]);
    t.deepEqual(stranger.lock('c', 'T', [0, 1, 2, 3]), [2, 3]);
    after.advance(1);
    t.deepEqual(stranger.lock('c', 'T', [0, 1]), [0, 1]);
  });

  test(`locks after a ${how}: who had left before holds nothing`, (t) => {
    for (const leave of ['unlock', 'unregister', 'close'] as const) {
      const { bench, a, b } = team();
      if (leave === 'unlock') a.unlock('a', 'T', [0, 1]);
      else if (leave === 'close') a.close();
      else a.ask(RequestCodes.UNREGISTER_CLIENT, { clientID: 'a', consumerGroup: 'G' });
      bench.advance(1_001);
      end(bench, how, [b]);
      t.deepEqual(joined(next(bench), 'c').lock('c', 'T', [0, 1, 2, 3]), [0, 1], leave);
    }
  });

  test(`locks after a ${how}: a topic or a group that is gone, and a queue that is not there any more, wait for nobody`, (t) => {
    const { bench, a, b } = team();
    const admin = bench.connect();
    admin.createTopic('U', 1);
    a.lock('a', 'U', [0]);
    a.lock('a', 'T', [0], 'other');
    bench.advance(1_001);
    // Nothing of that is in the file any more, but it may be an older one that is read.
    const older = stored(bench.files);
    t.regex(older, /"other".*"T":\[0\]/);
    admin.ask(RequestCodes.DELETE_TOPIC_IN_BROKER, { topic: 'U' });
    admin.createTopic('T', 3);
    end(bench, how, [a, b]);
    putFile(bench.files, PATH, Buffer.from(older));
    const after = next(bench);
    const { locks } = after.coordinator.desk.membership;
    t.deepEqual(
      [...locks.all()].map(({ group, topic, queueId }) => `${group} ${topic} ${queueId}`),
      ['G T 0', 'G T 1', 'G T 2'],
    );
    after.advance(1_001);
    t.deepEqual(JSON.parse(stored(after.files)), { owners: { G: { a: { T: [0, 1] }, b: { T: [2] } } } });
  });
}

test('locks after a restart: an owner ends the waiting when it leaves, by whatever connection, or reads something else', (t) => {
  for (const leave of ['unlock', 'unregister', 'join and close', 'other topic', 'broadcast'] as const) {
    const { bench } = team();
    const after = next(bench);
    const other = joined(after, 'b');
    t.deepEqual(other.lock('b', 'T', [0, 1]), []);
    const back = after.connect();
    if (leave === 'unlock') back.unlock('a', 'T', [0, 1]);
    else if (leave === 'unregister') back.ask(RequestCodes.UNREGISTER_CLIENT, { clientID: 'a', consumerGroup: 'G' });
    else if (leave === 'other topic') back.beat('a', [{ ...sub, subscriptions: [subscription('U')] }]);
    else if (leave === 'broadcast') back.beat('a', [{ ...sub, messageModel: 'BROADCASTING' }]);
    else {
      back.beat('a', [sub]);
      t.deepEqual(other.lock('b', 'T', [0, 1]), [], 'it is back and has not asked yet');
      back.close();
    }
    t.deepEqual(other.lock('b', 'T', [0, 1]), [0, 1], leave);
  }
});

test('locks: the file says who owns what, is written once for many changes, and not for renewals', (t) => {
  const { bench, a, b } = team();
  t.deepEqual(JSON.parse(stored(bench.files)), { owners: { G: { a: { T: [0, 1] }, b: { T: [2, 3] } } } });
  const writes: number[] = [];
  const rename = bench.files.rename.bind(bench.files);
  Object.assign(bench.files, {
    rename: (from: string, to: string) => {
      if (to === PATH) writes.push(bench.clock.steadyMs());
      rename(from, to);
    },
  });
  const startMs = bench.clock.steadyMs();
  for (let i = 0; i < 3; i++) {
    bench.advance(20_000);
    a.lock('a', 'T', [0, 1]);
    b.lock('b', 'T', [2, 3, 0]);
  }
  t.deepEqual(writes, []);
  for (let i = 0; i < 100; i++) {
    a.unlock('a', 'T', [0]);
    a.lock('a', 'T', [0]);
    bench.advance(50);
  }
  bench.advance(2_000);
  t.deepEqual(
    writes.map((ms) => ms - startMs - 60_000),
    [100, 1_100, 2_100, 3_100, 4_100, 5_100],
  );
});

test('locks: a group that locks nothing has no file', (t) => {
  const bench = new Bench();
  bench.connect().createTopic('T', 4);
  joined(bench, 'a');
  bench.advance(10_000);
  bench.coordinator.stop();
  t.is(stored(bench.files), '');
});

test('locks after a restart: without a file that can be read the first member gets all, and a warning says so', (t) => {
  for (const bytes of ['{"owners":{"G"', '', '[]']) {
    const { bench } = team();
    putFile(bench.files, PATH, Buffer.from(bytes));
    putFile(bench.files, `${PATH}.bak`, Buffer.from('{}'));
    const after = next(bench);
    t.is(after.logged.filter(({ message }) => /owners of queue locks cannot be read/.test(message)).length, 1);
    const b = joined(after, 'b');
    t.deepEqual(b.lock('b', 'T', [0, 1, 2, 3]), [0, 1, 2, 3]);
    after.advance(1_001);
    t.deepEqual(JSON.parse(stored(after.files)), { owners: { G: { b: { T: [0, 1, 2, 3] } } } });
  }
});

test('locks: owners that cannot be written are written later, and nobody is refused for it', (t) => {
  const { bench, a } = team();
  const files = bench.files as MemoryFiles;
  const before = stored(files);
  files.makeFolder(`${PATH}.tmp`);
  a.unlock('a', 'T', [0]);
  t.deepEqual(a.lock('a', 'T', [1]), [1]);
  bench.advance(5_000);
  t.is(stored(files), before);
  t.is(bench.logged.filter(({ message }) => /owners of queue locks could not be written/.test(message)).length, 1);
  files.remove(`${PATH}.tmp`);
  bench.advance(1_000);
  t.deepEqual(JSON.parse(stored(files)), { owners: { G: { a: { T: [1] }, b: { T: [2, 3] } } } });
});

test('locks: an ingress that failed took the connections with it, and their owners come back to their queues', (t) => {
  const { bench } = team();
  bench.outboxOf(0).send(Messages.ingressStarted, [1]);
  bench.run();
  const b = joined(bench, 'b');
  t.deepEqual(b.lock('b', 'T', [0, 1, 2, 3]), [2, 3]);
  bench.advance(1_000);
  t.deepEqual(joined(bench, 'a').lock('a', 'T', [0, 1]), [0, 1]);
  bench.advance(QUEUE_LOCK_TRUST_MS);
  t.deepEqual(b.lock('b', 'T', [0, 1, 2, 3]), [2, 3], 'ordinary locks again');
});

test('locks: a client id that is no client id gets none', (t) => {
  const { a, bench } = team();
  const body = `{"consumerGroup":"G","clientId":"${'x'.repeat(1_025)}","mqSet":[{"brokerName":"broker-a","queueId":0,"topic":"T"}]}`;
  const answer = a.ask(RequestCodes.LOCK_BATCH_MQ, {}, Buffer.from(body));
  t.is(answer.code, 1);
  t.regex(answer.remark ?? '', /clientId is too long size=1025 max=1024/);
  t.is(bench.coordinator.desk.membership.locks.size, 4);
});
