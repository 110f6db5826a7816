// One side of a ring on a thread of its own: writes a seeded sequence, or verifies it.
import type { Region } from '../../src/base/arena.ts';
import { Doorbell } from '../../src/runtime/doorbell.ts';
import { type RingHandler, RingReader, RingWriter } from '../../src/runtime/ring.ts';
import { RecordSequence } from './ring-records.ts';
import { report, workerTask, yieldCore } from './threads.ts';

export interface RingTask {
  readonly role: 'write' | 'verify';
  readonly memory: Region;
  readonly bells: SharedArrayBuffer;
  readonly seed: number;
  readonly count: number;
  readonly batchCount: number;
}

const task = workerTask<RingTask>();
const bell = new Doorbell(task.bells, 0);

function write(): void {
  const writer = new RingWriter(task.memory);
  const records = new RecordSequence(task.seed, writer.recordSizeMax);
  const tell = (): void => {
    if (writer.publish()) bell.ring();
  };
  for (let i = 0; i < task.count; i++) {
    records.next();
    let at = writer.claim(records.size);
    while (at === -1) {
      tell();
      yieldCore();
      at = writer.claim(records.size);
    }
    records.fill(writer.words, writer.bytes, at);
    writer.commit(records.type);
    if (i % task.batchCount === task.batchCount - 1) tell();
  }
  tell();
  report({ fullCount: writer.fullCount });
}

function verify(): void {
  const reader = new RingReader(task.memory);
  const records = new RecordSequence(task.seed, reader.capacity / 2);
  let refusals = 0;
  let failure = '';
  const handler: RingHandler = {
    onRecord: (type, at, size) => {
      // Now and then a record has to wait for the next drain.
      if ((records.index & 0xffff) === 0x8000 && refusals < records.index >> 16) {
        refusals++;
        return false;
      }
      records.next();
      if (type !== records.type || size !== records.size || !records.isIntact(reader.words, reader.bytes, at)) {
        failure = `record ${records.index} differs: type=${type} size=${size}`;
      }
      return true;
    },
  };
  while (records.index < task.count - 1 && failure === '') {
    if (reader.drain(handler, 1000) > 0) continue;
    const seen = bell.prepare();
    if (reader.isEmpty()) bell.wait(seen, Number.POSITIVE_INFINITY);
    else bell.cancel();
  }
  report({ failure, refusals, count: records.index + 1 });
}

if (task.role === 'write') write();
else verify();
