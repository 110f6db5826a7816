// Follows a log into consume queues as a dispatcher does, and compares queues with what the log must have made of them.
import type { ExecutionContext } from 'ava';
import { PropertyScan, scanProperties } from '../../src/message/properties.ts';
import {
  propertiesAt,
  propertiesSize,
  readQueueId,
  readQueueOffset,
  readSysFlag,
  SysFlags,
  topicAt,
  topicSize,
} from '../../src/message/record-layout.ts';
import { tagsCodeOf } from '../../src/message/tags.ts';
import { UNIT_SIZE } from '../../src/store/consume-queue.ts';
import { ConsumeQueues } from '../../src/store/consume-queues.ts';
import type { Files } from '../../src/store/files/files.ts';
import { LogWalker } from '../../src/store/log-walker.ts';
import { readUnitPosition, readUnitSize } from '../../src/store/queue-unit.ts';
import type { RecoveredStore, RecoverySettings } from '../../src/store/recovery.ts';

export interface ExpectedUnit {
  readonly position: number;
  readonly size: number;
}

/** Queues by `topic/queueId`, brought up to the log's end. */
export function followLog(
  t: ExecutionContext,
  files: Files,
  settings: RecoverySettings,
  found: RecoveredStore,
): Map<string, ReturnType<ConsumeQueues['open']>> {
  const queues = new ConsumeQueues(files, settings.storePathConsumeQueue, settings.mappedFileSizeConsumeQueue);
  queues.correctMin(found.positionMin);
  const byName = new Map(
    found.queues.map((queue, key) => [`${queue.topic}/${queue.queueId}`, queues.open(key, queue.topic, queue.queueId)]),
  );
  const walker = new LogWalker(files, settings.storePathCommitLog, settings.mappedFileSizeCommitLog);
  const scan = new PropertyScan();
  walker.seek(found.dispatchFrom);
  while (walker.next(found.positionMax)) {
    const { bytes, at } = walker;
    const transaction = readSysFlag(bytes, at) & SysFlags.transactionMask;
    if (transaction === SysFlags.prepared || transaction === SysFlags.rollback) continue;
    const topic = bytes.toString('utf8', topicAt(bytes, at), topicAt(bytes, at) + topicSize(bytes, at));
    const queue = byName.get(`${topic}/${readQueueId(bytes, at)}`);
    if (queue === undefined) continue;
    scanProperties(bytes, propertiesAt(bytes, at), propertiesAt(bytes, at) + propertiesSize(bytes, at), scan);
    const code = scan.tagsAt < 0 ? 0 : tagsCodeOf(bytes, scan.tagsAt, scan.tagsEnd);
    const outcome = queue.append(readQueueOffset(bytes, at), walker.position, walker.size, code);
    t.not(outcome, 'gap', `${topic} ${readQueueOffset(bytes, at)}`);
  }
  t.is(walker.stop, 'end');
  queues.flushAll();
  queues.syncAll();
  queues.close();
  walker.close();
  return byName;
}

export function unitsOf(queue: ReturnType<ConsumeQueues['open']>): ExpectedUnit[] {
  const count = queue.offsetMax - queue.offsetMin;
  const bytes = new Uint8Array(count * UNIT_SIZE);
  const read = queue.readUnits(queue.offsetMin, count, bytes, 0);
  return Array.from({ length: read }, (_, i) => ({
    position: readUnitPosition(bytes, i * UNIT_SIZE),
    size: readUnitSize(bytes, i * UNIT_SIZE),
  }));
}
