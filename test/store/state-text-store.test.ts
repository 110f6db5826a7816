// A text kept as a state file: the one before it is there when the newest is damaged.
import test from 'ava';
import { silentLog } from '../../src/base/log.ts';
import { kvConfigFault } from '../../src/nameserver/kv-config.ts';
import { MemoryFiles } from '../../src/store/files/memory-files.ts';
import { StateTextStore } from '../../src/store/state-text-store.ts';

const PATH = '/names/kvConfig.json';

function overwrite(files: MemoryFiles, text: string): void {
  const fd = files.open(PATH, 'create');
  files.truncate(fd, 0);
  files.write(fd, Buffer.from(text), 0, text.length, 0);
  files.close(fd);
}

test('state text store: saved and loaded, nothing before the first save', (t) => {
  const files = new MemoryFiles();
  const store = new StateTextStore(files, PATH, silentLog);
  t.is(store.load(), null);
  store.save('one');
  t.is(new StateTextStore(files, PATH, silentLog).load(), 'one');
});

test('state text store: a name without a folder lies in the present one', (t) => {
  const files = new MemoryFiles();
  new StateTextStore(files, 'kv.json', silentLog).save('one');
  t.is(new StateTextStore(files, 'kv.json', silentLog).load(), 'one');
});

test('state text store: a damaged text gives way to the one before it, cut anywhere (BR-04)', (t) => {
  const whole = '{\n\t"configTable":{"NS":{"a":"1"}}\n}';
  for (let size = 1; size < whole.length; size++) {
    const files = new MemoryFiles();
    const store = new StateTextStore(files, PATH, silentLog, kvConfigFault);
    store.save('{"configTable":{}}');
    store.save(whole);
    overwrite(files, whole.slice(0, size));
    const loaded = new StateTextStore(files, PATH, silentLog, kvConfigFault).load();
    t.is(loaded, '{"configTable":{}}', `cut at ${size}`);
  }
});

test('state text store: where both are damaged nothing begins silently from nothing', (t) => {
  const files = new MemoryFiles();
  new StateTextStore(files, PATH, silentLog, kvConfigFault).save('{"configTable":{}}');
  overwrite(files, '{"conf');
  t.throws(() => new StateTextStore(files, PATH, silentLog, kvConfigFault).load(), { code: 'store' });
});
