// What may be deleted of the log and when writes are refused: decided from the settings, how full the disks are, the hour, and the files' ages.

export interface RetentionSettings {
  /** h */
  readonly fileReservedTime: number;
  /** Hours of the day, such as `04;16`. */
  readonly deleteWhen: string;
  /** % */
  readonly diskMaxUsedSpaceRatio: number;
  /** % */
  readonly diskSpaceCleanForciblyRatio: number;
  /** % */
  readonly diskSpaceWarningLevelRatio: number;
  readonly cleanFileForciblyEnable: boolean;
  readonly deleteUnconsumed: boolean;
}

/** How much of each disk is used, in whole percent rounded up; null: unknown. */
export interface DiskUse {
  readonly logPercent: number | null;
  readonly queuePercent: number | null;
}

/** Bits: why writes are refused. Each comes and goes by itself. */
export const DiskReasons = { log: 1, queues: 2 } as const;

export interface RetentionVerdict {
  /** DiskReasons; 0: writes are taken. */
  readonly refuses: number;
  /** Files may go now. */
  readonly runs: boolean;
  /** Also those that have not expired. */
  readonly ignoresAge: boolean;
  /** An expired file stays while a group has not read all of it. */
  readonly keepsUnread: boolean;
}

const HOUR_MS = 3_600_000;

/**
 * Apache's rules (store format 11.1, 11.2) with two bends: files that have not expired go only where that is switched on, and what is not
 * known is no reason for anything. @param hour of the day, by local time.
 */
export function judgeRetention(settings: RetentionSettings, use: DiskUse, hour: number): RetentionVerdict {
  const { logPercent, queuePercent } = use;
  const fullest = Math.max(logPercent ?? -1, queuePercent ?? -1);
  const isFull = (percent: number | null): boolean => percent !== null && percent > settings.diskSpaceWarningLevelRatio;
  const scarce = fullest > Math.min(settings.diskSpaceCleanForciblyRatio, settings.diskSpaceWarningLevelRatio);
  const aboveRatio = fullest > settings.diskMaxUsedSpaceRatio || scarce;
  return {
    refuses: (isFull(logPercent) ? DiskReasons.log : 0) | (isFull(queuePercent) ? DiskReasons.queues : 0),
    runs: aboveRatio || deleteHours(settings.deleteWhen).includes(hour),
    ignoresAge: scarce && settings.cleanFileForciblyEnable,
    keepsUnread: !aboveRatio && !settings.deleteUnconsumed,
  };
}

function deleteHours(text: string): number[] {
  return text
    .split(';')
    .filter((part) => part !== '')
    .map(Number);
}

/**
 * When each file of the log was last written, oldest file first, as far as can be believed: a file is not older than those before it,
 * and one whose time lies in the future was written before the next one that is right. @param wallMs the present.
 */
export function believableTimes(mtimesMs: readonly number[], wallMs: number): number[] {
  const times = mtimesMs.slice();
  let newestMs = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < times.length; i++) {
    const mtimeMs = times[i] as number;
    if (mtimeMs > wallMs) continue;
    newestMs = Math.max(newestMs, mtimeMs);
    times[i] = newestMs;
  }
  let nextMs = wallMs;
  for (let i = times.length - 1; i >= 0; i--) {
    if ((times[i] as number) > wallMs) times[i] = nextMs;
    else nextMs = times[i] as number;
  }
  return times;
}

/** @param ageClockMs see `AgeClock`. */
export function isExpired(settings: RetentionSettings, writtenAtMs: number, ageClockMs: number): boolean {
  return writtenAtMs + settings.fileReservedTime * HOUR_MS <= ageClockMs;
}

/** How long a wall clock that ran ahead must stand before files age by it. */
export function patienceMs(settings: RetentionSettings): number {
  return settings.fileReservedTime * HOUR_MS;
}

/** The policy in one sentence. */
export function retentionText(settings: RetentionSettings): string {
  const given = new Set(deleteHours(settings.deleteWhen));
  const hours = given.size === 24 ? 'any hour' : [...given].map((hour) => `${String(hour).padStart(2, '0')}:00`).join(' and ');
  const ratio = settings.diskMaxUsedSpaceRatio;
  const forced = settings.cleanFileForciblyEnable
    ? `; deletes younger ones too above ${settings.diskSpaceCleanForciblyRatio} % disk`
    : '; never deletes younger ones';
  const unread = settings.deleteUnconsumed ? 'unread messages go like all others' : `unread messages are kept below ${ratio} %`;
  return (
    `keeps messages ${settings.fileReservedTime} h, deletes older ones at ${hours} or above ${ratio} % disk${forced}; ` +
    `refuses writes above ${settings.diskSpaceWarningLevelRatio} %; ${unread}`
  );
}

// The state of the disks in one shared number, for whoever answers or shows it:
//
//   reasons (2 bits) | log percent + 1 (7 bits, 0: unknown) | queue percent + 1 (7 bits)
const REASON_COUNT = 4;
const PERCENT_COUNT = 128;

export interface DiskState extends DiskUse {
  /** DiskReasons. */
  readonly refuses: number;
}

export function packDiskState({ refuses, logPercent, queuePercent }: DiskState): number {
  return refuses + REASON_COUNT * ((logPercent ?? -1) + 1 + PERCENT_COUNT * ((queuePercent ?? -1) + 1));
}

export function unpackDiskState(packed: number): DiskState {
  const percents = Math.floor(packed / REASON_COUNT);
  const percentOf = (value: number): number | null => (value === 0 ? null : value - 1);
  return {
    refuses: packed % REASON_COUNT,
    logPercent: percentOf(percents % PERCENT_COUNT),
    queuePercent: percentOf(Math.floor(percents / PERCENT_COUNT)),
  };
}

/** What a refused sender reads: all reasons, with what was seen, what is allowed and what to do. */
export function refusalText(state: DiskState, settings: RetentionSettings): string {
  const allowed = settings.diskSpaceWarningLevelRatio;
  const reasons: string[] = [];
  if ((state.refuses & DiskReasons.log) !== 0) reasons.push(`the disk of the commit log is full used=${state.logPercent}%`);
  if ((state.refuses & DiskReasons.queues) !== 0) reasons.push(`the disk of the consume queues is full used=${state.queuePercent}%`);
  return (
    `service not available now: ${reasons.join(', ')} allowed=${allowed}% (diskSpaceWarningLevelRatio); ` +
    'reads go on, and writes by themselves once there is space: free some, or shorten fileReservedTime'
  );
}
