// The checker and the queues: every unit that is wrong, missing or left over is found, and what a start repairs is told apart.
import test from 'ava';
import { markRunning } from '../../../src/store/abort-marker.ts';
import { FILLER_SIZE, UNIT_SIZE } from '../../../src/store/queue-unit.ts';
import { lines, MadeStore, madeSettings, QUEUE_FILE, sound, UNITS_PER_FILE, unitPath } from './made-store.ts';

const noUnit = new Uint8Array(UNIT_SIZE);

test('check queues: a unit that leads to another message', (t) => {
  const store = sound();
  const other = store.of('T1', 1, 7);
  store.pokeUnit('T0', 0, 4, other.position, other.size, other.tagsCode);
  const report = store.check();
  t.deepEqual(lines(report), ['damage unitOfOther offset=4']);
  const right = store.of('T0', 0, 4);
  t.is(report.findings[0]?.seen, `position=${other.position} size=${other.size}, that of topic=T1 queueId=1 offset=7`);
  t.is(report.findings[0]?.expected, `position=${right.position} size=${right.size}`);
  t.is(report.findings[0]?.path, '/store/consumequeue/T0/0');
});

test('check queues: a unit that leads to no record', (t) => {
  const store = sound();
  const right = store.of('T0', 0, 4);
  store.pokeUnit('T0', 0, 4, right.position + 1, right.size, right.tagsCode);
  t.deepEqual(lines(store.check()), ['damage unitAstray offset=4']);
});

test('check queues: units with another size or tag', (t) => {
  const store = sound();
  const { position, size, tagsCode } = store.of('T2', 0, 3);
  store.pokeUnit('T2', 0, 3, position, size + 1, tagsCode);
  t.deepEqual(lines(store.check()), ['damage unitSize offset=3']);
  store.pokeUnit('T2', 0, 3, position, size, tagsCode ^ 1);
  t.deepEqual(lines(store.check()), ['damage unitTagsCode offset=3']);
  // An address in a file of extensions stands for the tag in stores of brokers that have such files.
  store.pokeUnit('T2', 0, 3, position, size, -(2 ** 62));
  t.deepEqual(lines(store.check()), []);
});

test('check queues: a unit that is missing in the middle, as zeros or as a filler', (t) => {
  const store = sound();
  store.pokeUnitBytes('T1', 0, 5, noUnit);
  t.deepEqual(lines(store.check()), ['damage unitMissing offset=5']);
  store.pokeUnit('T1', 0, 5, 0, FILLER_SIZE, 0);
  t.deepEqual(lines(store.check()), ['damage unitMissing offset=5']);
});

test('check queues: a unit that was written over its neighbour', (t) => {
  const store = sound();
  store.pokeUnitBytes('T1', 0, 6, store.unitBytes('T1', 0, 5));
  t.deepEqual(lines(store.check()), ['damage unitOfOther offset=6']);
});

test('check queues: a queue that was shifted by another broker is mended from there on by the next start', (t) => {
  const store = sound();
  for (let offset = 7; offset < 11; offset++) store.pokeUnitBytes('T1', 0, offset, store.unitBytes('T1', 0, offset + 1));
  store.pokeUnitBytes('T1', 0, 11, noUnit);
  t.deepEqual(lines(store.check()), ['repairable unitOfOther offset=7 x4', 'repairable unitMissing offset=11']);
});

test('check queues: the last units are missing, or all of a queue: the next start makes them', (t) => {
  const tail = sound();
  tail.pokeUnitBytes('T1', 0, 10, noUnit);
  tail.pokeUnitBytes('T1', 0, 11, noUnit);
  t.deepEqual(lines(tail.check()), ['repairable unitMissing offset=10 x2']);
  const all = sound();
  all.files.remove('/store/consumequeue/T1/0');
  t.deepEqual(lines(all.check()), ['repairable unitMissing offset=0 x12']);
  const file = sound();
  file.files.remove(unitPath('T1', 0, 11));
  t.deepEqual(lines(file.check()), ['repairable unitMissing offset=10 x2']);
});

test('check queues: the first file of a queue is gone while the log has its messages', (t) => {
  const store = sound();
  store.files.remove(unitPath('T1', 0, 0));
  t.deepEqual(lines(store.check()), [`damage unitMissing offset=0 x${UNITS_PER_FILE}`]);
});

