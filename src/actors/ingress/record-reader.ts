// Reads records of the log for answers: from the tail window while they are there, else from the files.
import { CounterIds } from '../../runtime/counters.ts';
import type { WindowReader } from '../../runtime/tail-window.ts';
import { LogReader } from '../../store/log-reader.ts';
import type { ActorContext } from '../context.ts';
import { Positions } from '../context.ts';

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

  close(): void {
    this.#log.close();
  }
}
