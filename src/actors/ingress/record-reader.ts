// Reads records of the log for answers: from the tail window while they are there, else from the files.
import { join64 } from '../../base/bytes.ts';
import { CounterIds } from '../../runtime/counters.ts';
import type { WindowReader } from '../../runtime/tail-window.ts';
import { LogReader } from '../../store/log-reader.ts';
import type { ActorContext } from '../context.ts';
import { Positions } from '../context.ts';

const SPAN_WORDS = 3;

export class RecordReader {
  readonly #context: ActorContext;
  readonly #window: WindowReader;
  readonly #log: LogReader;

  constructor(context: ActorContext) {
    this.#context = context;
    this.#window = context.windowReader();
    this.#log = new LogReader(context.files, context.settings.storePathCommitLog, context.settings.mappedFileSizeCommitLog);
  }

  /** False where the log does not have these bytes (any more). */
  read(position: number, size: number, into: Uint8Array, at: number): boolean {
    const { positions, counters } = this.#context;
    if (position + size > positions.get(Positions.appended)) return false;
    if (this.#window.read(position, size, into, at)) return true;
    counters.add(CounterIds.windowMisses, 1);
    this.#log.setStable(positions.get(Positions.appended));
    this.#log.setMin(positions.get(Positions.logMin));
    return this.#log.read(position, size, into, at);
  }

  /**
   * Reads the records of spans (position high, low, size: three words each) one behind the other; returns the end in `into`, or -1 where
   * one of them is gone. The usual case is checked once for all: everything in the window, and still there after the copying.
   */
  readSpans(words: Int32Array, word: number, count: number, into: Uint8Array, at: number): number {
    const low = this.#window.low();
    // After a start the window is empty: it lies before all that the files have.
    const high = this.#window.high();
    let lowest = Number.POSITIVE_INFINITY;
    let end = at;
    for (let i = 0, span = word; i < count; i++, span += SPAN_WORDS) {
      const position = join64(words[span] as number, words[span + 1] as number);
      const size = words[span + 2] as number;
      if (position < low || position + size > high) return this.#readEach(words, word, count, into, at);
      this.#window.copy(position, size, into, end);
      if (position < lowest) lowest = position;
      end += size;
    }
    return count === 0 || this.#window.isIntact(lowest) ? end : this.#readEach(words, word, count, into, at);
  }

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
