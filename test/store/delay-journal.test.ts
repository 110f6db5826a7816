// Notes of what was delivered of the delay levels: found again as they were, up to the first that is torn, on top of their table only.
import test from 'ava';
import { silentLog } from '../../src/base/log.ts';
import { DelayJournal, type DelayNote } from '../../src/store/delay-journal.ts';
import { DelayOffsetsFile } from '../../src/store/delay-offsets-file.ts';
import { MemoryFiles } from '../../src/store/files/memory-files.ts';
import { noTableBase } from '../../src/store/table-journal.ts';
import { getFile, putFile } from './file-bytes.ts';

const PATH = '/config/delayOffset.journal';
const first: DelayNote = {
  recordAt: 2 ** 40,
  logEnd: 2 ** 40 + 300,
  recordCrc: 0x7fff_ffff,
  rows: [
    { level: 1, from: 0, to: 7 },
    { level: 18, from: 2 ** 33, to: 2 ** 34 },
  ],
};
const second: DelayNote = { recordAt: 5, logEnd: 99, recordCrc: 1, rows: [{ level: 3, from: 2, to: 4 }] };

test('delay journal: what was noted is there for the next process, in its order', (t) => {
  const files = new MemoryFiles();
  const journal = new DelayJournal(files, '/config');
  t.deepEqual(journal.load(noTableBase), []);
  journal.append(first);
  journal.append(second);
  t.deepEqual(new DelayJournal(files, '/config').load(noTableBase), [first, second]);
});

test('delay journal: cut anywhere it has the whole notes before that place, and no others', (t) => {
  const files = new MemoryFiles();
  const journal = new DelayJournal(files, '/config');
  journal.load(noTableBase);
  journal.append(first);
  const end = getFile(files, PATH).length;
  journal.append(second);
  const whole = getFile(files, PATH);
  for (let size = 0; size < whole.length; size++) {
    const zeroed = Buffer.concat([whole.subarray(0, size), new Uint8Array(whole.length - size)]);
    for (const bytes of [whole.subarray(0, size), zeroed]) {
      putFile(files, PATH, bytes);
      const found = new DelayJournal(files, '/config').load(noTableBase);
      // The last bytes of an entry may have been zeros anyway.
      if (bytes.equals(whole)) t.deepEqual(found, [first, second]);
      else t.deepEqual(found, size < end && !bytes.subarray(0, end).equals(whole.subarray(0, end)) ? [] : [first], `${size}`);
    }
  }
});

test('delay journal: a table that another broker wrote, or a person, makes it void', (t) => {
  const files = new MemoryFiles();
  const file = new DelayOffsetsFile(files, '/config', silentLog);
  file.save({ dataVersion: null, offsets: new Map([[3, 4]]), later: new Map() });
  const journal = new DelayJournal(files, '/config');
  journal.begin(file.base);
  journal.append(first);
  const same = new DelayOffsetsFile(files, '/config', silentLog);
  same.load();
  t.deepEqual(new DelayJournal(files, '/config').load(same.base), [first]);
  const text = getFile(files, '/config/delayOffset.json').toString();
  putFile(files, '/config/delayOffset.json', Buffer.from(text.replace('3:4', '3:2')));
  const foreign = new DelayOffsetsFile(files, '/config', silentLog);
  t.is(foreign.load()?.offsets.get(3), 2);
  t.deepEqual(new DelayJournal(files, '/config').load(foreign.base), []);
});
