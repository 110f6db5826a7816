// Follows the log record by record: by the feed while it keeps up, by re-reading the files after a start or when it fell behind.
//
// Both ways hand the same entries to the same handler, so start, recovery and normal running are one code path.
import { assert } from '../base/assert.ts';
import { readUtf8 } from '../base/bytes.ts';
import { indexKeyHash, tagKeyHash, topicKeyHash } from '../message/index-key.ts';
import { PropertyScan, scanProperties } from '../message/properties.ts';
import {
  propertiesAt,
  propertiesSize,
  readQueueId,
  readQueueOffset,
  readStoreTimeMs,
  readSysFlag,
  SysFlags,
  topicAt,
  topicSize,
} from '../message/record.ts';
import { tagsCodeOf } from '../message/tags.ts';
import type { FeedHandler, FeedReader } from '../runtime/feed.ts';
import { LogWalker, WalkStops } from '../store/log-walker.ts';
import type { ActorContext } from './context.ts';
import { Positions } from './context.ts';
import { keyFlags } from './key-flags.ts';
import { RecordFlags } from './messages.ts';

/** Records in one turn of re-reading, so that the rest of the thread lives on. */
const REREAD_COUNT_MAX = 2_048;

/** Finds the queue key of a record at a position; -1 where the queue is gone, or was another one then: the record is passed over. */
export type KeyLookUp = (topic: string, queueId: number, position: number) => number;

export class LogFollower {
  /** Everything before it was handed on. */
  position: number;
  readonly #context: ActorContext;
  readonly #feed: FeedReader;
  readonly #handler: FeedHandler;
  readonly #keyOf: KeyLookUp;
  readonly #scan = new PropertyScan();
  #walker: LogWalker | null = null;
  #byFeed = false;
  /** How often the feed overran this follower. */
  overrunCount = 0;

  constructor(context: ActorContext, handler: FeedHandler, keyOf: KeyLookUp, from: number = context.boot.dispatchFrom) {
    this.#context = context;
    this.#feed = context.feedReader();
    this.#handler = handler;
    this.#keyOf = keyOf;
    this.position = from;
  }

  /** True when nothing written before this call is left to follow. */
  get caughtUp(): boolean {
    return this.position >= this.#context.positions.get(Positions.appended);
  }

  /** Hands on what is new, up to `limit` entries; returns how many. */
  poll(limit: number): number {
    try {
      if (!this.#byFeed && !this.#joinFeed()) return this.#reread(limit);
      const count = this.#feed.poll(this.#onEntry, limit);
      if (count >= 0) return count;
      this.overrunCount++;
      this.#byFeed = false;
      return this.#reread(limit);
    } catch (error) {
      // The entry at which the handler threw is handed on again by the next poll.
      this.#byFeed = false;
      this.close();
      throw error;
    }
  }

  close(): void {
    this.#walker?.close();
    this.#walker = null;
  }

  readonly #onEntry: FeedHandler = {
    onEntry: (key, queueOffset, position, size, tagsCode, storeTimeMs, flags, uniqueKeyHash, tagHash) => {
      // After a re-read the feed starts with entries that were handed on already.
      if (position < this.position) return;
      this.#handler.onEntry(key, queueOffset, position, size, tagsCode, storeTimeMs, flags, uniqueKeyHash, tagHash);
      this.position = position + size;
    },
  };

  /** True when the feed still holds the next record, or stands where it will come. */
  #joinFeed(): boolean {
    if (this.#feed.resync() > this.position) return false;
    this.#byFeed = true;
    this.close();
    return true;
  }

  #reread(limit: number): number {
    const { positions, settings, files } = this.#context;
    const end = positions.get(Positions.appended);
    if (this.position >= end) return 0;
    if (this.#walker === null) {
      this.#walker = new LogWalker(files, settings.storePathCommitLog, settings.mappedFileSizeCommitLog);
      this.#walker.seek(this.position);
    }
    const walker = this.#walker;
    let count = 0;
    while (count < Math.min(limit, REREAD_COUNT_MAX) && walker.next(end)) {
      this.#handOn(walker);
      this.position = walker.position + walker.size;
      count++;
    }
    if (count === 0) this.#skip(walker, end);
    return count + 1;
  }

  /** No record up to the end: only a blank at a file's end may be left, or what retention took meanwhile. */
  #skip(walker: LogWalker, end: number): void {
    if (walker.stop === WalkStops.end) this.position = end;
    else if (walker.stop === WalkStops.gone) {
      this.position = Math.max(this.position, this.#context.positions.get(Positions.logMin));
      this.close();
    } else assert(false, `the log can be re-read from position=${walker.position} fault=${walker.fault} appended=${end}`);
  }

  #handOn(walker: LogWalker): void {
    const { bytes, at, size } = walker;
    const topic = topicAt(bytes, at);
    const topicEnd = topic + topicSize(bytes, at);
    const key = this.#keyOf(readUtf8(bytes, topic, topicEnd), readQueueId(bytes, at), walker.position);
    if (key < 0) return;
    const properties = propertiesAt(bytes, at);
    const scan = this.#scan;
    scanProperties(bytes, properties, properties + propertiesSize(bytes, at), scan);
    const tagsCode = scan.tagsAt < 0 ? 0 : tagsCodeOf(bytes, scan.tagsAt, scan.tagsEnd);
    const ofKeys = keyFlags(scan.uniqueKeyAt >= 0, scan.keysAt >= 0, scan.hasTag, readSysFlag(bytes, at));
    const topicHash = topicKeyHash(bytes, topic, topicEnd);
    const hashed = (ofKeys & RecordFlags.uniqueKeyHashed) !== 0;
    const uniqueKeyHash = hashed ? indexKeyHash(topicHash, bytes, scan.uniqueKeyAt, scan.uniqueKeyEnd) : 0;
    const tagHash = (ofKeys & RecordFlags.tagHashed) === 0 ? 0 : tagKeyHash(topicHash, bytes, scan.tagsAt, scan.tagsEnd);
    const transaction = readSysFlag(bytes, at) & SysFlags.transactionMask;
    const unnumbered = transaction === SysFlags.prepared || transaction === SysFlags.rollback;
    const flags = ofKeys | (unnumbered ? RecordFlags.noQueueOffset : 0);
    const queueOffset = readQueueOffset(bytes, at);
    const timeMs = readStoreTimeMs(bytes, at);
    this.#handler.onEntry(key, queueOffset, walker.position, size, tagsCode, timeMs, flags, uniqueKeyHash, tagHash);
  }
}
