// A record as a plain object with everything in it, for queries, tools and tests; never on a hot path.
import { readUtf8 } from '../base/bytes.ts';
import { decodeProperties } from './properties.ts';
import * as layout from './record-layout.ts';

export interface MessageRecord {
  readonly size: number;
  readonly version: 1 | 2;
  readonly bodyCrc: number;
  readonly queueId: number;
  readonly flag: number;
  readonly queueOffset: number;
  readonly position: number;
  readonly sysFlag: number;
  readonly bornTimeMs: number;
  /** 4 or 16 bytes, as is `storeHost`. */
  readonly bornHost: Uint8Array;
  readonly bornPort: number;
  readonly storeTimeMs: number;
  readonly storeHost: Uint8Array;
  readonly storePort: number;
  readonly reconsumeTimes: number;
  readonly preparedPosition: number;
  /** As stored, maybe compressed: see `sysFlag`. */
  readonly body: Uint8Array;
  readonly topic: string;
  readonly properties: Map<string, string>;
}

/** Copies all fields out of a record that passed `checkRecord`; nothing of the result lies in `b`. */
export function decodeRecord(b: Uint8Array, at: number): MessageRecord {
  const bornHostAt = layout.bornHostAt(at);
  const storeHostAt = layout.storeHostAt(b, at);
  const bodyAt = layout.bodyAt(b, at);
  const topicAt = layout.topicAt(b, at);
  const propertiesAt = layout.propertiesAt(b, at);
  return {
    size: layout.readTotalSize(b, at),
    version: layout.readMagic(b, at) === layout.RecordMagics.v2 ? 2 : 1,
    bodyCrc: layout.readBodyCrc(b, at),
    queueId: layout.readQueueId(b, at),
    flag: layout.readFlag(b, at),
    queueOffset: layout.readQueueOffset(b, at),
    position: layout.readPosition(b, at),
    sysFlag: layout.readSysFlag(b, at),
    bornTimeMs: layout.readBornTimeMs(b, at),
    bornHost: new Uint8Array(b.subarray(bornHostAt, bornHostAt + layout.bornHostSize(b, at))),
    bornPort: layout.readBornPort(b, at),
    storeTimeMs: layout.readStoreTimeMs(b, at),
    storeHost: new Uint8Array(b.subarray(storeHostAt, storeHostAt + layout.storeHostSize(b, at))),
    storePort: layout.readStorePort(b, at),
    reconsumeTimes: layout.readReconsumeTimes(b, at),
    preparedPosition: layout.readPreparedPosition(b, at),
    body: new Uint8Array(b.subarray(bodyAt, bodyAt + layout.bodySize(b, at))),
    topic: readUtf8(b, topicAt, topicAt + layout.topicSize(b, at)),
    properties: decodeProperties(b, propertiesAt, propertiesAt + layout.propertiesSize(b, at)),
  };
}
