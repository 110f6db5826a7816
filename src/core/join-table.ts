// When each group first subscribed to each topic, and where the topic's queues ended then: a new group that wants the end starts there.

export interface Join {
  readonly joinedAtMs: number;
  /** ends[queueId] at the time of joining; a queue beyond the list did not exist yet. */
  readonly ends: readonly number[];
  /** As the group's members said last: CONSUME_FROM_LAST_OFFSET and the like. */
  readonly consumeFromWhere: string;
}

export type JoinRows = ReadonlyMap<string, Join>;

/** Joins of topics that are not there: clients may name any, and all joins are written whenever one is added. */
export const ABSENT_JOIN_COUNT_MAX = 4096;

const SEPARATOR = '@';

export class JoinTable {
  readonly #joins = new Map<string, Join>();
  /** Those of topics that are gone or never were: they go first where there are too many. */
  readonly #absent = new Set<string>();
  readonly #joinCountMax: number;
  readonly #absentCountMax: number;
  #dirty = false;

  constructor(joinCountMax: number, absentCountMax = ABSENT_JOIN_COUNT_MAX) {
    this.#joinCountMax = joinCountMax;
    this.#absentCountMax = absentCountMax;
  }

  get dirty(): boolean {
    return this.#dirty;
  }

  get rows(): JoinRows {
    return this.#joins;
  }

  markSaved(): void {
    this.#dirty = false;
  }

  load(rows: JoinRows): void {
    for (const [key, join] of rows) this.#put(key, join);
  }

  get(group: string, topic: string): Join | undefined {
    return this.#joins.get(topic + SEPARATOR + group);
  }

  /** Notes a subscription; only the first one of a group to a topic counts. True when something changed. */
  note(group: string, topic: string, consumeFromWhere: string, joinedAtMs: number, endsNow: () => number[]): boolean {
    const key = topic + SEPARATOR + group;
    const old = this.#joins.get(key);
    if (old !== undefined && old.consumeFromWhere === consumeFromWhere) return false;
    this.#put(key, old === undefined ? { joinedAtMs, ends: endsNow(), consumeFromWhere } : { ...old, consumeFromWhere });
    if (this.#joins.size > this.#joinCountMax || this.#absent.size > this.#absentCountMax) this.#evict();
    this.#dirty = true;
    return true;
  }

  /** The topic is gone. Its groups joined before whatever comes under its name next, so they get that from the first message. */
  dropTopic(topic: string): void {
    for (const [key, join] of this.#joins) {
      if (!key.startsWith(topic + SEPARATOR) || join.ends.length === 0) continue;
      this.#put(key, { ...join, ends: [] });
      this.#dirty = true;
    }
  }

  dropGroup(group: string): void {
    for (const key of this.#joins.keys()) {
      if (key.slice(key.indexOf(SEPARATOR) + 1) !== group) continue;
      this.#drop(key);
      this.#dirty = true;
    }
  }

  /** The oldest goes; those of topics that are gone or never were go first. Found at once: a heartbeat may name thousands of such. */
  #evict(): void {
    for (const key of this.#absent) {
      this.#drop(key);
      return;
    }
    for (const key of this.#joins.keys()) {
      this.#drop(key);
      return;
    }
  }

  #put(key: string, join: Join): void {
    this.#joins.set(key, join);
    if (join.ends.length === 0) this.#absent.add(key);
    else this.#absent.delete(key);
  }

  #drop(key: string): void {
    this.#joins.delete(key);
    this.#absent.delete(key);
  }
}
