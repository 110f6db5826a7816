// What one record says of itself that queues and index must agree with: its place, its queue, its tag, its keys.
import { extendJavaHash, extendJavaHashText, readUtf8 } from '../../base/bytes.ts';
import { indexKeyHash, topicKeyHash } from '../../message/index-key.ts';
import { SystemTopics } from '../../message/names.ts';
import { PropertyScan, scanProperties } from '../../message/properties.ts';
import {
  propertiesAt,
  propertiesSize,
  readPosition,
  readQueueId,
  readQueueOffset,
  readStoreTimeMs,
  readSysFlag,
  SysFlags,
  topicAt,
  topicSize,
} from '../../message/record-layout.ts';
import { tagsCodeOf } from '../../message/tags.ts';
import { storedHash } from '../index-files.ts';

const SPACE = 0x20;
/** Stands between topic and tag in the key that Apache's newer brokers make of a tag. */
const TAG_KEY = 'T#';

/** One object is filled again and again. */
export class RecordFacts {
  position = 0;
  /** Where the record itself says that it lies. */
  storedPosition = 0;
  size = 0;
  topic = '';
  queueId = 0;
  queueOffset = 0;
  storeTimeMs = 0;
  /** Hash of the tag. */
  tagsCode = 0;
  /** Of a delayed message that waits; 0 of all others. */
  delayLevel = 0;
  /** It has an offset and a unit in a queue of the plain kind. */
  numbered = true;
  /** Hashes of the keys that the index must have, as they are stored; the first `keyCount` are valid. */
  readonly keys: number[] = [];
  keyCount = 0;
  /** Hash of the key of the tag, which the index may have; -1 without a tag. */
  tagKey = -1;
  readonly #scan = new PropertyScan();

  /** @param at where in `b` a record lies that passed `checkRecord`. */
  read(b: Uint8Array, at: number, size: number, position: number): void {
    const topicBegin = topicAt(b, at);
    const topicEnd = topicBegin + topicSize(b, at);
    const transaction = readSysFlag(b, at) & SysFlags.transactionMask;
    const scan = this.#scan;
    scanProperties(b, propertiesAt(b, at), propertiesAt(b, at) + propertiesSize(b, at), scan);
    this.position = position;
    this.storedPosition = readPosition(b, at);
    this.size = size;
    this.topic = readUtf8(b, topicBegin, topicEnd);
    this.queueId = readQueueId(b, at);
    this.queueOffset = readQueueOffset(b, at);
    this.storeTimeMs = readStoreTimeMs(b, at);
    this.tagsCode = scan.tagsAt < 0 ? 0 : tagsCodeOf(b, scan.tagsAt, scan.tagsEnd);
    this.delayLevel = this.topic === SystemTopics.schedule && scan.delayLevel > 0 ? scan.delayLevel : 0;
    const innerBatch = (readSysFlag(b, at) & SysFlags.innerBatch) !== 0;
    this.numbered = transaction !== SysFlags.prepared && transaction !== SysFlags.rollback && !innerBatch;
    this.keyCount = 0;
    this.tagKey = -1;
    if (transaction !== SysFlags.rollback) this.#readKeys(b, topicKeyHash(b, topicBegin, topicEnd));
  }

  hasKey(hash: number): boolean {
    if (hash === this.tagKey) return true;
    for (let i = 0; i < this.keyCount; i++) if (this.keys[i] === hash) return true;
    return false;
  }

  #readKeys(b: Uint8Array, topicHash: number): void {
    const scan = this.#scan;
    if (scan.uniqueKeyAt >= 0) this.#addKey(indexKeyHash(topicHash, b, scan.uniqueKeyAt, scan.uniqueKeyEnd));
    for (let at = scan.keysAt; at >= 0 && at < scan.keysEnd; ) {
      let end = at;
      while (end < scan.keysEnd && b[end] !== SPACE) end++;
      if (end > at) this.#addKey(indexKeyHash(topicHash, b, at, end));
      at = end + 1;
    }
    if (scan.tagsAt >= 0) this.tagKey = storedHash(extendJavaHash(extendJavaHashText(topicHash, TAG_KEY), b, scan.tagsAt, scan.tagsEnd));
  }

  #addKey(hash: number): void {
    this.keys[this.keyCount++] = storedHash(hash);
  }
}
