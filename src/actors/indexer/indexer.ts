// Follows the log into the index files, and finds messages by key.

import { high32, join64, low32, readUtf8 } from '../../base/bytes.ts';
import { errorText } from '../../base/errors.ts';
import { RateLimit } from '../../base/rate-limit.ts';
import type { Actor } from '../../runtime/actor.ts';
import { CounterIds } from '../../runtime/counters.ts';
import type { RingHandler, RingReader } from '../../runtime/ring.ts';
import { Checkpoint } from '../../store/checkpoint.ts';
import { isNoSpace } from '../../store/files/files.ts';
import { IndexFiles, type IndexOpening } from '../../store/index-files.ts';
import { storeFolders } from '../../store/store-folders.ts';
import type { ActorContext } from '../context.ts';
import { Positions } from '../context.ts';
import { LogFollower } from '../log-follower.ts';
import { Messages } from '../messages.ts';
import type { Outbox } from '../outbox.ts';
import { RecordKeys } from './record-keys.ts';

/** Entries in one cycle, so that the thread's other actors are not kept waiting. */
const FOLLOW_COUNT_MAX = 512;
/** Nobody waits for the index but queries, which catch up first: it is looked after this often. */
const POLL_MS = 50;
/** A start after a kill goes on from the last flush. Under load each writes the whole table of slots, 20 MB: oftener would cost more than it spares. */
const FLUSH_MS = 10_000;
/** An idle log is looked at less often, yet often enough that a sudden load does not overrun the feed meanwhile. */
const POLL_MS_MAX = 400;
/** An index that found no room is tried again this often; its deadline is the poll, which goes on meanwhile. */
const REOPEN_MS = 10_000;
const NO_SPACE_LINE_MS = 60_000;

export class Indexer implements Actor {
  readonly name: string;
  readonly #context: ActorContext;
  readonly #lines: { ring: RingReader; handler: RingHandler }[] = [];
  readonly #keys: RecordKeys;
  readonly #enabled: boolean;
  readonly #checkpoint: Checkpoint;
  #follower: LogFollower | null = null;
  #index: IndexFiles | null = null;
  #nextPollMs = 0;
  #pollMs = POLL_MS;
  /** Where the log began when index files were last looked through. */
  #logMin = 0;
  #flushAtMs = 0;
  /** When an index that found no room is tried again. */
  #reopenAtMs = Number.POSITIVE_INFINITY;
  readonly #noSpaceLines = new RateLimit(NO_SPACE_LINE_MS);
  /** Where the log ended at the start. */
  #startEnd = 0;
  /** Since the last poll. */
  #insertedCount = 0;

  constructor(context: ActorContext) {
    this.name = context.name;
    this.#context = context;
    this.#enabled = context.settings.messageIndexEnable;
    this.#keys = new RecordKeys(context);
    this.#checkpoint = new Checkpoint(context.files, context.settings.storePathRootDir);
    for (const inbox of context.inboxes)
      this.#lines.push({ ring: inbox.ring, handler: this.#handlerFor(inbox.ring, context.outbox(inbox.from)) });
  }

  start(): void {
    const { boot } = this.#context;
    if (!this.#enabled) return;
    this.#checkpoint.load();
    this.#open({ abnormal: boot.abnormal, written: boot.written, syncedTimeMs: boot.indexedTimeMs }, boot.dispatchFrom);
  }

  /** @param knownTo the index may lack records from here on, whatever its files say. */
  #open(opening: IndexOpening, knownTo: number): void {
    const { files, settings, positions, clock } = this.#context;
    const index = IndexFiles.open(files, storeFolders(settings.storePathRootDir).index, settings.maxHashSlotNum, settings.maxIndexNum, {
      ...opening,
      logPositionMax: positions.get(Positions.appended),
    });
    this.#index = index;
    this.#startEnd = positions.get(Positions.appended);
    // Where no index is left, all of the log is indexed again, while everything else is served.
    const from = index.fileCount > 0 ? Math.min(knownTo, index.newestPosition) : positions.get(Positions.logMin);
    this.#follower = new LogFollower(
      this.#context,
      this.#keys.handler((hash, position, timeMs) => this.#insert(hash, position, timeMs)),
      () => 0,
      Math.max(from, positions.get(Positions.logMin)),
    );
    this.#nextPollMs = clock.steadyMs();
    this.#flushAtMs = clock.steadyMs() + FLUSH_MS;
    positions.set(Positions.indexed, this.#follower.position);
  }

