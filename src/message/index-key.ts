// The keys a message is found by, `topic#key` and `topic#T#tag`, as the Java hashes that the index holds: the topic's part once, the rest behind it.
import { extendJavaHash, extendJavaHashText, javaHashUtf8 } from '../base/bytes.ts';

const TOPIC_END = '#';
const TAG_BEGIN = 'T#';

/** What a look-up by tag asks the index for. */
export function tagKey(topic: string, tag: string): string {
  return `${topic}${TOPIC_END}${TAG_BEGIN}${tag}`;
}

/** Of `topic#`, from the topic's UTF-8 bytes [at, end). */
export function topicKeyHash(b: Uint8Array, at: number, end: number): number {
  return extendJavaHashText(javaHashUtf8(b, at, end), TOPIC_END);
}

/** Of `topic#key`, from the key's UTF-8 bytes [at, end). */
export function indexKeyHash(topicHash: number, b: Uint8Array, at: number, end: number): number {
  return extendJavaHash(topicHash, b, at, end);
}

/** Of `topic#T#tag`, from the UTF-8 bytes [at, end) of the whole property TAGS. */
export function tagKeyHash(topicHash: number, b: Uint8Array, at: number, end: number): number {
  return extendJavaHash(extendJavaHashText(topicHash, TAG_BEGIN), b, at, end);
}
