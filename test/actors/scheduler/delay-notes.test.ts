// Notes of deliveries without a broker: how often they are written, how large their file grows, and what a new table takes over.
import test from 'ava';
import type { ActorContext } from '../../../src/actors/context.ts';
import { DelayLine, type WaitingMessage } from '../../../src/actors/scheduler/delay-line.ts';
import { DelayNotes } from '../../../src/actors/scheduler/delay-notes.ts';
import type { Redelivery } from '../../../src/actors/scheduler/redelivery.ts';
import { FakeClock } from '../../../src/base/clock.ts';
import { silentLog } from '../../../src/base/log.ts';
import { loadSettings } from '../../../src/config/load.ts';
import type { Files } from '../../../src/store/files/files.ts';
import { MemoryFiles } from '../../../src/store/files/memory-files.ts';
import { noTableBase, tableBaseOf } from '../../../src/store/table-journal.ts';
import { Failure, Tally } from '../../faults/rules.ts';
import { WatchedFiles } from '../../faults/watched-files.ts';

const PATH = '/store/config/delayOffset.journal';
const SIZE = 10;

class Rig {
  readonly line = new DelayLine(3, 7, { from: 0, to: Number.POSITIVE_INFINITY, delayMs: 10_000 }, 0);
  readonly notes: DelayNotes;
  #sent = 0;

  constructor(files: Files) {
    this.notes = notesOn(files);
    this.notes.load(noTableBase);
    this.notes.open([this.line]);
  }

  deliver(): void {
    const offset = this.#sent++;
    this.line.fetched(offset, 0, SIZE, 0);
    const message = this.line.head(0) as WaitingMessage;
    this.line.sent(message);
    this.line.stored(message, 1_000 + offset * SIZE, SIZE);
  }
}

/** The log has every record, and the checksum of its head is its position. */
function notesOn(files: Files): DelayNotes {
  const { settings } = loadSettings({ sets: ['storePathRootDir=/store'] });
  const positions = { get: () => Number.MAX_SAFE_INTEGER };
  const context = { files, settings, positions, clock: new FakeClock(), log: silentLog } as unknown as ActorContext;
  return new DelayNotes(context, { headCrc: (position: number) => position % 2 ** 31 } as unknown as Redelivery);
}

function foundOn(files: Files, base = noTableBase): number {
  const notes = notesOn(files);
  notes.load(base);
  return notes.endOf(3, 0);
}

test('delay notes: what comes back within a few ms is one write, and nothing new is none', (t) => {
  const files = new WatchedFiles(new MemoryFiles());
  const rig = new Rig(files);
  t.is(rig.notes.look(0), 0);
  t.is(rig.notes.atMs, Number.POSITIVE_INFINITY);
  rig.deliver();
  t.is(rig.notes.look(10), 1);
  t.is(foundOn(files), 1);
  const writes = files.watch(new Tally({ kinds: ['write'] }));
  for (let ms = 11; ms < 15; ms++) {
    rig.deliver();
    t.is(rig.notes.look(ms), 0);
    t.is(rig.notes.atMs, 15);
  }
  t.is(rig.notes.look(15), 1);
  t.is(rig.notes.look(30), 0);
  t.is(writes.count, 1);
  t.is(foundOn(files), 5);
});

test('delay notes: their file is begun anew before it is too large, whenever the table is written', (t) => {
  const files = new MemoryFiles();
  const rig = new Rig(files);
  let sizeMax = 0;
  for (let i = 1; i <= 120_000; i++) {
    rig.deliver();
    rig.notes.write(i * 10);
    if (i % 100 === 0) sizeMax = Math.max(sizeMax, files.stat(PATH)?.sizeBytes ?? 0);
  }
  t.true(sizeMax > 1_000_000 && sizeMax <= 4 * 1024 * 1024 + 100, `${sizeMax}`);
  t.is(foundOn(files), 120_000);
});

test('delay notes: a table that is written without the last deliveries has them noted from its first moment on', (t) => {
  const files = new MemoryFiles();
  const rig = new Rig(files);
  for (let i = 0; i < 4; i++) rig.deliver();
  rig.line.settle(1_000 + 2 * SIZE);
  t.is(rig.line.durable, 2);
  const base = tableBaseOf('next');
  rig.notes.prepare(base);
  t.is(foundOn(files, base), 4);
  rig.notes.begin(base);
  rig.deliver();
  rig.notes.look(100);
  t.is(foundOn(files, base), 5);
});

test('delay notes: where nothing could be prepared, or the table not written, all of it is noted as soon as it can be', (t) => {
  const base = tableBaseOf('next');
  for (const isWritten of [true, false]) {
    const files = new WatchedFiles(new MemoryFiles());
    const rig = new Rig(files);
    for (let i = 0; i < 3; i++) rig.deliver();
    rig.notes.look(0);
    rig.deliver();
    const failure = files.watch(new Failure({ kinds: ['write'], path: /\.tmp$/ }));
    failure.isOn = isWritten;
    rig.notes.prepare(base);
    if (isWritten) rig.notes.begin(base);
    rig.notes.look(10);
    t.is(foundOn(files, isWritten ? base : noTableBase), 4);
  }
});
