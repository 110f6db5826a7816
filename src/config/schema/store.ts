// Settings: the store's folders, file sizes, flushing and retention.
import { choice, flag, integer, path, text } from '../spec.ts';

export const storeSettings = {
  storePathRootDir: path('./store', 'Root folder of the store'),
  storeType: choice(['default'], 'default', 'Kind of store; others cannot be read'),
  storePathCommitLog: path('', 'Folder of the commit log', { derived: 'storePathRootDir/commitlog' }),
  mappedFileSizeCommitLog: integer(1_073_741_824, 'bytes', 'Size of a commit log file', { min: 4096, max: 2 ** 31 - 1 }),
  mappedFileSizeConsumeQueue: integer(6_000_000, 'bytes', 'Size of a queue file: a multiple of 20', { min: 20, max: 2 ** 31 - 1 }),
  mapperFileSizeBatchConsumeQueue: integer(13_800_000, 'bytes', 'Size of a batch queue file: a multiple of 46', {
    min: 46,
    max: 2 ** 31 - 1,
  }),
  mappedFileSizeConsumeQueueExt: integer(50_331_648, 'bytes', 'Size of a queue extension file', { min: 1024, effect: 'accepted' }),
  enableConsumeQueueExt: flag(false, 'Filter bitmaps beside the queues', 'accepted'),
  bitMapLengthConsumeQueueExt: integer(64, '', 'Bits of such a bitmap', { effect: 'accepted' }),
  checkCRCOnRecover: flag(true, 'Recovery checks the body of each message'),
  enabledAppendPropCRC: flag(false, 'Messages carry a checksum of the whole record', 'later'),
  forceVerifyPropCRC: flag(false, 'Records without that checksum are refused', 'later'),
  duplicationEnable: flag(false, 'Recovery trusts the log up to a confirmed offset only', 'accepted'),
  messageIndexSafe: flag(false, 'Recovery starts early enough to complete the index'),
} as const;

export const flushSettings = {
  flushDiskType: choice(['ASYNC_FLUSH', 'SYNC_FLUSH'], 'ASYNC_FLUSH', 'Answer a send before, or after, its message is synced to disk'),
  flushIntervalCommitLog: integer(500, 'ms', 'The commit log is synced this often', { min: 1 }),
  flushCommitLogTimed: flag(true, 'It is synced on that beat only, and not as soon as there is enough'),
  flushCommitLogLeastPages: integer(4, 'pages', 'It is synced only when this many pages are new', { max: 1_000_000 }),
  flushCommitLogThoroughInterval: integer(10_000, 'ms', 'After this long it is synced however little is new', { min: 1 }),
  flushIntervalConsumeQueue: integer(1000, 'ms', 'Units of queues are written to their files this often', { min: 1 }),
  flushConsumeQueueLeastPages: integer(2, 'pages', 'Queue files are synced by time only', { max: 1_000_000, effect: 'accepted' }),
  flushConsumeQueueThoroughInterval: integer(60_000, 'ms', 'Queue files are synced this often, and the checkpoint moves', { min: 1 }),
  syncFlushTimeout: integer(5000, 'ms', 'A send waits this long for the sync it needs', { min: 1 }),
  flushDelayOffsetInterval: integer(10_000, 'ms', 'Progress of the delay levels is written to disk this often', { min: 10 }),
} as const;

export const retentionSettings = {
  fileReservedTime: integer(72, 'h', 'Commit log files are kept this long', { max: 1_000_000 }),
  deleteWhen: text('04', 'Hours of the day at which expired files go, separated by ";"', {
    pattern: /^([01]?\d|2[0-3])(;([01]?\d|2[0-3]))*;?$/,
    allowed: 'hours from 00 to 23, several separated by ";"',
  }),
  diskMaxUsedSpaceRatio: integer(75, '%', 'Above this expired files go at any hour', { min: 10, max: 99 }),
  diskSpaceCleanForciblyRatio: integer(85, '%', 'Above this files go before they expire, where cleanFileForciblyEnable allows it', {
    min: 1,
    max: 100,
  }),
  diskSpaceWarningLevelRatio: integer(90, '%', 'Above this writes are refused', { min: 1, max: 100 }),
  cleanFileForciblyEnable: flag(false, 'Unexpired files may go where the disk is nearly full'),
  deleteUnconsumed: flag(false, 'Expired files go although a group has not read all of them, also below diskMaxUsedSpaceRatio'),
  cleanResourceInterval: integer(10_000, 'ms', 'Expired files are looked for this often', { min: 10 }),
  deleteCommitLogFilesInterval: integer(100, 'ms', 'Pause between two deletions of commit log files'),
  deleteConsumeQueueFilesInterval: integer(100, 'ms', 'Pause between two deletions of queue files'),
  deleteFileBatchMax: integer(10, '', 'Commit log files that go at once', { min: 1 }),
} as const;
