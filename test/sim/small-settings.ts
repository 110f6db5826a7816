// Settings with which files roll, index files fill and everything is flushed within one short life, and a broker is quickly allocated.
import type { Random } from '../../src/base/random.ts';
import type { Settings } from '../../src/config/settings.ts';

export type FlushKind = Settings['flushDiskType'];

export function smallSettings(random: Random, flush: FlushKind): Partial<Settings> {
  return {
    flushDiskType: flush,
    mappedFileSizeCommitLog: [4_096, 8_192, 32_768][random.below(3)] as number,
    mappedFileSizeConsumeQueue: [100, 200, 1_000][random.below(3)] as number,
    maxHashSlotNum: 8,
    maxIndexNum: 12,
    flushIntervalCommitLog: 1 + random.below(20),
    flushCommitLogLeastPages: random.below(2),
    flushIntervalConsumeQueue: 1 + random.below(20),
    flushConsumerOffsetInterval: 1 + random.below(40),
    maxQueueCount: 512,
    tailWindowSizeBytes: 65_536,
    feedEntryCount: 256,
    appendRingSizeBytes: 65_536,
    requestRingSizeBytes: 262_144,
    maxMessageSize: 16_384,
  };
}
