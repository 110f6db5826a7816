// The keys a message is found by, `topic#key`, as the Java hashes that the index holds: the topic's part once, each key's behind it.
import { extendJavaHash, extendJavaHashText, javaHashUtf8 } from '../base/bytes.ts';

const TOPIC_END = '#';

/** Of `topic#`, from the topic's UTF-8 bytes [at, end). */
export function topicKeyHash(b: Uint8Array, at: number, end: number): number {
  return extendJavaHashText(javaHashUtf8(b, at, end), TOPIC_END);
}

/** Of `topic#key`, from the key's UTF-8 bytes [at, end). */
export function indexKeyHash(topicHash: number, b: Uint8Array, at: number, end: number): number {
  return extendJavaHash(topicHash, b, at, end);
}
