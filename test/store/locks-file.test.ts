// Owners of queue locks on disk: as they were, whatever their names are, and refused rather than emptied where they cannot be read.
import test from 'ava';
import { silentLog } from '../../src/base/log.ts';
import { MemoryFiles } from '../../src/store/files/memory-files.ts';
import { LocksFile } from '../../src/store/locks-file.ts';
import { getFile, putFile } from './file-bytes.ts';

const PATH = '/config/queueLocks.json';

test('locks file: what was saved is loaded', (t) => {
  const files = new MemoryFiles();
  t.is(new LocksFile(files, '/config', silentLog).load(), null);
  const topics = new Map([
    ['T', [0, 3]],
    ['%RETRY%G', [0]],
  ]);
  const owners = new Map([
    ['G', new Map([['10.0.0.1@4711#5@"\u0001', topics]])],
    ['H', new Map([['__proto__', new Map([['T', [1]]])]])],
  ]);
  new LocksFile(files, '/config', silentLog).save(owners);
  t.deepEqual(new LocksFile(files, '/config', silentLog).load(), owners);
  t.regex(getFile(files, PATH).toString(), /^\{"owners":\{"G":\{"10\.0\.0\.1@4711#5@.*":\{"T":\[0,3\]/);
});

test('locks file: members of other kinds are passed over', (t) => {
  const files = new MemoryFiles();
  putFile(files, PATH, Buffer.from('{"owners":{"G":{"a":{"T":[0,"x",1.5,2],"U":7},"b":null},"H":[1]},"new":1}'));
  const owners = new LocksFile(files, '/config', silentLog).load();
  t.deepEqual(owners, new Map([['G', new Map([['a', new Map([['T', [0, 2]]])]])]]));
});

test('locks file: a damaged one is not taken for an empty one', (t) => {
  const files = new MemoryFiles();
  putFile(files, PATH, Buffer.from('{"owners":{"G"'));
  t.throws(() => new LocksFile(files, '/config', silentLog).load(), { code: 'store' });
});
