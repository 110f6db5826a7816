// Settings: pulls, their limits, filters and queries.
import { flag, integer } from '../spec.ts';

export const readSettings = {
  longPollingEnable: flag(true, 'A pull without news waits as long as its client asked for'),
  shortPollingTimeMills: integer(1000, 'ms', 'How long it waits otherwise', { min: 1 }),
  heldPullCountMax: integer(100_000, '', 'Most pulls that wait at once', { min: 1, max: 10_000_000 }),
  maxTransferBytesOnMessageInMemory: integer(262_144, 'bytes', 'A pull of recent messages ends at this size', { min: 1 }),
  maxTransferCountOnMessageInMemory: integer(32, '', 'A pull of recent messages ends at this count', { min: 1 }),
  maxTransferBytesOnMessageInDisk: integer(65_536, 'bytes', 'A pull of old messages ends at this size', { min: 1 }),
  maxTransferCountOnMessageInDisk: integer(8, '', 'A pull of old messages ends at this count', { min: 1 }),
  accessMessageInMemoryMaxRatio: integer(40, '%', 'Share of the memory of the host that recent messages take', { min: 1, max: 100 }),
  maxFilterMessageSize: integer(16_000, 'bytes', 'A pull examines at most this much of a queue: 20 bytes a message', { min: 20 }),
  travelCqFileNumWhenGetMessage: integer(1, '', 'Queue files a pull walks through while it finds nothing', { min: 1 }),
  litePullMessageEnable: flag(true, 'Lite pull consumers are served'),
  rejectPullConsumerEnable: flag(false, 'Consumers that pull actively are refused'),
  enablePropertyFilter: flag(false, 'Subscriptions may be SQL92 expressions'),
  filterSupportRetry: flag(false, 'SQL92 is applied again to retried messages'),
  slaveReadEnable: flag(false, 'Readers far behind are sent to a slave'),
  messageIndexEnable: flag(true, 'Messages can be looked up by key'),
  maxHashSlotNum: integer(5_000_000, '', 'Slots of an index file', { min: 1, max: 500_000_000 }),
  maxIndexNum: integer(20_000_000, '', 'Entries of an index file', { min: 1, max: 2_000_000_000 }),
  maxMsgsNumBatch: integer(64, '', 'Most messages a query by key gives', { min: 1, max: 10_000 }),
  defaultQueryMaxNum: integer(32, '', 'Messages a query by unique key gives', { min: 1, max: 10_000 }),
} as const;
