// Numbers every (topic, queue) densely: the number is what rings carry and what hot paths index arrays by.
import { assert } from '../base/assert.ts';

export interface QueueKey {
  readonly key: number;
  readonly topic: string;
  readonly queueId: number;
}

/** A hole in a topic's list: a queue that start found no files of and that nobody has asked for yet. */
const NONE = -1;

export class KeyTable {
  readonly #keys = new Map<string, number[]>();
  readonly #keyCountMax: number;
  #nextKey: number;

  /** @param nextKey the first key never given out; keys of removed queues are not used again before the next start. */
  constructor(known: readonly QueueKey[], nextKey: number, keyCountMax: number) {
    this.#nextKey = nextKey;
    this.#keyCountMax = keyCountMax;
    for (const { key, topic, queueId } of known) {
      assert(key < nextKey, `queue key ${key} is below the next key ${nextKey}`);
      const keys = this.#keys.get(topic) ?? [];
      while (keys.length <= queueId) keys.push(NONE);
      keys[queueId] = key;
      this.#keys.set(topic, keys);
    }
  }

  get nextKey(): number {
    return this.#nextKey;
  }

  /** How many more queues can get a key. */
  get room(): number {
    return this.#keyCountMax - this.#nextKey;
  }

  /** How many keys `extend` would have to give out. */
  missing(topic: string, queueCount: number): number {
    const keys = this.#keys.get(topic) ?? [];
    let count = Math.max(0, queueCount - keys.length);
    for (let i = 0; i < Math.min(queueCount, keys.length); i++) if (keys[i] === NONE) count++;
    return count;
  }

  /** Gives every queue below `queueCount` a key; returns those that are new. The caller has checked `room`. */
  extend(topic: string, queueCount: number): QueueKey[] {
    assert(this.missing(topic, queueCount) <= this.room, `no room for ${queueCount} queues of ${topic}`);
    const keys = this.#keys.get(topic) ?? [];
    const added: QueueKey[] = [];
    for (let queueId = 0; queueId < queueCount; queueId++) {
      if (queueId < keys.length && keys[queueId] !== NONE) continue;
      const key = this.#nextKey++;
      keys[queueId] = key;
      added.push({ key, topic, queueId });
    }
    if (keys.length > 0) this.#keys.set(topic, keys);
    return added;
  }

  /** The key of a queue, -1 where it has none. */
  keyOf(topic: string, queueId: number): number {
    return this.#keys.get(topic)?.[queueId] ?? NONE;
  }

  /** Keys of the queues [0, queueCount), all of which must have one. */
  keysOf(topic: string, queueCount: number): number[] {
    const keys = (this.#keys.get(topic) ?? []).slice(0, queueCount);
    assert(keys.length === queueCount && !keys.includes(NONE), `every queue of ${topic} has a key`);
    return keys;
  }

  /** Forgets the topic; a later one of the same name gets new keys and so starts empty. */
  remove(topic: string): number[] {
    const keys = this.#keys.get(topic) ?? [];
    this.#keys.delete(topic);
    return keys.filter((key) => key !== NONE);
  }
}
