// Answers look-ups in a queue: by time, and of the times of its messages.
import { high32, join64, low32, readI64 } from '../../base/bytes.ts';
import { readStoreTimeMs } from '../../message/record.ts';
import type { WindowReader } from '../../runtime/tail-window.ts';
import { type ConsumeQueue, UNIT_SIZE } from '../../store/consume-queue.ts';
import type { ConsumeQueues } from '../../store/consume-queues.ts';
import { LogReader } from '../../store/log-reader.ts';
import type { ActorContext } from '../context.ts';
import { Positions } from '../context.ts';
import { LookUps, Messages } from '../messages.ts';
import type { Outbox } from '../outbox.ts';

/** Enough of a record to hold its store time, also where its born host is an IPv6 address. */
const HEAD_SIZE = 76;

export class LookUpDesk {
  readonly #context: ActorContext;
  readonly #queues: ConsumeQueues;
  readonly #window: WindowReader;
  readonly #log: LogReader;
  readonly #unit = new Uint8Array(UNIT_SIZE);
  readonly #head = new Uint8Array(HEAD_SIZE);

  constructor(context: ActorContext, queues: ConsumeQueues) {
    this.#context = context;
    this.#queues = queues;
    this.#window = context.windowReader();
    this.#log = new LogReader(context.files, context.settings.storePathCommitLog, context.settings.mappedFileSizeCommitLog);
  }

  /** token, queueKey, kind, argument x2; false where the answer does not fit now. */
  answer(outbox: Outbox, words: Int32Array, word: number): boolean {
    const { ring } = outbox;
    const at = ring.claim(12);
    if (at < 0) return false;
    const queue = this.#queues.get(words[word + 1] as number);
    const argument = join64(words[word + 3] as number, words[word + 4] as number);
    const value = queue === undefined ? -1 : this.#lookUp(queue, words[word + 2] as number, argument);
    const out = at >> 2;
    ring.words[out] = words[word] as number;
    ring.words[out + 1] = high32(value);
    ring.words[out + 2] = low32(value);
    ring.commit(Messages.lookedUp);
    return true;
  }

  #lookUp(queue: ConsumeQueue, kind: number, argument: number): number {
    const logMin = this.#context.positions.get(Positions.logMin);
    queue.raiseMin(logMin);
    this.#log.setMin(logMin);
    if (kind === LookUps.firstAtOrAfter) return queue.firstAtOrAfter(argument, this.#timeOf);
    if (kind === LookUps.lastAtOrBefore) return queue.lastAtOrBefore(argument, this.#timeOf);
    const offset = kind === LookUps.earliestTime ? queue.offsetMin : argument;
    if (offset < queue.offsetMin || offset >= queue.offsetMax) return -1;
    if (queue.readUnits(offset, 1, this.#unit, 0) !== 1) return -1;
    const position = readI64(this.#unit, 0);
    return kind === LookUps.positionAt ? position : this.#timeOf(position);
  }

  /** Store time of the record at a position; -1 where it is gone: it is then older than any that is left. */
  readonly #timeOf = (position: number): number => {
    const size = this.#head.length;
    if (!this.#window.read(position, size, this.#head, 0)) {
      this.#log.setStable(Math.min(this.#window.low(), this.#context.positions.get(Positions.appended)));
      if (!this.#log.read(position, size, this.#head, 0)) return -1;
    }
    return readStoreTimeMs(this.#head, 0);
  };
}
