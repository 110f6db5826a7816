// What ingress actors report of pulls: offsets that were committed along, and who was told of resets.
import { join64, readUtf8 } from '../../base/bytes.ts';
import { ResponseCodes } from '../../protocol/codes.ts';
import type { RingReader } from '../../runtime/ring.ts';
import type { Desk } from './desk.ts';

const COMMIT_WORDS = 6;

/** queueId, offset x2, groupSize, topicSize, connectionId, group, topic. A pull that is served makes its group, as stock brokers do. */
export function onPulledCommit(desk: Desk, ingress: number, ring: RingReader, at: number): void {
  const { words, bytes } = ring;
  const word = at >> 2;
  const groupAt = at + COMMIT_WORDS * 4;
  const topicAt = groupAt + (words[word + 3] as number);
  const group = readUtf8(bytes, groupAt, topicAt);
  const topic = readUtf8(bytes, topicAt, topicAt + (words[word + 4] as number));
  const { groups, links, offsets, topics } = desk;
  if (!topics.table.has(topic) || groups.ensure(group).code !== ResponseCodes.SUCCESS) return;
  const link = links.find(ingress, words[word + 5] as number)?.id ?? -1;
  offsets.commit(group, topic, words[word] as number, join64(words[word + 1] as number, words[word + 2] as number), link);
}

/** epoch, connectionId, 1 or 0. */
export function onResetPulled(desk: Desk, ingress: number, ring: RingReader, at: number): void {
  const word = at >> 2;
  const epoch = ring.words[word] as number;
  const link = desk.links.find(ingress, ring.words[word + 1] as number);
  if (link === undefined) return;
  const { resets } = desk.offsets;
  if (ring.words[word + 2] === 1) resets.knows(epoch, link.id, desk.context.clock.steadyMs());
  else resets.told(epoch, link.id);
}
