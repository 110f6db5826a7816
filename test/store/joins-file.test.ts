// Join times on disk: as they were, and refused rather than emptied where they cannot be read.
import test from 'ava';
import { silentLog } from '../../src/base/log.ts';
import { MemoryFiles } from '../../src/store/files/memory-files.ts';
import { JoinsFile } from '../../src/store/joins-file.ts';

test('joins file: what was saved is loaded', (t) => {
  const files = new MemoryFiles();
  files.makeFolder('/config');
  t.is(new JoinsFile(files, '/config', silentLog).load(), null);
  const joins = new Map([['T@G', { joinedAtMs: 5, consumeFromWhere: 'CONSUME_FROM_LAST_OFFSET', ends: [2 ** 40, 0] }]]);
  new JoinsFile(files, '/config', silentLog).save(joins);
  t.deepEqual(new JoinsFile(files, '/config', silentLog).load(), joins);
});

test('joins file: a damaged one is not taken for an empty one', (t) => {
  const files = new MemoryFiles();
  files.makeFolder('/config');
  const file = new JoinsFile(files, '/config', silentLog);
  file.save(new Map());
  const fd = files.open('/config/groupJoins.json', 'write');
  files.truncate(fd, 3);
  files.close(fd);
  t.throws(() => file.load(), { code: 'store' });
});
