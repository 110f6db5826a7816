// The contents of one file in memory: pages that exist only where something other than zeros was written.

const PAGE_SIZE = 4096;

export class SparseBytes {
  readonly #pages = new Map<number, Uint8Array>();
  #sizeBytes = 0;

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Memory held, for tests and limits. */
  get heldBytes(): number {
    return this.#pages.size * PAGE_SIZE;
  }

  read(into: Uint8Array, at: number, size: number, position: number): number {
    const count = Math.max(0, Math.min(size, this.#sizeBytes - position));
    for (let done = 0; done < count; ) {
      const within = (position + done) % PAGE_SIZE;
      const part = Math.min(PAGE_SIZE - within, count - done);
      const page = this.#pages.get((position + done - within) / PAGE_SIZE);
      if (page === undefined) into.fill(0, at + done, at + done + part);
      else into.set(page.subarray(within, within + part), at + done);
      done += part;
    }
    return count;
  }

  write(from: Uint8Array, at: number, size: number, position: number): void {
    for (let done = 0; done < size; ) {
      const within = (position + done) % PAGE_SIZE;
      const part = Math.min(PAGE_SIZE - within, size - done);
      const index = (position + done - within) / PAGE_SIZE;
      let page = this.#pages.get(index);
      if (page === undefined) {
        page = new Uint8Array(PAGE_SIZE);
        this.#pages.set(index, page);
      }
      page.set(from.subarray(at + done, at + done + part), within);
      done += part;
    }
    this.#sizeBytes = Math.max(this.#sizeBytes, position + size);
  }

  /** What is cut off reads as zeros when the file grows again. */
  truncate(sizeBytes: number): void {
    if (sizeBytes < this.#sizeBytes) {
      const kept = Math.ceil(sizeBytes / PAGE_SIZE);
      for (const index of this.#pages.keys()) if (index >= kept) this.#pages.delete(index);
      const within = sizeBytes % PAGE_SIZE;
      if (within > 0) this.#pages.get(kept - 1)?.fill(0, within);
    }
    this.#sizeBytes = sizeBytes;
  }
}
