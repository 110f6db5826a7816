// Appending: a record is encoded into the ring, the commit log patches it, copies it into the window, writes the batch, tells feed and sender.
import { Positions } from '../src/actors/context.ts';
import { checkRecord, readPosition, readQueueOffset } from '../src/message/record.ts';
import { WindowReader } from '../src/runtime/tail-window.ts';
import { LogReader } from '../src/store/log-reader.ts';
import { type Cell, expect, timed, type Work } from './cell.ts';
import { QUEUE_COUNT, Stage } from './stage.ts';

/** So many of the newest records are looked at byte by byte. */
const LOOKED_AT = 64;

function appending(onDisk: boolean, perCycle: number): Work {
  const stage = new Stage(onDisk, 1024);
  const window = new WindowReader(stage.memory.window);
  const { recordSize, settings } = stage;
  const record = Buffer.alloc(recordSize);
  const look = (where: string, read: (position: number) => boolean, count: number): void => {
    for (let n = Math.max(0, count - LOOKED_AT); n < count; n++) {
      expect(`record ${n} in the ${where}`, String(read(n * recordSize)), 'true');
      expect(`size of a sound record in the ${where}`, checkRecord(record, 0, recordSize, true), recordSize);
      expect('position in the record', readPosition(record, 0), n * recordSize);
      expect('queue offset in the record', readQueueOffset(record, 0), Math.floor(n / QUEUE_COUNT));
    }
  };
  return {
    pass: (count) => stage.append(count, perCycle),
    check: (count) => {
      expect('acknowledged', stage.ackCount, count);
      expect('in the feed', stage.feed.lagCount(), count);
      expect('appended bytes', stage.assembly.positions.get(Positions.appended), count * recordSize);
      look('window', (position) => window.read(position, recordSize, record, 0), count);
      const log = new LogReader(stage.files, settings.storePathCommitLog, settings.mappedFileSizeCommitLog);
      log.setStable(count * recordSize);
      look('files', (position) => log.read(position, recordSize, record, 0), count);
      log.close();
    },
    close: () => stage.close(),
  };
}

export function appendCells(): Cell[] {
  return [
    timed('append', '1 KiB, batches of 64, files in memory', 30_000, () => appending(false, 64)),
    timed('append', '1 KiB, batches of 64, files on disk', 30_000, () => appending(true, 64)),
    timed('append', '1 KiB, one at a time, files on disk', 10_000, () => appending(true, 1)),
  ];
}
