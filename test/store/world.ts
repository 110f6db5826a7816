// A small store in memory with its log, its queues and what they must agree on after a recovery.
import type { ExecutionContext } from 'ava';
import { silentLog } from '../../src/base/log.ts';
import { ConsumeQueues } from '../../src/store/consume-queues.ts';
import type { Files } from '../../src/store/files/files.ts';
import { MemoryFiles } from '../../src/store/files/memory-files.ts';
import { UNIT_SIZE } from '../../src/store/queue-unit.ts';
import { type RecoveredStore, recoverStore } from '../../src/store/recovery.ts';
import { followLog, unitsOf } from './following.ts';
import { settingsOf } from './golden.ts';
import { LogMaker } from './records.ts';

export const SEGMENT = 4_096;
export const CQ_SIZE = 10 * UNIT_SIZE;
export const worldSettings = settingsOf('/store', { mappedFileSizeCommitLog: SEGMENT, mappedFileSizeConsumeQueue: CQ_SIZE });

export class World {
  files: Files;
  log: LogMaker;
  queues: ConsumeQueues;
  readonly keys = new Map<string, number>();
  dispatched = 0;

  constructor(position = 0, files: Files = new MemoryFiles()) {
    this.files = files;
    this.files.makeFolder('/store');
    this.log = new LogMaker(this.files, '/store/commitlog', SEGMENT, position);
    this.queues = new ConsumeQueues(this.files, '/store/consumequeue', CQ_SIZE);
  }

  /** Dispatches the next so many records. */
  dispatch(count = Number.POSITIVE_INFINITY, flush = true): void {
    for (; count > 0 && this.dispatched < this.log.records.length; count--) {
      const record = this.log.records[this.dispatched++];
      if (record === undefined) return;
      const name = `${record.topic}/${record.queueId}`;
      let key = this.keys.get(name);
      if (key === undefined) {
        key = this.keys.size;
        this.keys.set(name, key);
        this.queues.open(key, record.topic, record.queueId);
      }
      this.queues.get(key)?.append(record.queueOffset, record.position, record.size, 0);
    }
    if (flush) this.queues.flushAll();
  }

  /** Recovers and checks that queues and log agree to the last record. */
  recover(t: ExecutionContext, more: Partial<typeof worldSettings> = {}): RecoveredStore {
    const found = recoverStore(this.files, { ...worldSettings, ...more }, silentLog);
    const queues = followLog(t, this.files, worldSettings, found);
    const expected = new Map<string, { position: number; size: number; queueOffset: number }[]>();
    for (const record of this.log.records) {
      if (record.position + record.size > found.positionMax || record.position < found.positionMin) continue;
      const name = `${record.topic}/${record.queueId}`;
      // A queue that begins anew forgets its former life.
      if (record.queueOffset === 0) expected.set(name, []);
      const units = expected.get(name) ?? [];
      expected.set(name, units);
      units.push(record);
    }
    for (const [name, records] of expected) {
      const queue = queues.get(name);
      const first = records[0]?.queueOffset ?? 0;
      t.deepEqual(
        queue === undefined ? undefined : unitsOf(queue),
        records.map(({ position, size }) => ({ position, size })),
        name,
      );
      t.is(queue?.offsetMin, first, name);
      const bounds = found.queues.find((each) => `${each.topic}/${each.queueId}` === name);
      t.is(bounds?.offsetNext, first + records.length, name);
      t.is(bounds?.offsetMin, first, name);
    }
    return found;
  }

  /** The next process over the same files, as a recovery left them with so many of the records. */
  restart(found: RecoveredStore, recordCount: number): World {
    const world = new World(found.positionMax, this.files);
    world.log.records.push(...this.log.records.slice(0, recordCount));
    world.log.continueQueues(found.queues.map(({ topic, queueId, offsetNext }) => ({ topic, queueId, next: offsetNext })));
    world.dispatched = recordCount;
    return world;
  }

  fill(count: number): this {
    for (let i = 0; i < count; i++) this.log.append(`T${i % 3}`, i % 2, { bodySize: (i * 37) % 300 });
    return this;
  }
}
