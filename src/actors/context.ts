// What the composition root hands to every actor: its share of the memory, its mail, and the outside world as values.
import type { Region } from '../base/arena.ts';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import type { Settings } from '../config/settings.ts';
import type { DelayList } from '../core/delay-levels.ts';
import type { Wake } from '../runtime/actor.ts';
import type { Counters } from '../runtime/counters.ts';
import type { FeedReader, FeedWriter } from '../runtime/feed.ts';
import type { RingReader } from '../runtime/ring.ts';
import type { SharedNumbers } from '../runtime/shared-numbers.ts';
import type { WindowReader, WindowWriter } from '../runtime/tail-window.ts';
import type { Transport } from '../runtime/transport.ts';
import type { Files } from '../store/files/files.ts';
import type { BrokerFigures } from './figures.ts';
import type { QueueEntry } from './messages.ts';
import type { Outbox } from './outbox.ts';

/** Slots of the positions table; each has the one writer named, everybody reads. */
export const Positions = {
  /** Bytes of the log that are written to the files. commit-log */
  appended: 0,
  /** Bytes of the log that are on stable storage. flusher */
  synced: 1,
  /** First byte of the log that still exists. Set by the start, then by cleaner */
  logMin: 2,
  /** 1 once the log refuses writes after a failed write or sync. commit-log and flusher (each only ever sets 1) */
  readOnly: 3,
  /** Port of the broker's listener, 0 before it is bound; its descriptor + 1. ingress-0 */
  listenPort: 4,
  listenFd: 5,
  /** Port of the second (VIP) listener. ingress-0 */
  vipPort: 6,
  vipFd: 7,
  /** Port of the embedded name server. name-server */
  namesrvPort: 8,
  /** 1 once every name server has answered the first registration, or had its time. coordinator */
  registered: 9,
  /** 1 once the broker is stopping. main */
  stopping: 10,
  /** Bytes of the log followed by the indexer. indexer */
  indexed: 11,
  /** Store time of the newest record in `appended`. commit-log */
  appendedTimeMs: 12,
  /** How full the disks are, and whether that is why sends are refused: see packDiskState in core/retention.ts. flusher */
  diskState: 13,
  /** 1 once a queue file could not be synced: the store is not marked as cleanly stopped then. flusher */
  queuesUnsound: 14,
  /** Bytes of the log followed by dispatch-i, at dispatched + i; behind these three more for each, see `writtenSlot`. dispatch */
  dispatched: 16,
} as const;

/**
 * How far the queue units of a dispatcher are in files: at this slot of the positions table the end of the records that have theirs there,
 * then the start of the newest of these records, then its store time; 0 while nothing was written. Each value alone is true, now and later.
 */
export function writtenSlot(dispatchCount: number, index: number): number {
  return Positions.dispatched + dispatchCount + 3 * index;
}

export interface Inbox {
  /** Name of the sending actor. */
  readonly from: string;
  readonly ring: RingReader;
}

/** What start found in the store, the same for every actor. */
export interface Boot {
  readonly queues: readonly QueueEntry[];
  /** First queue key never given out. */
  readonly nextKey: number;
  /** Followers re-read the log from here. */
  readonly dispatchFrom: number;
  /** Newest store time in the log: later ones are not smaller. */
  readonly storeTimeMsMax: number;
  /** The last process did not stop cleanly. */
  readonly abnormal: boolean;
  /** It did not, but on this running system: all that it wrote is there, synced or not. */
  readonly written: boolean;
  /** Oldest first: which delays hold for messages that wait. See core/delay-levels.ts. */
  readonly delayLists: readonly DelayList[];
  /** Full index files up to this store time are on stable storage. */
  readonly indexedTimeMs: number;
  readonly runId: string;
  readonly startedAtMs: number;
}

export interface ActorContext {
  readonly name: string;
  readonly kind: string;
  /** Which of its kind: 0 for the first. */
  readonly index: number;
  /** How many actors of this name there were before it, in this process. */
  readonly incarnation: number;
  readonly settings: Settings;
  readonly boot: Boot;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly files: Files;
  readonly transport: Transport;
  readonly positions: SharedNumbers;
  /** Per queue key: offset of the next message. Written by the commit-log actor. */
  readonly queueEnds: SharedNumbers;
  /** Per queue key: min offset. Written by the dispatch actor that owns the key. */
  readonly queueBegins: SharedNumbers;
  /**
   * Per queue key: the lowest offset of all groups that have one, plus 1; 0 where none has. Written by the coordinator. Of the queues of
   * delay levels: up to where they are delivered, plus 1. Written by the scheduler.
   */
  readonly queueReads: SharedNumbers;
  readonly counters: Counters;
  /** Inbound rings, the system lane first. */
  readonly inboxes: readonly Inbox[];
  /** The outbox to an actor by its name; asserts that the topology has it. */
  outbox(to: string): Outbox;
  /** Names of all actors of a kind, in order. */
  namesOf(kind: string): readonly string[];
  /** Wakes every thread that hosts an actor of these names: after positions moved. */
  ringBells(names: readonly string[]): void;
  readonly wake: Wake;
  /** Live figures of all actors, read from their counters: for displays. */
  figures(): BrokerFigures;
  /** @param startPosition where the log's next record will stand. */
  feedWriter(startPosition: number): FeedWriter;
  feedReader(): FeedReader;
  windowWriter(): WindowWriter;
  windowReader(): WindowReader;
  /** An ingress's memory for answers; empty for other actors. */
  readonly output: Region;
  /** Memory for blocks of the log, of an ingress and the scheduler; empty for other actors. */
  readonly blocks: Region;
}
