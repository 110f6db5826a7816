// The text of each entry of a state file that was written lately, so that one more entry does not cost what all of them do:
// with a thousand entries it would be 15 ms.
import { prettyJavaPart, type RawJson } from '../base/json-writer.ts';
import type { JsonObject } from '../base/lenient-json.ts';
import { type StoredMembers, sortedMembers } from './state-json.ts';

/** Entries stand in a table, which stands in the file's object. */
const DEPTH = 2;

export class EntryTexts {
  /** As they were read: members that nobody here knows are kept. */
  #loaded: ReadonlyMap<string, JsonObject> = new Map();
  #texts = new WeakMap<StoredMembers, RawJson>();

  load(entries: ReadonlyMap<string, JsonObject>): void {
    this.#loaded = entries;
    this.#texts = new WeakMap();
  }

  /** An object of members that comes again must still hold the same. */
  of(entries: ReadonlyMap<string, StoredMembers>): Map<string, RawJson> {
    const all = new Map<string, RawJson>();
    for (const [name, members] of entries) all.set(name, this.#of(name, members));
    return all;
  }

  #of(name: string, members: StoredMembers): RawJson {
    let text = this.#texts.get(members);
    if (text === undefined) {
      text = prettyJavaPart(sortedMembers(this.#loaded.get(name) ?? {}, members), DEPTH);
      this.#texts.set(members, text);
    }
    return text;
  }
}
