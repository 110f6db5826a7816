// The index keys of a record: `topic#UNIQ_KEY`, and `topic#key` for each of its KEYS.
import { readUtf8 } from '../../base/bytes.ts';
import { PropertyScan, scanProperties } from '../../message/properties.ts';
import { bodyAt, bodySize, propertiesAt, propertiesSize, readSysFlag, SysFlags, topicAt, topicSize } from '../../message/record.ts';
import type { FeedHandler } from '../../runtime/feed.ts';
import type { WindowReader } from '../../runtime/tail-window.ts';
import { LogReader } from '../../store/log-reader.ts';
import type { ActorContext } from '../context.ts';
import { Positions } from '../context.ts';

/** All fields before the body, with both hosts as IPv6. */
const HEAD_SIZE = 112;
const WHOLE_SIZE_MAX = 512;

export type OnKey = (key: string, position: number, storeTimeMs: number) => void;

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
      onEntry: (_key, _queueOffset, position, size, _tagsCode, storeTimeMs) => {
        if (this.#read(position, size)) this.#keysOf(position, storeTimeMs, onKey);
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
    return this.#log.read(position + at, size, this.#record, at);
  }

  #keysOf(position: number, storeTimeMs: number, onKey: OnKey): void {
    const record = this.#record;
    if ((readSysFlag(record, 0) & SysFlags.transactionMask) === SysFlags.rollback) return;
    const at = topicAt(record, 0);
    const topic = readUtf8(record, at, at + topicSize(record, 0));
    const properties = propertiesAt(record, 0);
    const scan = this.#scan;
    scanProperties(record, properties, properties + propertiesSize(record, 0), scan);
    if (scan.uniqueKeyAt >= 0) onKey(`${topic}#${readUtf8(record, scan.uniqueKeyAt, scan.uniqueKeyEnd)}`, position, storeTimeMs);
    if (scan.keysAt < 0) return;
    for (const key of readUtf8(record, scan.keysAt, scan.keysEnd).split(' '))
      if (key !== '') onKey(`${topic}#${key}`, position, storeTimeMs);
  }
}