  doWork(): number {
    let work = this.#startGoesFirst() ? 0 : this.#follow();
    for (const { ring, handler } of this.#lines) work += ring.drain(handler, 64);
    const logMin = this.#context.positions.get(Positions.logMin);
    if (logMin !== this.#logMin) this.#expire(logMin);
    if (this.#reopenAtMs !== Number.POSITIVE_INFINITY && this.#context.clock.steadyMs() >= this.#reopenAtMs) this.#reopen();
    return work;
  }

  deadlineMs(): number {
    return this.#enabled ? this.#nextPollMs : Number.POSITIVE_INFINITY;
  }

  stop(): void {
    const follower = this.#follower;
    if (follower === null) return;
    while (!follower.caughtUp) this.#follow();
    follower.close();
    this.#index?.close();
    this.#index = null;
    this.#checkpoint.close();
  }

  /** What a kill has left to be indexed again may be seconds of work: it waits until the broker is ready. */
  #startGoesFirst(): boolean {
    const { positions, clock } = this.#context;
    if (this.#follower === null || this.#follower.position >= this.#startEnd || positions.get(Positions.registered) === 1) return false;
    if (clock.steadyMs() >= this.#nextPollMs) this.#nextPollMs = clock.steadyMs() + POLL_MS;
    return true;
  }

  #follow(): number {
    if (this.#follower === null) return 0;
    const count = this.#follower.poll(FOLLOW_COUNT_MAX);
    this.#pace(count);
    if (count === 0) return 0;
    this.#context.counters.add(CounterIds.records, this.#insertedCount);
    this.#insertedCount = 0;
    this.#context.positions.set(Positions.indexed, this.#follower.position);
    return count;
  }

  /** Passes between two polls count for nothing: other actors' work on this thread must not make this one slower. */
  #pace(count: number): void {
    const nowMs = this.#context.clock.steadyMs();
    if (nowMs >= this.#flushAtMs) this.#flush(nowMs);
    if (count > 0) this.#pollMs = POLL_MS;
    else if (nowMs < this.#nextPollMs) return;
    else this.#pollMs = Math.min(POLL_MS_MAX, this.#pollMs * 2);
    this.#nextPollMs = nowMs + this.#pollMs;
  }

  /** A start after a kill goes on from here; one after a power failure from the newest file that is full and synced. */
  #flush(nowMs: number): void {
    this.#flushAtMs = nowMs + FLUSH_MS;
    try {
      this.#index?.flush();
      const syncedTimeMs = this.#index?.syncedTimeMs ?? 0;
      if (syncedTimeMs > 0) this.#checkpoint.setIndexTime(syncedTimeMs);
    } catch (error) {
      this.#giveUp(error, this.#follower?.position ?? 0);
    }
  }

  #insert(hash: number, position: number, timeMs: number): void {
    try {
      this.#index?.insertHashed(hash, position, timeMs);
      this.#insertedCount++;
    } catch (error) {
      this.#giveUp(error, position);
    }
  }

  #expire(logMin: number): void {
    this.#logMin = logMin;
    try {
      this.#index?.deleteExpired(logMin);
    } catch (error) {
      this.#context.log.warn('an expired index file could not be deleted; it is tried again when the log begins later', {
        error: errorText(error),
      });
    }
  }

  /** The log has all that it lacks, and is followed again from where its files end. */
  #reopen(): void {
    this.#reopenAtMs = Number.POSITIVE_INFINITY;
    this.#follower?.close();
    this.#open({}, Number.POSITIVE_INFINITY);
  }

  #giveUp(cause: unknown, position: number): void {
    const { log, clock } = this.#context;
    const index = this.#index;
    const error = errorText(cause);
    this.#index = null;
    if (isNoSpace(cause)) {
      this.#reopenAtMs = clock.steadyMs() + REOPEN_MS;
      const suppressed = this.#noSpaceLines.admit(clock.steadyMs());
      if (suppressed >= 0)
        log.error('there is no room for the index: queries by key find nothing until there is', { error, position, suppressed });
    } else
      log.error('writing the index failed: queries by key find nothing until the next start, which makes it again', { error, position });
    try {
      index?.abandon();
    } catch (failure) {
      log.error('removing the damaged index file failed: delete the store’s index folder before the next start', {
        error: errorText(failure),
      });
    }
  }

  #handlerFor(ring: RingReader, outbox: Outbox): RingHandler {
    return {
      onRecord: (_type, at, size) => {
        while (this.#follower !== null && !this.#follower.caughtUp) this.#follow();
        const { words } = ring;
        const word = at >> 2;
        const begin = join64(words[word + 2] as number, words[word + 3] as number);
        const end = join64(words[word + 4] as number, words[word + 5] as number);
        const key = readUtf8(ring.bytes, at + 24, at + size);
        const found = this.#index?.query(key, words[word + 1] as number, begin, end) ?? [];
        const newest = { timeMs: this.#index?.newestTimeMs ?? 0, position: this.#index?.newestPosition ?? 0 };
        const answer = [
          words[word] as number,
          high32(newest.timeMs),
          low32(newest.timeMs),
          high32(newest.position),
          low32(newest.position),
          found.length,
        ];
        for (const position of found) answer.push(high32(position), low32(position));
        outbox.send(Messages.keyQueried, answer);
        outbox.flush();
        return true;
      },
    };
  }
}
