// Reads records of the log, for answers and to store them again: from the tail window while they are there, else from the files.
import { join64 } from '../base/bytes.ts';
import { CounterIds } from '../runtime/counters.ts';
import type { WindowReader } from '../runtime/tail-window.ts';
import { LogReader } from '../store/log-reader.ts';
import type { ActorContext } from './context.ts';
import { Positions } from './context.ts';

const SPAN_WORDS = 3;

/** Files that were deleted are let go of this often, also where nobody reads. */
const SWEEP_MS = 1_000;
const LOG_BLOCK_SIZE = 256 * 1024;

export class RecordReader {
  readonly #context: ActorContext;
  readonly #window: WindowReader;
  readonly #log: LogReader;
  #sweptAtMs = 0;

  constructor(context: ActorContext) {
    this.#context = context;
    this.#window = context.windowReader();
    this.#log = new LogReader(context.files, context.settings.storePathCommitLog, context.settings.mappedFileSizeCommitLog, {
      blockSizeBytes: LOG_BLOCK_SIZE,
      blockCount: Math.floor(context.blocks.size / LOG_BLOCK_SIZE),
      memory: context.blocks,
    });
  }

  /** False where the log does not have these bytes (any more). */
  read(position: number, size: number, into: Uint8Array, at: number): boolean {
    const { positions, counters } = this.#context;
    if (position + size > positions.get(Positions.appended)) return false;
    if (this.#window.read(position, size, into, at)) return true;
    counters.add(CounterIds.windowMisses, 1);
    this.refresh();
    return this.#log.read(position, size, into, at) && !this.isGone(position);
  }

  /** Retention has taken the record, perhaps just now: what was read of it does not count. */
  isGone(position: number): boolean {
    return position < this.#context.positions.get(Positions.logMin);
  }

  sweep(nowMs: number): void {
    if (nowMs - this.#sweptAtMs < SWEEP_MS) return;
    this.#sweptAtMs = nowMs;
    this.refresh();
  }

  /**
   * Reads the records of spans (position high, low, size: three words each) one behind the other; returns the end in `into`, or -1 where
   * one of them is gone. Where the window and the log end is looked up once for all of them, and once more after the copying.
   */
  readSpans(words: Int32Array, word: number, count: number, into: Uint8Array, at: number): number {
    const window = this.#window;
    // After a start the window is empty: it lies before all that the files have.
    const low = window.low();
    const high = window.high();
    let lowest = Number.POSITIVE_INFINITY;
    let lowestInFiles = Number.POSITIVE_INFINITY;
    let missCount = 0;
    let end = at;
    for (let i = 0, span = word; i < count; i++, span += SPAN_WORDS) {
      const position = join64(words[span] as number, words[span + 1] as number);
      const size = words[span + 2] as number;
      if (position >= low && position + size <= high) {
        window.copy(position, size, into, end);
        if (position < lowest) lowest = position;
      } else {
        if (missCount++ === 0) this.refresh();
        if (!this.#log.read(position, size, into, end)) return -1;
        if (position < lowestInFiles) lowestInFiles = position;
      }
      end += size;
    }
    if (missCount > 0) {
      this.#context.counters.add(CounterIds.windowMisses, missCount);
      if (this.isGone(lowestInFiles)) return -1;
    }
    return lowest === Number.POSITIVE_INFINITY || window.isIntact(lowest) ? end : this.#readEach(words, word, count, into, at);
  }

  /** Tells the log's reader what may be kept and what is gone. */
  refresh(): void {
    const { positions } = this.#context;
    this.#log.setStable(positions.get(Positions.appended));
    this.#log.setMin(positions.get(Positions.logMin));
  }

  /** The slow way, after the window was overwritten under the copying. */
  #readEach(words: Int32Array, word: number, count: number, into: Uint8Array, at: number): number {
    let end = at;
    for (let i = 0, span = word; i < count; i++, span += SPAN_WORDS) {
      const size = words[span + 2] as number;
      if (!this.read(join64(words[span] as number, words[span + 1] as number), size, into, end)) return -1;
      end += size;
    }
    return end;
  }

  close(): void {
    this.#log.close();
  }
}
