// The record that a message sent back becomes: with its origin, one more try counted, and on its way to the retry topic or dead.
import { DEAD_LETTER } from '../../core/retries.ts';
import { encodeOffsetMessageId } from '../../message/message-id.ts';
import { PropertyNames, readProperty } from '../../message/properties.ts';
import type { PropertyPair } from '../../message/property-rewrite.ts';
import {
  propertiesAt,
  propertiesSize,
  readPosition,
  readReconsumeTimes,
  readStorePort,
  readSysFlag,
  storeHostAt,
  storeHostSize,
  topicAt,
  topicSize,
  visibleSysFlag,
} from '../../message/record.ts';
import { planCopy, type RecordCopy } from '../../message/record-copy.ts';
import type { RoutedTopic } from './directory.ts';
import type { StoreHost } from './store-host.ts';

/** A delay level rules alone, and a dead letter waits for nothing. */
const timers = [PropertyNames.timerDelaySec, PropertyNames.timerDelayMs, PropertyNames.timerDeliverMs];

/**
 * @param level DEAD_LETTER, or the delay after which the message is to be in the queue `retryQueueId` of `retryTopic`.
 * @param target where the copy is stored now: the dead letters, or the queue of that delay.
 */
export function planSentBack(
  record: Buffer,
  level: number,
  target: RoutedTopic,
  queueId: number,
  retryTopic: string,
  retryQueueId: number,
  host: StoreHost,
): RecordCopy {
  const dead = level === DEAD_LETTER;
  return planCopy(record, 0, {
    topic: target.nameBytes,
    topicUnits: target.name.length,
    queueId,
    sysFlag: visibleSysFlag(readSysFlag(record, 0)),
    reconsumeTimes: readReconsumeTimes(record, 0) + 1,
    storeHost: host.bytes,
    storePort: host.port,
    preparedPosition: 0,
    drop: dead ? [...timers, PropertyNames.delay, PropertyNames.realTopic, PropertyNames.realQueueId] : timers,
    put: [...originOf(record), [PropertyNames.wait, 'false'], ...(dead ? [] : delayOf(level, retryTopic, retryQueueId))],
  });
}

/** Where the message was first, and under which id; both are known already from the second time on. */
function originOf(record: Buffer): PropertyPair[] {
  const at = propertiesAt(record, 0);
  const end = at + propertiesSize(record, 0);
  const pairs: PropertyPair[] = [];
  if (readProperty(record, at, end, PropertyNames.retryTopic) === null) {
    const from = topicAt(record, 0);
    pairs.push([PropertyNames.retryTopic, record.toString('utf8', from, from + topicSize(record, 0))]);
  }
  if (readProperty(record, at, end, PropertyNames.originMessageId) === null) {
    pairs.push([PropertyNames.originMessageId, offsetIdOf(record)]);
  }
  return pairs;
}

function offsetIdOf(record: Buffer): string {
  const at = storeHostAt(record, 0);
  return encodeOffsetMessageId(record.subarray(at, at + storeHostSize(record, 0)), readStorePort(record, 0), readPosition(record, 0));
}

function delayOf(level: number, retryTopic: string, retryQueueId: number): PropertyPair[] {
  return [
    [PropertyNames.delay, String(level)],
    [PropertyNames.realTopic, retryTopic],
    [PropertyNames.realQueueId, String(retryQueueId)],
  ];
}
