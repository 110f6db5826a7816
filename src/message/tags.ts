// Tags: the hash a consume queue keeps of a message's tag, and the expressions consumers subscribe with.
import { javaHash, javaHashUtf8 } from '../base/bytes.ts';

/** The tag that subscribes to everything. */
export const ALL_TAGS = '*';
/** Tags of one subscription: a pull takes their hashes along to the queue, and every message there is compared with them. */
export const TAG_COUNT_MAX = 4096;
const OR = '||';

export interface TagSelection {
  readonly ok: true;
  /** Every message matches, also those without a tag. */
  readonly all: boolean;
  /** Without duplicates, in the order of the text; empty when `all`, and for a text of blanks only, which matches no tag. */
  readonly tags: string[];
  /** The hashes of `tags`, without duplicates: equal hashes of different tags are sorted out by the client. */
  readonly codes: number[];
}

export interface TagFault {
  readonly ok: false;
  readonly fault: string;
}

/** Java's hash over the whole tag's UTF-16 units, signed 32-bit; 0 for an absent (-1, -1) or empty one. */
export function tagsCodeOf(b: Uint8Array, at: number, end: number): number {
  return javaHashUtf8(b, at, end);
}

/** Absent, empty and `*` select everything; else tags divided by `||`, trimmed, empty ones dropped. More than TAG_COUNT_MAX are a fault. */
export function parseTagExpression(text: string | null | undefined): TagSelection | TagFault {
  if (text === null || text === undefined || text === '' || text === ALL_TAGS) return { ok: true, all: true, tags: [], codes: [] };
  const parts = text.split(OR);
  if (parts.every((part) => part === '')) return { ok: false, fault: 'subString split error' };
  const tags = new Set(parts.map(trimJava).filter((tag) => tag !== ''));
  if (tags.size > TAG_COUNT_MAX) return { ok: false, fault: tooManyTags(tags.size) };
  const codes = new Set([...tags].map(javaHash));
  return { ok: true, all: false, tags: [...tags], codes: [...codes] };
}

export function tooManyTags(count: number): string {
  return `the expression has too many tags tags=${count} max=${TAG_COUNT_MAX}; subscribe to fewer, or to * and sort out what comes`;
}

/** Java's trim takes U+0020 and all below it, and nothing else. */
function trimJava(text: string): string {
  let at = 0;
  let end = text.length;
  while (at < end && text.charCodeAt(at) <= 0x20) at++;
  while (end > at && text.charCodeAt(end - 1) <= 0x20) end--;
  return text.slice(at, end);
}