test('check queues: a file of a queue is cut, missing in the middle, or does not belong there', (t) => {
  const cut = sound();
  const fd = cut.files.open(unitPath('T1', 0, 0), 'write');
  cut.files.truncate(fd, QUEUE_FILE - UNIT_SIZE);
  cut.files.close(fd);
  t.deepEqual(lines(cut.check()), ['damage fileSize']);
  const gap = sound(180);
  gap.files.remove(unitPath('T1', 0, UNITS_PER_FILE));
  t.deepEqual(lines(gap.check()), [`damage fileMissing position=${QUEUE_FILE}`]);
  const alien = sound();
  alien.files.close(alien.files.open('/store/consumequeue/T1/0/notes.txt', 'create'));
  t.deepEqual(lines(alien.check()), ['damage alienFile']);
});

test('check queues: units behind the log’s end are cut by the next start', (t) => {
  const store = sound();
  store.pokeUnit('T1', 0, 12, store.log.position + 500, 120, 0);
  store.pokeUnit('T1', 0, 13, store.log.position + 620, 120, 0);
  t.deepEqual(lines(store.check()), ['repairable unitBeyondLog offset=12 x2']);
  // Just where the log ends, after a clean stop: that record is lost.
  store.pokeUnit('T1', 0, 12, store.log.position, 120, 0);
  t.deepEqual(lines(store.check()), ['damage unitBeyondLog offset=12 x2']);
  markRunning(store.files, '/store', 1);
  t.deepEqual(lines(store.check()), ['repairable unitBeyondLog offset=12 x2', 'note notCleanlyStopped']);
});

test('check queues: a unit too many at the end is cut by the next start', (t) => {
  const store = sound();
  store.pokeUnitBytes('T1', 0, 12, store.unitBytes('T1', 0, 11));
  t.deepEqual(lines(store.check()), ['repairable unitOfOther offset=12']);
});

test('check queues: after an unclean stop what is behind the checkpoint is made anew', (t) => {
  const store = new MadeStore().fill().dispatch();
  store.pokeUnitBytes('T1', 0, 5, noUnit);
  markRunning(store.files, '/store', 1);
  t.deepEqual(lines(store.check()), ['repairable unitMissing offset=5', 'note notCleanlyStopped']);
  // But not by a start that trusts what was written.
  t.deepEqual(lines(store.checkWith(madeSettings, { written: true })), ['damage unitMissing offset=5', 'note notCleanlyStopped']);
});

test('check queues: a queue that begins late has fillers in front, and units of expired messages are no fault', (t) => {
  const late = new MadeStore(40_960);
  for (let i = 0; i < 9; i++) late.send('T0', 0, { queueOffset: 13 + i });
  late.dispatch().stop();
  late.saveOffsets({});
  t.deepEqual(lines(late.check()), []);
  const expired = sound(180);
  expired.files.remove('/store/commitlog/00000000000000000000');
  expired.saveOffsets({});
  t.deepEqual(lines(expired.check()), []);
});

test('check queues: units of expired messages are out of order', (t) => {
  const store = sound(180);
  store.files.remove('/store/commitlog/00000000000000000000');
  store.saveOffsets({});
  const [first, second] = [store.unitBytes('T0', 0, 0), store.unitBytes('T0', 0, 1)];
  store.pokeUnitBytes('T0', 0, 0, second);
  store.pokeUnitBytes('T0', 0, 1, first);
  t.deepEqual(lines(store.check()), ['damage unitOrder offset=1']);
});

test('check queues: two messages with one offset (BR-45)', (t) => {
  const store = new MadeStore().fill(12);
  store.send('T0', 0, { queueOffset: 1 });
  store.dispatch(12);
  store.stop();
  store.saveOffsets({});
  const twice = store.sent.at(-1);
  t.deepEqual(
    lines(store.check()).filter((line) => !line.includes('indexLags')),
    ['damage offsetTwice offset=1'],
  );
  // The queue leads to the second of them.
  store.pokeUnit('T0', 0, 1, twice?.position ?? 0, twice?.size ?? 0, twice?.tagsCode ?? 0);
  t.deepEqual(
    lines(store.check()).filter((line) => !line.includes('indexLags')),
    ['damage offsetTwice offset=1'],
  );
});

