// All messages between actors: their ids, grouped by direction, and the layout of each payload.
//
// Payload fields are 32-bit words in the machine's byte order, counted from the payload's start; `x2` takes two words (high,
// low: a safe integer as two halves); bytes follow the words. A token is chosen by the asker and comes back in the answer;
// an answer whose token is unknown (its asker was restarted) is dropped and counted. JSON messages travel as: last (1 or 0),
// partSize, then a part of the text.

import { assert } from '../base/assert.ts';
import type { ToldReset } from '../core/reset-tellings.ts';

export const Messages = {
  // ingress -> commit-log
  /** token, queueKey, recordCount, then per record: size, tagsCode, recordFlags, uniqueKeyHash, tagKeyHash, record bytes padded to 4. */
  append: 1,

  // commit-log -> ingress, in the order of the appends
  /** token, status (AppendStatuses), queueOffset x2 of the first record, position x2 of the first record. */
  appended: 16,

  // ingress -> dispatch
  /** token, connectionId, queueKey, offset x2, maxCount, suspendMs, tagCount (-1: all), tag codes. */
  pull: 32,
  /** token, queueKey, LookUps kind, argument x2. */
  lookUp: 33,
  /** connectionId: its held pulls are forgotten. */
  cancelPulls: 34,

  // dispatch -> ingress
  /** token, status (PullStatuses), nextOffset x2, minOffset x2, maxOffset x2, spanCount, then per span: position x2, size. */
  pulled: 48,
  /** token, value x2. */
  lookedUp: 49,

  // ingress -> indexer and back
  /** token, maxCount, beginMs x2, endMs x2, then the key's bytes (`topic#key`). */
  queryKey: 64,
  /** token, newest time x2, newest position x2, positionCount, positions x2. */
  keyQueried: 65,

  // ingress -> coordinator
  /** connectionId, last (1 or 0), partSize, then a part of a whole frame, length word included; parts of one frame follow each other. */
  frame: 80,
  /** connectionId: its members leave now. */
  connectionClosed: 81,
  /** queueId, offset x2, groupSize, topicSize, connectionId, then group and topic bytes: a commit that rides on a pull; not answered. */
  commitOffset: 82,
  /** JSON EnsureTopic. */
  ensureTopic: 83,
  /** JSON PeerState. */
  peerState: 84,
  /** JSON ConnectionOpened, before the connection's first frame. */
  connectionOpened: 85,
  /** incarnation (0: the first): first of its mail. What its predecessor had open is gone, and what it was told is forgotten. */
  ingressStarted: 86,
  /** JSON EnsureGroup: a pull was served to a group that nobody has made yet; not answered. */
  ensureGroup: 87,
  /** JSON LookUpsAnswered. */
  lookUpsAnswered: 90,
  /** epoch, connectionId, 1 or 0: a pull was answered with the offset of this reset (0), or shows that its connection knows of it (1). */
  resetPulled: 91,
  /** token, last, partSize, then a part of a request 326 with one field more (see core/pushed-reply.ts) for a client that is to be found. */
  pushReply: 92,
  /** JSON ReadCounts: what groups were given since the last one; not answered. */
  readCounts: 93,

  // coordinator -> ingress
  /** connectionId, last, partSize, then a part of a frame for that connection. */
  answer: 96,
  /** JSON TopicChange. */
  topicChanged: 97,
  /** JSON GroupChange. */
  groupChanged: 98,
  /** JSON TopicEnsured, after the topicChanged it caused. */
  topicEnsured: 99,
  /** JSON OpenPeer. */
  openPeer: 100,
  /** connectionId. */
  closeConnection: 101,
  /** Around all topics and groups, for an ingress that was restarted; mail before it was meant for its predecessor. */
  directoryBegins: 102,
  directoryEnds: 103,
  /** JSON MemberChange: what a connection's own pulls are judged by. */
  memberChanged: 104,
  /** JSON LookUpsAsked. */
  askLookUps: 106,
  /** JSON ReplyPushed. */
  replyPushed: 107,
  /** JSON TimedAnswer: the ingress fills its gaps with store times that it has the dispatchers look up. */
  timedAnswer: 109,

  // coordinator -> dispatch
  /** JSON QueuesAdded; sent before any ingress learns the topic. */
  queuesAdded: 112,
  /** JSON QueuesRemoved: files and held pulls of these queues go. */
  queuesRemoved: 113,

  // cleaner -> dispatch
  /** token, position x2: is there a message before it that a group with an offset has not read? */
  askUnread: 120,

  // dispatch -> cleaner
  /** token, 1 or 0. */
  unreadAnswered: 121,
  /** queueId, topicSize, then the topic's bytes: a queue has its first message, and its file will be wanted; may get lost. */
  queueBegun: 122,

  // scheduler -> coordinator
  /** incarnation, above 0: all topics go to the new one. */
  schedulerStarted: 128,

  // scheduler -> commit-log and dispatch as ingress does, with one open pull a line; coordinator -> scheduler: topicChanged between
  // directoryBegins and directoryEnds, and later ones by themselves.

  // coordinator -> commit-log: nothing; a new queue key starts at offset 0.
} as const;
export type Message = (typeof Messages)[keyof typeof Messages];
assert(new Set(Object.values(Messages)).size === Object.keys(Messages).length, 'no two messages have one id');

export const AppendStatuses = {
  stored: 0,
  /** The log is read-only, for good. */
  unavailable: 1,
  /** The disk had no room for it, and nothing of it is stored. */
  noSpace: 2,
} as const;

