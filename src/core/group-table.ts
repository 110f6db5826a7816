// All consumer groups of the broker, the topics each of them may not read, and the table's version stamp.
import type { DataVersion } from '../protocol/bodies/data-version.ts';
import { firstVersion, nextVersion } from './data-version.ts';
import { builtInGroups, type GroupConfig, sameGroupConfig } from './group-config.ts';

/** Group -> topic -> bits; `READ_FORBIDDEN` is the only one with a meaning. */
export type ForbiddenTable = ReadonlyMap<string, ReadonlyMap<string, number>>;
export const READ_FORBIDDEN = 1 << 2;

/** Topics that one group may be forbidden. */
export const FORBIDDEN_COUNT_MAX = 1000;

export interface GroupTableState {
  readonly dataVersion: DataVersion | null;
  readonly groups: readonly GroupConfig[];
  readonly forbidden: ForbiddenTable;
}

export class GroupTable {
  readonly #groups = new Map<string, GroupConfig>();
  readonly #forbidden = new Map<string, Map<string, number>>();
  #version: DataVersion;

  constructor(wallMs: number) {
    this.#version = firstVersion(wallMs);
  }

  get version(): DataVersion {
    return this.#version;
  }

  get size(): number {
    return this.#groups.size;
  }

  get(group: string): GroupConfig | undefined {
    return this.#groups.get(group);
  }

  has(group: string): boolean {
    return this.#groups.has(group);
  }

  all(): IterableIterator<GroupConfig> {
    return this.#groups.values();
  }

  /** The built-in groups, with what the file says laid over them. */
  load(file: GroupTableState | null): void {
    for (const config of builtInGroups) this.#groups.set(config.groupName, config);
    if (file === null) return;
    if (file.dataVersion !== null) this.#version = file.dataVersion;
    for (const config of file.groups) this.#groups.set(config.groupName, config);
    for (const [group, topics] of file.forbidden) this.#forbidden.set(group, new Map(topics));
  }

  /** False when the group is already exactly so. */
  put(config: GroupConfig, wallMs: number): boolean {
    const old = this.#groups.get(config.groupName);
    if (old !== undefined && sameGroupConfig(old, config)) return false;
    this.#groups.set(config.groupName, config);
    this.#version = nextVersion(this.#version, wallMs);
    return true;
  }

  remove(group: string, wallMs: number): boolean {
    this.#forbidden.delete(group);
    if (!this.#groups.delete(group)) return false;
    this.#version = nextVersion(this.#version, wallMs);
    return true;
  }

  page(from: number, count: number): GroupConfig[] {
    return [...this.#groups.values()].slice(from, from + count);
  }

  readable(group: string, topic: string): boolean {
    return ((this.#forbidden.get(group)?.get(topic) ?? 0) & READ_FORBIDDEN) === 0;
  }

  /** Other topics of the group keep what they have. */
  setReadable(group: string, topic: string, readable: boolean, wallMs: number): boolean {
    if (this.readable(group, topic) === readable) return false;
    const topics = this.#forbidden.get(group) ?? new Map<string, number>();
    const bits = topics.get(topic) ?? 0;
    const next = readable ? bits & ~READ_FORBIDDEN : bits | READ_FORBIDDEN;
    if (next === 0) topics.delete(topic);
    else topics.set(topic, next);
    if (topics.size === 0) this.#forbidden.delete(group);
    else this.#forbidden.set(group, topics);
    this.#version = nextVersion(this.#version, wallMs);
    return true;
  }

  forbiddenTopics(group: string): string[] {
    return [...(this.#forbidden.get(group) ?? [])].filter(([, bits]) => (bits & READ_FORBIDDEN) !== 0).map(([topic]) => topic);
  }

  get forbidden(): ForbiddenTable {
    return this.#forbidden;
  }
}
