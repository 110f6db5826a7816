// Which queue files have to be synced: what changed since, what is new with its folders, and nothing else.
import test from 'ava';
import { ChangedQueueFiles } from '../../src/store/changed-queue-files.ts';
import { MemoryFiles } from '../../src/store/files/memory-files.ts';

class Rig {
  wallMs = 100_000;
  readonly files = new MemoryFiles({ wallMs: () => this.wallMs });
  readonly changed = new ChangedQueueFiles(this.files, '/cq');

  write(path: string): void {
    this.files.makeFolder(path.slice(0, path.lastIndexOf('/')));
    const fd = this.files.open(path, 'create');
    this.files.write(fd, Uint8Array.from([1]), 0, 1, 0);
    this.files.close(fd);
  }

  collect(): Map<string, number> {
    const collected = new Map<string, number>();
    for (const topic of this.changed.topics()) this.changed.collect(topic, collected);
    return collected;
  }

  /** A whole pass: what was collected. */
  pass(): string[] {
    const nowMs = this.wallMs;
    const collected = this.collect();
    for (const [path, changedAtMs] of collected) this.changed.sync(path, changedAtMs);
    this.changed.confirm(collected, nowMs);
    return [...collected.keys()].sort();
  }
}

test('changed queue files: the first pass takes all, later ones what was written since', (t) => {
  const rig = new Rig();
  rig.write('/cq/A/0/0');
  rig.write('/cq/A/1/0');
  rig.write('/cq/B/0/0');
  rig.wallMs += 60_000;
  t.deepEqual(rig.pass(), ['/cq', '/cq/A', '/cq/A/0', '/cq/A/0/0', '/cq/A/1', '/cq/A/1/0', '/cq/B', '/cq/B/0', '/cq/B/0/0']);
  t.deepEqual(rig.pass(), []);
  rig.write('/cq/A/1/0');
  rig.wallMs += 60_000;
  t.deepEqual(rig.pass(), ['/cq/A/1/0']);
  rig.write('/cq/B/0/1');
  rig.wallMs += 60_000;
  t.deepEqual(rig.pass(), ['/cq', '/cq/B', '/cq/B/0', '/cq/B/0/1']);
  t.deepEqual(rig.pass(), []);
});

test('changed queue files: a file that may change again under the same time is taken once more', (t) => {
  const rig = new Rig();
  rig.write('/cq/A/0/0');
  t.true(rig.pass().includes('/cq/A/0/0'));
  rig.wallMs += 10_000;
  t.deepEqual(rig.pass(), ['/cq/A/0/0']);
  t.deepEqual(rig.pass(), []);
});

test('changed queue files: a clock that was set back hides nothing', (t) => {
  const rig = new Rig();
  rig.write('/cq/A/0/0');
  rig.wallMs += 60_000;
  rig.pass();
  rig.wallMs -= 3_600_000;
  rig.write('/cq/A/0/0');
  t.deepEqual(rig.pass(), ['/cq/A/0/0']);
});

test('changed queue files: what is written between collecting and confirming is not lost', (t) => {
  const rig = new Rig();
  rig.write('/cq/A/0/0');
  rig.wallMs += 60_000;
  const collected = rig.collect();
  rig.write('/cq/A/0/0');
  rig.write('/cq/A/0/1');
  rig.changed.confirm(collected, rig.wallMs);
  rig.wallMs += 60_000;
  t.deepEqual(rig.pass(), ['/cq', '/cq/A', '/cq/A/0', '/cq/A/0/0', '/cq/A/0/1']);
});

test('changed queue files: what was removed meanwhile needs no sync', (t) => {
  const rig = new Rig();
  rig.write('/cq/A/0/0');
  rig.write('/cq/B/0/0');
  const collected = rig.collect();
  rig.files.remove('/cq/A');
  for (const [path, changedAtMs] of collected) t.notThrows(() => rig.changed.sync(path, changedAtMs));
  t.is(rig.files.openCount, 0);
});
