// The checker and the index: headers, slots, chains and entries are held against the log, and keys that are missing are told.
import test from 'ava';
import { writeI64 } from '../../../src/base/bytes.ts';
import { markRunning } from '../../../src/store/abort-marker.ts';
import { ENTRIES, lines, MadeStore, SLOTS, sound } from './made-store.ts';

const HEADER = 40;
const ENTRY = 20;
const entryAt = (number: number): number => HEADER + SLOTS * 4 + number * ENTRY;

function i64(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  writeI64(bytes, 0, value);
  return bytes;
}

test('check index: an entry that leads to nowhere', (t) => {
  const store = sound();
  const path = store.indexPath(1);
  store.poke(path, entryAt(7) + 4, i64(store.log.position + 10_000));
  const found = lines(store.check());
  t.is(found[0], 'damage indexEntryAstray entry=7');
  t.is(found.length, 2);
  t.regex(found[1] ?? '', /^note keyMissing/);
  // Between two others: not even out of order.
  const between = sound();
  const position = between.sent[10]?.position ?? 0;
  between.poke(between.indexPath(1), entryAt(12) + 4, i64(position + 1));
  t.true(lines(between.check()).includes('damage indexEntryAstray entry=12'));
});

test('check index: an entry with another key than its record has', (t) => {
  const store = sound();
  store.pokeI32(store.indexPath(2), entryAt(5), 123_456);
  const found = lines(store.check());
  t.true(found.includes('damage indexEntryKey entry=5'));
  t.true(found.some((line) => line.startsWith('damage indexChain')));
  t.true(found.some((line) => line.startsWith('note keyMissing')));
});

test('check index: an entry with another time than its record has', (t) => {
  const store = sound();
  store.pokeI32(store.indexPath(2), entryAt(5) + 12, 99);
  t.deepEqual(lines(store.check()), ['damage indexEntryTime entry=5']);
});

test('check index: a header that counts wrong, or names another range', (t) => {
  const slots = sound();
  slots.pokeI32(slots.indexPath(0), 32, 1);
  t.deepEqual(lines(slots.check()), ['damage indexHeader header']);
  const begin = sound();
  begin.poke(begin.indexPath(3), 16, i64(1));
  t.deepEqual(lines(begin.check()), ['damage indexHeader entry=1']);
  const end = sound();
  end.poke(end.indexPath(3), 8, i64(1));
  t.deepEqual(lines(end.check()), [`damage indexHeader entry=${ENTRIES - 1}`]);
  const count = sound();
  count.pokeI32(count.indexPath(3), 36, ENTRIES + 1);
  t.deepEqual(lines(count.check()), ['damage indexHeader header']);
});

test('check index: a broken chain and a wrong slot', (t) => {
  const chain = sound();
  const [before = 0] = chain.peek(chain.indexPath(0), entryAt(19) + 19, 1);
  chain.pokeI32(chain.indexPath(0), entryAt(19) + 16, before === 3 ? 4 : 3);
  t.deepEqual(lines(chain.check()), ['damage indexChain entry=19']);
  const slot = sound();
  slot.pokeI32(slot.indexPath(0), HEADER + 4, -1);
  t.deepEqual(lines(slot.check()), ['damage indexChain slot=1']);
});

test('check index: a file is missing in the middle, at the end, or all are', (t) => {
  const middle = sound();
  middle.files.remove(middle.indexPath(4));
  t.regex(lines(middle.check()).join(), /^note keyMissing position=\d+ x\d+$/);
  const end = sound();
  end.files.remove(end.indexPath(-1));
  t.regex(lines(end.check()).join(), /^repairable indexLags position=\d+( x\d+)?$/);
  const all = sound();
  for (const name of all.files.list('/store/index')) all.files.remove(`/store/index/${name}`);
  t.deepEqual(lines(all.check()), []);
});

test('check index: files that expired are no fault', (t) => {
  const store = sound();
  store.index.deleteExpired(store.sent[30]?.position ?? 0);
  t.deepEqual(lines(store.check()), []);
});

test('check index: a file of a wrong size', (t) => {
  const store = sound();
  const fd = store.files.open(store.indexPath(1), 'write');
  store.files.truncate(fd, 100);
  store.files.close(fd);
  t.regex(lines(store.check()).join(), /^damage fileSize,note keyMissing/);
  store.files.makeFolder('/store/index/sub');
  store.files.close(store.files.open('/store/index/README', 'create'));
  t.is(store.check().counts.damage, 1);
});

test('check index: after an unclean stop damage in a file that goes is repaired', (t) => {
  const store = new MadeStore().fill().dispatch();
  markRunning(store.files, '/store', 1);
  store.pokeI32(store.indexPath(-1), 32, 77);
  t.deepEqual(lines(store.check()), ['repairable indexHeader header', 'note notCleanlyStopped']);
});

test('check index: slots that lead to entries which the header does not count yet', (t) => {
  const store = new MadeStore().fill().dispatch();
  const last = store.indexPath(-1);
  const [count = 0] = store.peek(last, 39, 1);
  store.pokeI32(last, HEADER, count);
  t.deepEqual(lines(store.check()), ['damage indexSlotsAhead slot=0']);
  markRunning(store.files, '/store', 1);
  t.deepEqual(lines(store.check()), ['repairable indexSlotsAhead slot=0', 'note notCleanlyStopped']);
});

test('check index: a file whose making was cut short', (t) => {
  const store = sound();
  store.files.close(store.files.open('/store/index/20990101000000000', 'create'));
  t.deepEqual(lines(store.check()), ['repairable fileEmpty']);
});

test('check index: a record that was indexed twice is no fault, one out of order is a note', (t) => {
  const twice = new MadeStore().fill(5).dispatch();
  const first = twice.sent[4];
  for (const key of first?.keys ?? []) twice.index.insert(key, first?.position ?? 0, first?.storeTimeMs ?? 0);
  twice.fill(3).dispatch().stop();
  twice.saveOffsets({});
  t.deepEqual(lines(twice.check()), []);
});