test('check queues: a record whose offset was altered', (t) => {
  const store = sound();
  store.flip(store.of('T1', 0, 4).position + 24);
  t.deepEqual(lines(store.check()), ['damage recordOffset offset=4']);
});

test('check queues: offsets that no message has, with fillers in their place and without', (t) => {
  const store = new MadeStore().fill(12);
  store.send('T0', 0, { queueOffset: 5 });
  store.dispatch(12);
  store.queueOf('T0', 0).skipTo(5);
  store.dispatch().stop();
  store.saveOffsets({});
  t.deepEqual(lines(store.check()), ['note offsetHole offset=2']);
  store.pokeUnitBytes('T0', 0, 3, noUnit);
  t.deepEqual(lines(store.check()), ['damage offsetHole offset=2']);
});

test('check queues: a queue that was deleted and made anew', (t) => {
  const store = new MadeStore().fill(12);
  store.send('T0', 0, { queueOffset: 0 });
  store.send('T0', 0, { queueOffset: 1 });
  store.dispatch().stop();
  store.saveOffsets({});
  t.deepEqual(lines(store.check()), ['note queueRestarted offset=0']);
  const behind = new MadeStore().fill(12).dispatch();
  behind.send('T0', 0, { queueOffset: 0 });
  behind.stop();
  behind.saveOffsets({});
  const found = lines(behind.check());
  t.deepEqual(
    found.filter((line) => line.includes('T0') || /unit|queue/.test(line)),
    ['repairable unitOfOther offset=0 x2', 'note queueRestarted offset=0'],
  );
});

test('check queues: a queue of fillers, and a file without a unit', (t) => {
  const fillers = sound();
  fillers.files.makeFolder('/store/consumequeue/T0/5');
  const fd = fillers.files.open(unitPath('T0', 5, 0), 'create');
  fillers.files.truncate(fd, QUEUE_FILE);
  fillers.files.close(fd);
  fillers.pokeUnit('T0', 5, 0, 0, FILLER_SIZE, 0);
  t.deepEqual(lines(fillers.check()), ['repairable queueOfFillers offset=1']);
  const unused = new MadeStore().fill(60).dispatch().stop();
  const next = unused.files.open(unitPath('T0', 0, 10), 'create');
  unused.files.truncate(next, QUEUE_FILE);
  unused.files.close(next);
  unused.saveOffsets({});
  t.deepEqual(lines(unused.check()), ['repairable queueFileUnused offset=10']);
});

test('check queues: half messages have no unit, and delayed ones hold their time', (t) => {
  const store = new MadeStore();
  store.send('SCHEDULE_TOPIC_XXXX', 1, { properties: { DELAY: '2', TAGS: 'A' } });
  store.send('SCHEDULE_TOPIC_XXXX', 1, { properties: { DELAY: '9', TAGS: 'A' } });
  store.stop();
  store.saveOffsets({});
  for (const [offset, delayMs] of [5_000, 10_000].entries()) {
    const sent = store.of('SCHEDULE_TOPIC_XXXX', 1, offset);
    store.queueOf(sent.topic, 1).append(offset, sent.position, sent.size, sent.storeTimeMs + delayMs);
  }
  store.queues.flushAll();
  t.deepEqual(lines(store.check()), []);
  const { position, size, tagsCode } = store.of('SCHEDULE_TOPIC_XXXX', 1, 1);
  store.pokeUnit('SCHEDULE_TOPIC_XXXX', 1, 1, position, size, tagsCode);
  t.deepEqual(lines(store.check()), ['note unitDeliverTime offset=1']);
  const half = new MadeStore().fill(6);
  half.send('T0', 0, { queueOffset: 0, sysFlag: 0x4, properties: {} });
  half.dispatch(6).stop();
  half.saveOffsets({});
  t.deepEqual(lines(half.check()), []);
});

test('check queues: queues of batches are passed over', (t) => {
  const store = sound();
  store.files.makeFolder('/store/batchconsumequeue/Batches/0');
  t.deepEqual(lines(store.check()), ['note batchQueues']);
});
