// All topics of the broker with the version stamp that tells name servers and slaves when to re-read them.
import { SystemTopics } from '../message/names.ts';
import type { DataVersion } from '../protocol/bodies/data-version.ts';
import { firstVersion, nextVersion } from './data-version.ts';
import { Perms, sameTopicConfig, type TopicConfig } from './topic-config.ts';

export interface TopicTableState {
  readonly dataVersion: DataVersion | null;
  readonly topics: readonly TopicConfig[];
}

export class TopicTable {
  readonly #topics = new Map<string, TopicConfig>();
  #version: DataVersion;

  constructor(wallMs: number) {
    this.#version = firstVersion(wallMs);
  }

  get version(): DataVersion {
    return this.#version;
  }

  get size(): number {
    return this.#topics.size;
  }

  get(topic: string): TopicConfig | undefined {
    return this.#topics.get(topic);
  }

  has(topic: string): boolean {
    return this.#topics.has(topic);
  }

  all(): IterableIterator<TopicConfig> {
    return this.#topics.values();
  }

  names(): string[] {
    return [...this.#topics.keys()];
  }

  /** The start topics, with what the file says laid over them. True when the result is not what the file holds. */
  load(start: readonly TopicConfig[], file: TopicTableState | null, autoCreate: boolean, wallMs: number): boolean {
    for (const config of start) this.#topics.set(config.topicName, config);
    const stored = new Set<string>();
    let changed = false;
    if (file?.dataVersion) this.#version = file.dataVersion;
    for (const config of file?.topics ?? []) {
      const kept = autoCreate ? config : withoutTemplate(config);
      if (kept !== config) changed = true;
      this.#topics.set(kept.topicName, kept);
      stored.add(kept.topicName);
    }
    if (start.some((config) => !stored.has(config.topicName))) changed = true;
    if (changed) this.#version = nextVersion(this.#version, wallMs);
    return changed;
  }

  /** False when the topic is already exactly so, and then the stamp stays as well. */
  put(config: TopicConfig, wallMs: number): boolean {
    const old = this.#topics.get(config.topicName);
    if (old !== undefined && sameTopicConfig(old, config)) return false;
    this.#topics.set(config.topicName, config);
    this.#version = nextVersion(this.#version, wallMs);
    return true;
  }

  remove(topic: string, wallMs: number): boolean {
    if (!this.#topics.delete(topic)) return false;
    this.#version = nextVersion(this.#version, wallMs);
    return true;
  }

  /** `count` topics from number `from` on; the order stays while no topic is added or removed. */
  page(from: number, count: number): TopicConfig[] {
    return [...this.#topics.values()].slice(from, from + count);
  }
}

/** With automatic creation off, a template of an earlier run must not hand on its permission. */
function withoutTemplate(config: TopicConfig): TopicConfig {
  if (config.topicName !== SystemTopics.autoCreateTemplate || (config.perm & Perms.inherit) === 0) return config;
  return { ...config, perm: config.perm & Perms.readWrite };
}
