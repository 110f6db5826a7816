// Tags: the hash a consume queue keeps of a message's tag, and the expressions consumers subscribe with.
import { javaHash, javaHashUtf8 } from '../base/bytes.ts';

/** The tag that subscribes to everything. */
export const ALL_TAGS = '*';
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

/** Absent, empty and `*` select everything; else tags divided by `||`, trimmed, empty ones dropped. */
export function parseTagExpression(text: string | null | undefined): TagSelection | TagFault {
  if (text === null || text === undefined || text === '' || text === ALL_TAGS) return { ok: true, all: true, tags: [], codes: [] };
  const parts = text.split(OR);
  if (parts.every((part) => part === '')) return { ok: false, fault: 'subString split error' };
  const tags = new Set(parts.map(trimJava).filter((tag) => tag !== ''));
  const codes = new Set([...tags].map(javaHash));
  return { ok: true, all: false, tags: [...tags], codes: [...codes] };
}

/** Java's trim takes U+0020 and all below it, and nothing else. */
function trimJava(text: string): string {
  let at = 0;
  let end = text.length;
  while (at < end && text.charCodeAt(at) <= 0x20) at++;
  while (end > at && text.charCodeAt(end - 1) <= 0x20) end--;
  return text.slice(at, end);
}
