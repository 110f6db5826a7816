// How much clients may say of themselves: heartbeats are kept, so that one without limits would fill the memory.
import { TAG_COUNT_MAX, tooManyTags } from '../message/tags.ts';
import type { HeartbeatData } from '../protocol/bodies/heartbeat.ts';
import type { Subscription } from './subscription.ts';

/** Bytes of a heartbeat: room for a thousand groups with their subscriptions. */
export const HEARTBEAT_SIZE_MAX = 4 * 1024 * 1024;
/** Groups of one kind in one heartbeat: more than any client has. */
export const GROUPS_PER_LINK_MAX = 1000;
/** Subscriptions of all groups in one heartbeat. */
export const SUBSCRIPTION_COUNT_MAX = 4000;
/** Letters of a client id, and of the words that say how a group reads. */
export const CLIENT_ID_SIZE_MAX = 1024;
export const WORD_SIZE_MAX = 128;
/** Letters of one subscription's expression. */
export const EXPRESSION_SIZE_MAX = 64 * 1024;
/** Of all members of all groups together, about. */
export const MEMBERS_SIZE_MAX = 64 * 1024 * 1024;
/** Of all producer groups together: how many connections each has, summed up. */
export const PRODUCER_COUNT_MAX = 200_000;

const MEMBER_SIZE = 256;
const SUBSCRIPTION_SIZE = 128;

/** Why a heartbeat is not taken at all; null for one of a usual size. */
export function heartbeatFault({ clientId, consumers, producerGroups }: HeartbeatData): string | null {
  if (consumers.length > GROUPS_PER_LINK_MAX || producerGroups.length > GROUPS_PER_LINK_MAX) {
    return `heartbeat names too many groups consumers=${consumers.length} producers=${producerGroups.length} max=${GROUPS_PER_LINK_MAX}`;
  }
  const count = consumers.reduce((sum, { subscriptions }) => sum + subscriptions.length, 0);
  if (count > SUBSCRIPTION_COUNT_MAX) return `heartbeat has too many subscriptions subscriptions=${count} max=${SUBSCRIPTION_COUNT_MAX}`;
  if (clientId.length > CLIENT_ID_SIZE_MAX) return `clientID is too long size=${clientId.length} max=${CLIENT_ID_SIZE_MAX}`;
  for (const { group, consumeType, messageModel, consumeFromWhere, subscriptions } of consumers) {
    for (const word of [consumeType, messageModel, consumeFromWhere]) {
      if (word.length > WORD_SIZE_MAX)
        return `a word on how group ${shown(group)} reads is too long size=${word.length} max=${WORD_SIZE_MAX}`;
    }
    for (const subscription of subscriptions) {
      const fault = subscriptionFault(subscription);
      if (fault !== null) return `${fault} group=${shown(group)} topic=${shown(subscription.topic)}`;
    }
  }
  return null;
}

function subscriptionFault({ type, expression, tags, codes }: Subscription): string | null {
  if (type.length > WORD_SIZE_MAX) return `expressionType is too long size=${type.length} max=${WORD_SIZE_MAX}`;
  if (expression.length > EXPRESSION_SIZE_MAX) return `subString is too long size=${expression.length} max=${EXPRESSION_SIZE_MAX}`;
  const count = Math.max(tags.length, codes.length);
  return count > TAG_COUNT_MAX ? tooManyTags(count) : null;
}

/** About how many bytes a member is that says this of itself. */
export function memberSize(clientId: string, subscriptions: Iterable<Subscription>): number {
  let size = MEMBER_SIZE + clientId.length;
  for (const { topic, expression, tags, codes } of subscriptions) {
    // The expression is kept once more, in the shape by which members are compared.
    size += SUBSCRIPTION_SIZE + 2 * (topic.length + expression.length) + 8 * codes.length;
    for (const tag of tags) size += tag.length + 8;
  }
  return size;
}

const SHOWN_SIZE_MAX = 512;

/** What a client said, as far as a person reads it. */
export function shown(text: string): string {
  return text.length > SHOWN_SIZE_MAX ? `${text.slice(0, SHOWN_SIZE_MAX)}...` : text;
}
