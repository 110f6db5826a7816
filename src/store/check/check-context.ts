// What all parts of one check share: the files, what is known of the last stop, and the lists that they fill.
import type { CheckpointValues } from '../checkpoint.ts';
import type { Files } from '../files/files.ts';
import type { Findings } from './findings.ts';
import type { LostRanges } from './lost-ranges.ts';
import type { RecordLook } from './record-look.ts';

/** Where the store lies and the sizes that it was made with; the broker's own settings are such. */
export interface CheckSettings {
  readonly storePathRootDir: string;
  readonly storePathCommitLog: string;
  readonly mappedFileSizeCommitLog: number;
  readonly mappedFileSizeConsumeQueue: number;
  readonly maxHashSlotNum: number;
  readonly maxIndexNum: number;
  /** Such as `1s 5s 10s`. */
  readonly messageDelayLevel: string;
}

export interface CheckContext {
  readonly files: Files;
  readonly settings: CheckSettings;
  readonly findings: Findings;
  readonly lost: LostRanges;
  readonly look: RecordLook;
  readonly checkpoint: CheckpointValues;
  /** The last broker did not stop cleanly. */
  readonly abnormal: boolean;
  /** The next start trusts what was written, whatever the last stop was. */
  readonly written: boolean;
  /** The next start makes anew what queues know of the log from here on; Infinity where it trusts them. */
  readonly rebuiltFrom: number;
}

/** What the walk over the log found. */
export interface LogEnds {
  readonly positionMin: number;
  /** End of the last good record. */
  readonly positionMax: number;
  /** Start of the last good record; -1 where there is none. */
  readonly lastPosition: number;
  readonly recordCount: number;
  /** Newest store time in the log; 0 without a record. */
  readonly storeTimeMsMax: number;
}
