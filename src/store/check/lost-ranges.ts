// Stretches of the log that are lost and told of already: what points into them is no finding of its own.

export class LostRanges {
  readonly #ranges: { readonly from: number; readonly to: number }[] = [];

  /** @param to Infinity where nothing sound follows. */
  add(from: number, to: number): void {
    this.#ranges.push({ from, to });
  }

  get isEmpty(): boolean {
    return this.#ranges.length === 0;
  }

  covers(position: number): boolean {
    return this.#ranges.some(({ from, to }) => position >= from && position < to);
  }

  /** True where some of it lies in [from, to). */
  touches(from: number, to: number): boolean {
    return this.#ranges.some((range) => range.from < to && range.to > from);
  }
}
