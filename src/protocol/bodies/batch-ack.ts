// The body that acknowledges many popped messages at once: a bit per offset.
import { compactJson } from '../../base/json-writer.ts';
import type { Decoded } from '../ext.ts';
import { intOf, isObject, listOf, member, parseBody, textOf } from './json-body.ts';

export interface BatchAck {
  readonly group: string;
  readonly topic: string;
  /** Which topic was popped: 0 the topic itself, 1 and 2 its retry topics. */
  readonly retry: string;
  readonly startOffset: number;
  readonly queueId: number;
  readonly reviveQueueId: number;
  readonly popTimeMs: number;
  readonly invisibleTimeMs: number;
  /** In rising order, each at or after `startOffset`. */
  readonly offsets: readonly number[];
}

/** The most offsets one entry may span, so that a small body cannot ask for a large list. */
const SPAN_MAX = 1 << 20;

export function encodeBatchAck(brokerName: string, acks: readonly BatchAck[]): Buffer {
  const list = acks.map((ack) => ({
    b: bitsOf(ack).toString('base64'),
    c: ack.group,
    it: ack.invisibleTimeMs,
    pt: ack.popTimeMs,
    q: ack.queueId,
    r: ack.retry,
    rq: ack.reviveQueueId,
    so: ack.startOffset,
    t: ack.topic,
  }));
  return Buffer.from(compactJson({ acks: list, brokerName }));
}

function bitsOf(ack: BatchAck): Buffer {
  const last = ack.offsets.at(-1) ?? ack.startOffset;
  const bits = Buffer.alloc(((last - ack.startOffset) >> 3) + 1);
  for (const offset of ack.offsets) {
    const bit = offset - ack.startOffset;
    bits[bit >> 3] = (bits[bit >> 3] as number) | (1 << (bit & 7));
  }
  return bits;
}

export function decodeBatchAck(body: Uint8Array): Decoded<BatchAck[]> {
  const parsed = parseBody(body);
  if (!parsed.ok) return parsed;
  const acks: BatchAck[] = [];
  for (const item of listOf(parsed.value, 'acks')) {
    if (!isObject(item)) return { ok: false, fault: 'entry of acks is no object' };
    const name = (short: string, long: string): string => (member(item, short) === undefined ? long : short);
    const startOffset = intOf(item, name('so', 'startOffset'), 0);
    const bits = Buffer.from(textOf(item, name('b', 'bitSet'), ''), 'base64');
    if (bits.length > SPAN_MAX >> 3) return { ok: false, fault: `bit set is too long size=${bits.length} max=${SPAN_MAX >> 3}` };
    const offsets: number[] = [];
    for (let bit = 0; bit < bits.length * 8; bit++) {
      if (((bits[bit >> 3] as number) & (1 << (bit & 7))) !== 0) offsets.push(startOffset + bit);
    }
    acks.push({
      group: textOf(item, name('c', 'consumerGroup'), ''),
      topic: textOf(item, name('t', 'topic'), ''),
      retry: textOf(item, name('r', 'retry'), '0'),
      startOffset,
      queueId: intOf(item, name('q', 'queueId'), 0),
      reviveQueueId: intOf(item, name('rq', 'reviveQueueId'), 0),
      popTimeMs: intOf(item, name('pt', 'popTime'), 0),
      invisibleTimeMs: intOf(item, name('it', 'invisibleTime'), 0),
      offsets,
    });
  }
  return { ok: true, value: acks };
}
