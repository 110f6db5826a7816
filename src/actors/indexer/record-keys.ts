// The index keys of a record: `topic#UNIQ_KEY`, and `topic#key` for each of its KEYS.
import { readUtf8 } from '../../base/bytes.ts';
import { PropertyScan, scanProperties } from '../../message/properties.ts';
import { propertiesAt, propertiesSize, readSysFlag, SysFlags, topicAt, topicSize } from '../../message/record.ts';
import type { FeedHandler } from '../../runtime/feed.ts';
import type { WindowReader } from '../../runtime/tail-window.ts';
import { LogReader } from '../../store/log-reader.ts';
import type { ActorContext } from '../context.ts';
import { Positions } from '../context.ts';

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

  #read(position: number, size: number): boolean {
    if (this.#record.length < size) this.#record = Buffer.allocUnsafeSlow(size * 2);
    if (this.#window.read(position, size, this.#record, 0)) return true;
    this.#log.setStable(this.#context.positions.get(Positions.appended));
    return this.#log.read(position, size, this.#record, 0);
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
