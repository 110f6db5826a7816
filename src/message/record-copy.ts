// A record stored once more, under another topic or queue and with other properties: a delayed message that came due, a failed one sent back.
import { copyBytes } from '../base/copy-bytes.ts';
import { indexKeyHash, tagKeyHash, topicKeyHash } from './index-key.ts';
import { PropertyScan, scanProperties } from './properties.ts';
import { type PropertyPair, rewriteProperties } from './property-rewrite.ts';
import {
  bodyAt,
  bodySize,
  bornHostAt,
  bornHostSize,
  hostFlags,
  PROPERTIES_SIZE_MAX,
  propertiesAt,
  propertiesSize,
  RecordFields,
  readBodyCrc,
  readBornPort,
  readBornTimeMs,
  readFlag,
  sizeOfRecord,
  writeRecord,
} from './record.ts';
import { tagsCodeOf } from './tags.ts';

/** In what the new record differs from its source; body, checksum, flag, and who gave birth to it when stay. */
export interface RecordChange {
  /** UTF-8. */
  readonly topic: Uint8Array;
  /** The topic's length in UTF-16 units. */
  readonly topicUnits: number;
  readonly queueId: number;
  /** The bits of the host families may be absent: the sizes of the hosts decide. */
  readonly sysFlag: number;
  readonly reconsumeTimes: number;
  /** 4 or 16 bytes. */
  readonly storeHost: Uint8Array;
  readonly storePort: number;
  readonly preparedPosition: number;
  /** Names of properties that are left out. */
  readonly drop: readonly string[];
  /** These take the place of pairs of the same name, and stand at the end. Without separators; a value of '' only takes a pair away. */
  readonly put: readonly PropertyPair[];
}

/** The measures of the new record, for the head of an append; its bytes are written by `writeCopy`, as long as the source's lie where they did. */
export interface RecordCopy {
  /** Bytes of the whole record. */
  readonly size: number;
  /** False: the properties became longer than a record can hold, and the copy must not be written. */
  readonly fits: boolean;
  readonly tagsCode: number;
  /** Of the new record, with the bits of the host families. */
  readonly sysFlag: number;
  readonly hasKeys: boolean;
  readonly hasUniqueKey: boolean;
  /** See index-key.ts; 0 without a unique key. */
  readonly uniqueKeyHash: number;
  readonly hasTag: boolean;
  /** See index-key.ts; 0 without a tag. */
  readonly tagKeyHash: number;
  readonly fields: RecordFields;
  readonly source: Uint8Array;
  readonly bodyAt: number;
  /** The new properties, or those of the source where nothing changes. */
  readonly properties: Uint8Array;
  readonly propertiesAt: number;
}

const scan = new PropertyScan();

/** @param source has a record at `at` that passed `checkRecord`. */
export function planCopy(source: Uint8Array, at: number, change: RecordChange): RecordCopy {
  const oldAt = propertiesAt(source, at);
  const oldEnd = oldAt + propertiesSize(source, at);
  const same = change.drop.length === 0 && change.put.length === 0;
  const properties = same ? source : rewriteProperties(source, oldAt, oldEnd, change.drop, change.put);
  const from = same ? oldAt : 0;
  const end = same ? oldEnd : properties.length;
  const fields = fieldsOf(source, at, change, end - from);
  scanProperties(properties, from, end, scan);
  const hasUniqueKey = scan.uniqueKeyAt >= 0;
  const { hasTag } = scan;
  const { topic } = change;
  const topicHash = topicKeyHash(topic, 0, topic.length);
  return {
    size: sizeOfRecord(fields),
    fits: fields.propertiesSize <= PROPERTIES_SIZE_MAX,
    tagsCode: hasTag ? tagsCodeOf(properties, scan.tagsAt, scan.tagsEnd) : 0,
    sysFlag: fields.sysFlag,
    hasKeys: scan.keysAt >= 0,
    hasUniqueKey,
    uniqueKeyHash: hasUniqueKey ? indexKeyHash(topicHash, properties, scan.uniqueKeyAt, scan.uniqueKeyEnd) : 0,
    hasTag,
    tagKeyHash: hasTag ? tagKeyHash(topicHash, properties, scan.tagsAt, scan.tagsEnd) : 0,
    fields,
    source,
    bodyAt: bodyAt(source, at),
    properties,
    propertiesAt: from,
  };
}

/** Writes `copy.size` bytes; queue offset, position and store time stay 0 for the commit log to fill in. Throws where the copy does not fit. */
export function writeCopy(copy: RecordCopy, out: Uint8Array, outAt: number): void {
  const { fields, properties } = copy;
  const at = writeRecord(out, outAt, fields, copy.source, copy.bodyAt);
  copyBytes(properties, copy.propertiesAt, copy.propertiesAt + fields.propertiesSize, out, at);
}

function fieldsOf(source: Uint8Array, at: number, change: RecordChange, newPropertiesSize: number): RecordFields {
  const fields = new RecordFields();
  const hostAt = bornHostAt(at);
  fields.queueId = change.queueId;
  fields.flag = readFlag(source, at);
  fields.bornTimeMs = readBornTimeMs(source, at);
  fields.bornHost = source.subarray(hostAt, hostAt + bornHostSize(source, at));
  fields.bornPort = readBornPort(source, at);
  fields.storeHost = change.storeHost;
  fields.storePort = change.storePort;
  fields.sysFlag = hostFlags(change.sysFlag, fields.bornHost.length, change.storeHost.length);
  fields.reconsumeTimes = change.reconsumeTimes;
  fields.preparedPosition = change.preparedPosition;
  fields.bodyCrc = readBodyCrc(source, at);
  fields.bodySize = bodySize(source, at);
  fields.topic = change.topic;
  fields.topicUnits = change.topicUnits;
  fields.propertiesSize = newPropertiesSize;
  return fields;
}
