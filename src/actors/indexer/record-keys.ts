// The index keys of a record: `topic#UNIQ_KEY`, `topic#key` for each of its KEYS, and `topic#T#tag`. Only for KEYS the record itself is read.
import { indexKeyHash, tagKeyHash, topicKeyHash } from '../../message/index-key.ts';
import { PropertyScan, scanProperties } from '../../message/properties.ts';
import { bodyAt, bodySize, propertiesAt, propertiesSize, readSysFlag, SysFlags, topicAt, topicSize } from '../../message/record.ts';
import type { FeedHandler } from '../../runtime/feed.ts';
import type { WindowReader } from '../../runtime/tail-window.ts';
import { LogReader } from '../../store/log-reader.ts';
import type { ActorContext } from '../context.ts';
import { Positions } from '../context.ts';
import { RecordFlags } from '../messages.ts';

/** All fields before the body, with both hosts as IPv6. */
const HEAD_SIZE = 112;
const WHOLE_SIZE_MAX = 512;

const SPACE = 0x20;

/** @param hash Java's hash of the whole key. */
export type OnKey = (hash: number, position: number, storeTimeMs: number) => void;

export class RecordKeys {
  readonly #context: ActorContext;
  readonly #window: WindowReader;
  readonly #log: LogReader;
  readonly #scan = new PropertyScan();
  #record = Buffer.allocUnsafeSlow(64 * 1024);

  constructor(context: ActorContext) {
    this.#context = context;
    this.#window = context.windowReader();
    this.#log = new LogReader(context.files, context.settings.storePathCommitLog, context.settings.mappedFileSizeCommitLog);
  }

  handler(onKey: OnKey): FeedHandler {
    return {
      onEntry: (_key, _queueOffset, position, size, _tagsCode, storeTimeMs, flags, uniqueKeyHash, tagHash) => {
        if ((flags & RecordFlags.uniqueKeyHashed) !== 0) onKey(uniqueKeyHash, position, storeTimeMs);
        if ((flags & RecordFlags.tagHashed) !== 0) onKey(tagHash, position, storeTimeMs);
        if ((flags & RecordFlags.furtherKeys) !== 0 && this.#read(position, size)) this.#keysOf(position, storeTimeMs, onKey);
      },
    };
  }

  /** Fills the buffer with the record, but for a long body, of which only the place is kept. */
  #read(position: number, size: number): boolean {
    if (this.#record.length < size) this.#record = Buffer.allocUnsafeSlow(size * 2);
    if (size <= WHOLE_SIZE_MAX) return this.#copy(position, 0, size);
    if (!this.#copy(position, 0, HEAD_SIZE)) return false;
    const tailAt = bodyAt(this.#record, 0) + bodySize(this.#record, 0);
    return this.#copy(position, tailAt, size - tailAt);
  }

  #copy(position: number, at: number, size: number): boolean {
    if (this.#window.read(position + at, size, this.#record, at)) return true;
    this.#log.setStable(this.#context.positions.get(Positions.appended));
    this.#log.setMin(this.#context.positions.get(Positions.logMin));
    return this.#log.read(position + at, size, this.#record, at);
  }

  #keysOf(position: number, storeTimeMs: number, onKey: OnKey): void {
    const record = this.#record;
    if ((readSysFlag(record, 0) & SysFlags.transactionMask) === SysFlags.rollback) return;
    const topic = topicAt(record, 0);
    const topicHash = topicKeyHash(record, topic, topic + topicSize(record, 0));
    const properties = propertiesAt(record, 0);
    const scan = this.#scan;
    scanProperties(record, properties, properties + propertiesSize(record, 0), scan);
    if (scan.uniqueKeyAt >= 0) onKey(indexKeyHash(topicHash, record, scan.uniqueKeyAt, scan.uniqueKeyEnd), position, storeTimeMs);
    for (let at = scan.keysAt; at >= 0 && at < scan.keysEnd; ) {
      let end = at;
      while (end < scan.keysEnd && record[end] !== SPACE) end++;
      if (end > at) onKey(indexKeyHash(topicHash, record, at, end), position, storeTimeMs);
      at = end + 1;
    }
    if (scan.hasTag) onKey(tagKeyHash(topicHash, record, scan.tagsAt, scan.tagsEnd), position, storeTimeMs);
  }
}
