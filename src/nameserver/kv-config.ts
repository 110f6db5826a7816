// The key-value settings of the name server: texts by namespace and key, saved with every change.
import { errorText } from '../base/errors.ts';
import { prettyJavaJson } from '../base/json-writer.ts';
import { parseLenient } from '../base/lenient-json.ts';
import type { TextStore } from './text-store.ts';

/** Namespace of the order configurations: topic to `broker-a:4;broker-b:4`. */
export const ORDER_NAMESPACE = 'ORDER_TOPIC_CONFIG';

function entries(json: unknown): [string, unknown][] {
  return typeof json === 'object' && json !== null ? Object.entries(json) : [];
}

/** Why a text is no saved table, so that the one before it is taken; null where it is one, or empty. */
export function kvConfigFault(text: string): string | null {
  if (text.trim() === '') return null;
  try {
    return entries(parseLenient(text)).some(([name]) => name === 'configTable') ? null : 'configTable is missing';
  } catch (error) {
    return errorText(error);
  }
}

export class KvConfig {
  readonly #store: TextStore;
  readonly #table = new Map<string, Map<string, string>>();

  constructor(store: TextStore) {
    this.#store = store;
  }

  /** Throws RingmqError `malformed` where the saved text is not what this class saves. */
  load(): void {
    const text = this.#store.load();
    if (text === null || text.trim() === '') return;
    const saved = entries(parseLenient(text)).find(([name]) => name === 'configTable');
    this.#table.clear();
    for (const [namespace, values] of entries(saved?.[1])) {
      this.#table.set(namespace, new Map(entries(values).map(([key, value]) => [key, String(value)])));
    }
  }

  get(namespace: string, key: string): string | undefined {
    return this.#table.get(namespace)?.get(key);
  }

  /** undefined where the namespace has no key. */
  list(namespace: string): ReadonlyMap<string, string> | undefined {
    return this.#table.get(namespace);
  }

  put(namespace: string, key: string, value: string): void {
    this.#change(namespace, key, value);
  }

  delete(namespace: string, key: string): void {
    if (this.get(namespace, key) !== undefined) this.#change(namespace, key, undefined);
  }

  /** A change that cannot be saved is taken back, so that an answer of success is never forgotten. */
  #change(namespace: string, key: string, value: string | undefined): void {
    const before = this.get(namespace, key);
    this.#set(namespace, key, value);
    try {
      this.#store.save(prettyJavaJson({ configTable: this.#table }));
    } catch (error) {
      this.#set(namespace, key, before);
      throw error;
    }
  }

  #set(namespace: string, key: string, value: string | undefined): void {
    const values = this.#table.get(namespace) ?? new Map<string, string>();
    if (value === undefined) values.delete(key);
    else values.set(key, value);
    if (values.size === 0) this.#table.delete(namespace);
    else this.#table.set(namespace, values);
  }
}
