// How far every group has read every queue, and which parts of that are not yet on disk.
import type { DataVersion } from '../protocol/bodies/data-version.ts';
import { firstVersion, nextVersion } from './data-version.ts';

/** `topic@group` -> queueId -> offset of the next message to read. */
export type OffsetRows = ReadonlyMap<string, ReadonlyMap<number, number>>;

export const NO_OFFSET = -1;

/** The stamp moves on only so often: slaves compare it to see whether to copy the table. */
const COMMITS_PER_VERSION = 500;

/** Of all groups and queues together: clients name them, so that one could fill the memory; real tables are far smaller. */
export const OFFSET_COUNT_MAX = 2_000_000;

const SEPARATOR = '@';

export interface ChangedOffset {
  /** `topic@group`. */
  readonly key: string;
  readonly queueId: number;
  readonly offset: number;
}

export interface OffsetTableState {
  readonly dataVersion: DataVersion | null;
  readonly rows: OffsetRows;
}

export class OffsetTable {
  readonly #rows = new Map<string, Map<number, number>>();
  /** What was put since the last `takeChanges`: key -> queue ids. */
  readonly #changes = new Map<string, Set<number>>();
  readonly #queueCountMax: number;
  readonly #countMax: number;
  #count = 0;
  #version: DataVersion;
  #commits = 0;
  #dirty = false;

  /** @param queueCountMax how many queues one row may hold: clients name them, and nobody checks that they exist. */
  constructor(wallMs: number, queueCountMax: number, countMax = OFFSET_COUNT_MAX) {
    this.#version = firstVersion(wallMs);
    this.#queueCountMax = queueCountMax;
    this.#countMax = countMax;
  }

  /** Offsets in it. */
  get count(): number {
    return this.#count;
  }

  get version(): DataVersion {
    return this.#version;
  }

  get dirty(): boolean {
    return this.#dirty;
  }

  get rows(): OffsetRows {
    return this.#rows;
  }

  /** What is in the table is now on disk. */
  markSaved(): void {
    this.#dirty = false;
    this.#changes.clear();
  }

  /** The offsets put since the last call or save, each once. */
  takeChanges(): ChangedOffset[] {
    const taken: ChangedOffset[] = [];
    for (const [key, queueIds] of this.#changes) {
      const row = this.#rows.get(key);
      for (const queueId of queueIds) {
        const offset = row?.get(queueId);
        if (offset !== undefined) taken.push({ key, queueId, offset });
      }
    }
    this.#changes.clear();
    return taken;
  }

  load(state: OffsetTableState): void {
    if (state.dataVersion !== null) this.#version = state.dataVersion;
    for (const [key, row] of state.rows) {
      this.#count += row.size - (this.#rows.get(key)?.size ?? 0);
      this.#rows.set(key, new Map(row));
    }
  }

  get(group: string, topic: string, queueId: number): number {
    return this.#rows.get(topic + SEPARATOR + group)?.get(queueId) ?? NO_OFFSET;
  }

  row(group: string, topic: string): ReadonlyMap<number, number> | undefined {
    return this.#rows.get(topic + SEPARATOR + group);
  }

  /** Takes any offset, also one below the last. False: the row is full, or the table. */
  put(group: string, topic: string, queueId: number, offset: number, wallMs: number): boolean {
    const key = topic + SEPARATOR + group;
    const row = this.#rows.get(key) ?? new Map<number, number>();
    const old = row.get(queueId);
    if (old === undefined && (row.size >= this.#queueCountMax || this.#count >= this.#countMax)) return false;
    if (++this.#commits % COMMITS_PER_VERSION === 0) this.#version = nextVersion(this.#version, wallMs);
    if (old === offset) return true;
    if (old === undefined) this.#count++;
    row.set(queueId, offset);
    this.#rows.set(key, row);
    this.#dirty = true;
    const changes = this.#changes.get(key);
    if (changes === undefined) this.#changes.set(key, new Set([queueId]));
    else changes.add(queueId);
    return true;
  }

  /**
   * Brings offsets that lie beyond the end of their queue back to it; returns how many.
   * @param endOf offset of a queue's next message; NO_OFFSET where there is no such queue: then its offset stays.
   */
  cutTo(endOf: (topic: string, queueId: number) => number): number {
    let count = 0;
    for (const [key, row] of this.#rows) {
      const topic = topicOf(key);
      for (const [queueId, offset] of row) {
        const end = endOf(topic, queueId);
        if (end === NO_OFFSET || offset <= end) continue;
        row.set(queueId, end);
        count++;
      }
    }
    if (count > 0) this.#dirty = true;
    return count;
  }

  dropTopic(topic: string): boolean {
    return this.#drop((key) => topicOf(key) === topic);
  }

  dropGroup(group: string): boolean {
    return this.#drop((key) => groupOf(key) === group);
  }

  topicsOf(group: string): string[] {
    return [...this.#rows.keys()].filter((key) => groupOf(key) === group).map(topicOf);
  }

  /** Groups that have an offset on the topic. */
  groupsOf(topic: string): string[] {
    return [...this.#rows.keys()].filter((key) => topicOf(key) === topic).map(groupOf);
  }

  #drop(isGone: (key: string) => boolean): boolean {
    let dropped = false;
    for (const [key, row] of this.#rows) {
      if (!isGone(key)) continue;
      this.#rows.delete(key);
      this.#changes.delete(key);
      this.#count -= row.size;
      dropped = true;
    }
    if (dropped) this.#dirty = true;
    return dropped;
  }
}

/** No name holds the separator, but a proxy's groups have one: `topic@group@kind`. */
function topicOf(key: string): string {
  return key.slice(0, key.indexOf(SEPARATOR));
}

function groupOf(key: string): string {
  return key.slice(key.indexOf(SEPARATOR) + 1);
}
