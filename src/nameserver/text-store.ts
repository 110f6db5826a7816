// Where the name server keeps a text over restarts; who opens a name server decides what is behind it.

export interface TextStore {
  /** null where nothing was saved yet. */
  load(): string | null;
  /** Returns when the text is safe; throws where it cannot be kept. */
  save(text: string): void;
}

/** Forgets all with the process: for tests and for brokers in memory. */
export class MemoryTextStore implements TextStore {
  #text: string | null = null;

  load(): string | null {
    return this.#text;
  }

  save(text: string): void {
    this.#text = text;
  }
}
