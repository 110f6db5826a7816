// Which broker of a set a reader is advised to pull from: where slaves may be read, those that are far behind go to one.
import { totalmem } from 'node:os';
import type { Settings } from '../../config/settings.ts';
import type { DirectoryGroup } from '../messages.ts';

const MASTER_ID = 0;

export class ReadAdvice {
  readonly slavesRead: boolean;
  /** What lies further from the log's end is taken to be no longer in memory. */
  readonly #recentSizeBytes: number;

  constructor(settings: Settings, memorySizeBytes = totalmem()) {
    this.slavesRead = settings.slaveReadEnable;
    this.#recentSizeBytes = (memorySizeBytes * settings.accessMessageInMemoryMaxRatio) / 100;
  }

  /** @param position of the last message that was given; the log's end where there was none. */
  brokerFor(group: DirectoryGroup, position: number, logEnd: number): number {
    if (!this.slavesRead) return MASTER_ID;
    return logEnd - position > this.#recentSizeBytes ? group.slowBrokerId : group.brokerId;
  }
}
