// Settings: masters and slaves.
import { flag, integer, text } from '../spec.ts';

export const replicationSettings = {
  haMasterAddress: text('', 'Master that a slave copies from; empty asks the name server'),
  haSendHeartbeatInterval: integer(5000, 'ms', 'A quiet replication connection shows life this often', { min: 10 }),
  haHousekeepingInterval: integer(20_000, 'ms', 'It is closed after this long without life', { min: 10 }),
  haTransferBatchSize: integer(32_768, 'bytes', 'Most bytes sent to a slave at once', { min: 1024, max: 16_777_216 }),
  haMaxGapNotInSync: integer(268_435_456, 'bytes', 'A slave further behind does not count as in sync', { min: 1 }),
  slaveTimeout: integer(3000, 'ms', 'A send waits this long for the slaves it needs', { min: 1 }),
  totalReplicas: integer(1, '', 'Copies there are, the master counted', { min: 1, max: 16 }),
  inSyncReplicas: integer(1, '', 'Copies that SYNC_MASTER waits for, the master counted', { min: 1, max: 16 }),
  minInSyncReplicas: integer(1, '', 'Fewest copies it may make do with', { min: 1, max: 16 }),
  allAckInSyncStateSet: flag(false, 'Wait for all copies in sync', 'later'),
  enableAutoInSyncReplicas: flag(false, 'Wait for fewer copies where slaves are missing', 'later'),
  offsetCheckInSlave: flag(false, 'A slave corrects offsets that lie outside its queues'),
  enableSlaveActingMaster: flag(false, "The lowest slave takes over a lost master's chores", 'later'),
} as const;
