// All figures that tools ask for, by name and key; a limit bounds how many are kept.
import { StatItem } from './stat-item.ts';

export const StatNames = {
  /** Key: topic. */
  topicPutNums: 'TOPIC_PUT_NUMS',
  topicPutSize: 'TOPIC_PUT_SIZE',
  /** Key: topic@queueId. */
  queuePutNums: 'QUEUE_PUT_NUMS',
  queuePutSize: 'QUEUE_PUT_SIZE',
  /** Key: topic@group. */
  groupGetNums: 'GROUP_GET_NUMS',
  groupGetSize: 'GROUP_GET_SIZE',
  sendBackNums: 'SNDBCK_PUT_NUMS',
  /** Key: topic@queueId@group. */
  queueGetNums: 'QUEUE_GET_NUMS',
  queueGetSize: 'QUEUE_GET_SIZE',
  /** Key: cluster. */
  brokerPutNums: 'BROKER_PUT_NUMS',
  brokerGetNums: 'BROKER_GET_NUMS',
  brokerPutNumsWithoutSystem: 'BROKER_PUT_NUMS_WITHOUT_SYSTEM_TOPIC',
  brokerGetNumsWithoutSystem: 'BROKER_GET_NUMS_WITHOUT_SYSTEM_TOPIC',
} as const;
export type StatName = (typeof StatNames)[keyof typeof StatNames];

export class StatTable {
  readonly #items = new Map<string, Map<string, StatItem>>();
  readonly #countMax: number;
  #count = 0;
  /** Figures that found no room. */
  refusedCount = 0;

  /** @param countMax figures kept at once; beyond it new keys are not counted until others have gone. */
  constructor(countMax: number) {
    this.#countMax = countMax;
    for (const name of Object.values(StatNames)) this.#items.set(name, new Map());
  }

  get count(): number {
    return this.#count;
  }

  get(name: string, key: string): StatItem | undefined {
    return this.#items.get(name)?.get(key);
  }

  add(name: StatName, key: string, value: number, events: number): void {
    const items = this.#items.get(name) as Map<string, StatItem>;
    let item = items.get(key);
    if (item === undefined) {
      if (this.#count >= this.#countMax) {
        this.refusedCount++;
        return;
      }
      item = new StatItem();
      items.set(key, item);
      this.#count++;
    }
    item.add(value, events);
  }

  /** Those that have not grown for a day go. */
  sample(nowMs: number): void {
    for (const items of this.#items.values()) {
      for (const [key, item] of items) {
        item.sample(nowMs);
        if (item.isIdle) this.#drop(items, key);
      }
    }
  }

  topicRemoved(topic: string): void {
    this.#dropWhere((parts) => parts[0] === topic);
  }

  groupRemoved(group: string): void {
    this.#dropWhere((parts) => parts.length > 1 && parts.at(-1) === group);
  }

  /** Keys of the cluster have one part, like those of topics: names of clusters are topics, too. */
  #dropWhere(isGone: (parts: readonly string[]) => boolean): void {
    for (const [name, items] of this.#items) {
      if (name.startsWith('BROKER_')) continue;
      for (const key of items.keys()) if (isGone(key.split('@'))) this.#drop(items, key);
    }
  }

  #drop(items: Map<string, StatItem>, key: string): void {
    if (items.delete(key)) this.#count--;
  }
}
