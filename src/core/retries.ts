// What becomes of a message that a consumer could not handle: it is tried again after a delay, or it is a dead letter.
import { topicBesideGroup } from '../message/names.ts';
import { Versions } from '../protocol/versions.ts';

/** Instead of a delay level. */
export const DEAD_LETTER = 0;
/** The first retry waits this level, each further one the next: 10 s, 30 s, 1 min with the default levels. */
const FIRST_RETRY_LEVEL = 3;

/** How often a message may be tried again. @param asked the request's own limit: of clients from 3.4.9 on it counts; below 0 it says nothing. */
export function retryLimit(groupMaxTimes: number, asked: number | undefined, clientVersion: number): number {
  return asked !== undefined && asked >= 0 && clientVersion >= Versions.V3_4_9 ? asked : groupMaxTimes;
}

/**
 * The delay level of a message that is sent back, or DEAD_LETTER.
 * @param times so often it was tried again already.
 * @param askedLevel 0: the next one in the row; below 0: no further try.
 * @param levelCount levels that there are: what lies above waits the longest.
 */
export function sendBackLevel(times: number, askedLevel: number, limit: number, levelCount: number): number {
  if (askedLevel < 0 || times >= limit) return DEAD_LETTER;
  return Math.min(askedLevel > 0 ? askedLevel : FIRST_RETRY_LEVEL + times, levelCount);
}

/** Whether a message that its consumer itself sends to the retry topic is past its tries. @param times this one is counted already. */
export function isPastRetries(times: number, limit: number): boolean {
  return times > limit;
}

/**
 * Whether the group consumes the message's original topic in order. Then its sender has tried in place as often as it wanted, and gives up:
 * a try by way of the retry topic would come out of order. Stock brokers look at the group alone, so what it consumes side by side with
 * another topic is dead at its first failure.
 * @param originTopic as the consumer shows it: without the namespace that its group has.
 */
export function isOrdered(lockedTopics: readonly string[], group: string, originTopic: string | undefined): boolean {
  if (originTopic === undefined) return false;
  return lockedTopics.includes(originTopic) || lockedTopics.includes(topicBesideGroup(group, originTopic));
}