/** Bytes before each record of an `append`. */
export const RECORD_HEAD_SIZE = 20;

/** Bits of a record's flags in `append` and in the feed. A record with keys has one of the last two: see key-flags.ts. */
export const RecordFlags = {
  noQueueOffset: 1,
  /** Found by its unique key, whose hash goes with the record (see message/index-key.ts); else that word is 0. */
  uniqueKeyHashed: 2,
  /** It has KEYS: the indexer reads the record for them, for the unique key and the tag. */
  furtherKeys: 4,
  /** Found by its tag, whose hash goes with the record; else that word is 0. */
  tagHashed: 8,
} as const;

export const PullStatuses = {
  found: 0,
  noMatch: 1,
  /** offset = max: nothing new within the time asked for. */
  atEnd: 2,
  beyondEnd: 3,
  belowStart: 4,
  /** The queue has never had a message. */
  empty: 5,
  unknownQueue: 6,
} as const;
export type PullStatus = (typeof PullStatuses)[keyof typeof PullStatuses];

export const LookUps = {
  /** Offset of the first message stored at or after the argument (ms); the max offset after the last. */
  firstAtOrAfter: 1,
  /** Offset of the last message stored at or before the argument (ms); max - 1 after the last, min before the first. */
  lastAtOrBefore: 2,
  /** Store time in ms of the message at the min offset; -1 where there is none. */
  earliestTime: 3,
  /** Store time in ms of the message at the argument (an offset); -1 where there is none. */
  timeAt: 4,
  /** Position in the log of the message at the argument (an offset); -1 where there is none. */
  positionAt: 5,
} as const;

/** What an ingress must know of a topic to take sends and pulls; `null` as topic config means that it is gone. */
export interface TopicChange {
  readonly topic: string;
  readonly config: DirectoryTopic | null;
}

export interface DirectoryTopic {
  readonly readQueueCount: number;
  readonly writeQueueCount: number;
  /** Permission bits: 4 read, 2 write, 1 inherit. */
  readonly perm: number;
  readonly sysFlag: number;
  readonly order: boolean;
  /** Records of its name before this position in the log are of a topic that was removed. */
  readonly from: number;
  /** keys[queueId] = queue key. As long as the larger of both counts. */
  readonly keys: readonly number[];
}

export interface GroupChange {
  readonly group: string;
  readonly state: DirectoryGroup | null;
}

/** What an ingress must know of a consumer group to judge a pull. */
export interface DirectoryGroup {
  readonly consumeEnable: boolean;
  readonly consumeBroadcastEnable: boolean;
  readonly sysFlag: number;
  /** So often a message is tried again before it is a dead letter. */
  readonly retryMaxTimes: number;
  /** 0 and below: what its consumers send back is dropped. */
  readonly retryQueueCount: number;
  /** Suggested to readers where slaves are read: to most, and to those that are far behind. */
  readonly brokerId: number;
  readonly slowBrokerId: number;
  /** Topics whose reading is forbidden to this group. */
  readonly forbiddenTopics: readonly string[];
  /** Topics of which a member has a queue locked: they are consumed in order. */
  readonly lockedTopics: readonly string[];
  /** null while no member is connected. */
  readonly live: DirectoryLiveGroup | null;
  /** Offsets that were reset and that its members may not know of yet; null for none. */
  readonly resets: readonly DirectoryReset[] | null;
}

export interface DirectoryReset extends ToldReset {
  readonly topic: string;
  readonly queueId: number;
}

export interface DirectoryLiveGroup {
  readonly broadcasting: boolean;
  readonly subscriptions: readonly DirectorySubscription[];
}

/** null: the connection is no member of the group (any more). */
export interface MemberChange {
  readonly connectionId: number;
  readonly group: string;
  readonly live: DirectoryLiveGroup | null;
}

export interface DirectorySubscription {
  readonly topic: string;
  /** TAG or SQL92. */
  readonly type: string;
  readonly expression: string;
  /** The tags' hash codes; null: every message. */
  readonly codes: readonly number[] | null;
  /** Decimal text: Go's are beyond 2^53. */
  readonly version: string;
}

export interface EnsureTopic {
  readonly token: number;
  readonly topic: string;
  readonly defaultTopic: string;
  readonly queueCount: number;
  readonly unit: boolean;
}

export interface EnsureGroup {
  readonly group: string;
}

export interface TopicEnsured {
  readonly token: number;
  /** 0, or the response code to answer the waiting sends with. */
  readonly code: number;
  readonly remark: string;
}

export interface ReplyPushed {
  readonly token: number;
  /** null: the client has taken it; else why it could not be given it. */
  readonly fault: string | null;
}

export interface ConnectionOpened {
  readonly connectionId: number;
  readonly host: string;
  readonly port: number;
}

/** A name server (or other peer) that the coordinator wants a connection to. */
export interface OpenPeer {
  readonly peerId: number;
  readonly host: string;
  readonly port: number;
}

/** connectionId -1: not connected (could not connect, or closed). */
export interface PeerState {
  readonly peerId: number;
  readonly connectionId: number;
  readonly error: string;
}

export interface QueueEntry {
  readonly key: number;
  readonly topic: string;
  readonly queueId: number;
  /** Records of its name before this position in the log are of a topic that was removed; absent: none. */
  readonly from?: number | undefined;
}

export interface QueuesAdded {
  readonly queues: readonly QueueEntry[];
}

export interface QueuesRemoved {
  readonly keys: readonly number[];
}
