// A first-in first-out queue whose cost per item does not grow with the items that wait.

/** Items that have left are dropped from the array's front in blocks of at least this many. */
const trimCount = 1024;

export class Fifo<T> {
  #items: T[] = [];
  #headIndex = 0;

  get count(): number {
    return this.#items.length - this.#headIndex;
  }

  /** The oldest item, which stays; undefined when there is none. */
  peek(): T | undefined {
    return this.#items[this.#headIndex];
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    if (this.#headIndex === this.#items.length) return undefined;
    const item = this.#items[this.#headIndex];
    this.#headIndex++;
    if (this.#headIndex === this.#items.length) this.clear();
    else if (this.#headIndex >= trimCount && this.#headIndex * 2 >= this.#items.length) {
      this.#items.splice(0, this.#headIndex);
      this.#headIndex = 0;
    }
    return item;
  }

  clear(): void {
    this.#items.length = 0;
    this.#headIndex = 0;
  }
}
