// The body that says of each queue from when to when its messages are.
import { compactJson } from '../../base/json-writer.ts';
import { type MessageQueue, queueJson } from './message-queue.ts';

export interface QueueTimeSpan {
  readonly queue: MessageQueue;
  /** Store times in ms; -1 where there is no such message. */
  readonly minTimeStamp: number;
  readonly maxTimeStamp: number;
  readonly consumeTimeStamp: number;
  /** How long the next message to be read has been there, in ms; 0 where there is none. */
  readonly delayTime: number;
}

export function encodeTimeSpans(spans: readonly QueueTimeSpan[]): Buffer {
  const consumeTimeSpanSet = spans.map(({ queue, minTimeStamp, maxTimeStamp, consumeTimeStamp, delayTime }) => ({
    consumeTimeStamp,
    delayTime,
    maxTimeStamp,
    messageQueue: queueJson(queue),
    minTimeStamp,
  }));
  return Buffer.from(compactJson({ consumeTimeSpanSet }));
}
