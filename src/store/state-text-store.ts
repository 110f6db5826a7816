// One small text kept as a state file: written whole, with the one before it kept for the case that this one is damaged.
import { ErrorCodes, RingmqError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Files } from './files/files.ts';
import { StateFile } from './state-file.ts';

export class StateTextStore {
  readonly #file: StateFile;
  readonly #faultOf: (text: string) => string | null;

  /** @param faultOf why a text that was read is damaged; null where it is whole. */
  constructor(files: Files, path: string, log: Log, faultOf: (text: string) => string | null = () => null) {
    this.#file = new StateFile(files, path, log);
    this.#faultOf = faultOf;
  }

  /** null where nothing was saved yet. Throws RingmqError `store` where neither the text nor the one before it is whole. */
  load(): string | null {
    return this.#file.load((text) => {
      const fault = this.#faultOf(text);
      if (fault !== null) throw new RingmqError(ErrorCodes.malformed, fault, {});
      return text;
    });
  }

  /** The text is on stable storage when this returns. */
  save(text: string): void {
    this.#file.save(text);
  }
}
