// One message of a send request: its properties found and judged, then its record encoded straight into the ring to the commit log.
import { newUniqueKey } from '../../base/id.ts';
import { bodyCrcIn } from '../../message/crc.ts';
import { indexKeyHash, tagKeyHash } from '../../message/index-key.ts';
import { PropertyNames, PropertyScan, scanProperties, storedPropertiesSize, writeStoredProperties } from '../../message/properties.ts';
import { type PropertyPair, rewriteProperties } from '../../message/property-rewrite.ts';
import { PROPERTIES_SIZE_MAX, type RecordFields, sizeOfRecord, writeRecordIn } from '../../message/record.ts';
import { tagsCodeOf } from '../../message/tags.ts';
import type { SendRequest } from '../../protocol/commands/send-message.ts';
import type { FieldSpan } from '../../protocol/header.ts';
import type { RingWriter } from '../../runtime/ring.ts';
import { keyFlags } from '../key-flags.ts';
import { RECORD_HEAD_SIZE, RecordFlags } from '../messages.ts';
import type { Desk } from './desk.ts';
import type { PendingSend, PendingSends } from './pending-sends.ts';
import { propertiesFault, type Refusal, recordFault, recordSizeMax } from './send-checks.ts';

/** More properties than this are not even encoded to be measured. */
const SCRATCH_SIZE = 4 * (PROPERTIES_SIZE_MAX + 1);

const KEY_PAIR = 'UNIQ_KEY\x01';
/** A delay level makes them void. */
const TIMER_NAMES = [PropertyNames.timerDelaySec, PropertyNames.timerDelayMs, PropertyNames.timerDeliverMs];

export class MessageEncoder {
  /** Of the request's properties, once they are read. */
  readonly scan = new PropertyScan();
  /** Of the message measured last: */
  recordSize = 0;
  readonly #desk: Desk;
  readonly #scratch = Buffer.allocUnsafeSlow(SCRATCH_SIZE);
  /** The properties of the request at hand; `scan` is of these bytes. */
  readonly #properties: FieldSpan = { bytes: this.#scratch, at: 0, size: 0 };
  /** MSG_REGION, TRACE_ON and CLUSTER as they stand behind every message's own properties. */
  readonly #commonSuffix: FieldSpan;
  /** The same, or with the key in front of it that the broker makes where the client sent none. */
  #suffix: FieldSpan;

  constructor(desk: Desk) {
    const { settings } = desk.context;
    this.#desk = desk;
    const suffix = Buffer.from(
      `MSG_REGION\x01${settings.regionId}\x02TRACE_ON\x01${settings.traceOn}\x02CLUSTER\x01${settings.brokerClusterName}\x02`,
    );
    // In the arena it is copied into each record without a view for it.
    const home = desk.pool.take();
    this.#commonSuffix = { bytes: home.bytes, at: home.at, size: suffix.copy(home.bytes, home.at) };
    this.#suffix = this.#commonSuffix;
  }

  /** Finds the request's properties, or writes them into the scratch; how many bytes, also when they are too many to be scanned. */
  readProperties(request: SendRequest): number {
    const span = this.#properties;
    if (!request.findProperties(span)) {
      span.bytes = this.#scratch;
      span.at = 0;
      span.size = request.propertiesSizeMax <= SCRATCH_SIZE ? request.writeProperties(span.bytes, 0) : this.#writeLong(request.properties);
    }
    if (span.size <= PROPERTIES_SIZE_MAX) scanProperties(span.bytes, span.at, span.at + span.size, this.scan);
    return span.size;
  }

  /** For the few messages whose properties the broker changes; timers go, too. They may become too long, which `measure` tells. */
  changeProperties(put: readonly PropertyPair[]): void {
    const span = this.#properties;
    span.bytes = rewriteProperties(span.bytes, span.at, span.at + span.size, TIMER_NAMES, put);
    span.at = 0;
    span.size = span.bytes.length;
    if (span.size <= PROPERTIES_SIZE_MAX) scanProperties(span.bytes, 0, span.size, this.scan);
  }

  /** null where the record fits, with `spareSize` to spare; then `fields` are complete but for the checksum. */
  measure(fields: RecordFields, spareSize: number): Refusal | null {
    const { size } = this.#properties;
    if (size > PROPERTIES_SIZE_MAX) return propertiesFault(size);
    this.#suffix = this.scan.uniqueKeyAt >= 0 ? this.#commonSuffix : this.#suffixWithKey();
    fields.propertiesSize = storedPropertiesSize(size, this.scan, this.#suffix.size);
    if (fields.propertiesSize > PROPERTIES_SIZE_MAX) return propertiesFault(fields.propertiesSize);
    this.recordSize = sizeOfRecord(fields);
    const allowed = recordSizeMax(this.#desk.context.settings) - spareSize;
    return this.recordSize > allowed ? recordFault(this.recordSize, allowed) : null;
  }

  /** Bytes in the ring, the record's head included. */
  get ringSize(): number {
    return RECORD_HEAD_SIZE + ((this.recordSize + 3) & ~3);
  }

  /** Writes head and record at `at`. @param topicHash see `topicKeyHash`. */
  write(ring: RingWriter, at: number, fields: RecordFields, topicHash: number, bytes: Buffer, bodyAt: number): void {
    const { arena, words } = ring;
    const { scan } = this;
    const suffix = this.#suffix;
    const { bytes: source, at: sourceAt, size } = this.#properties;
    fields.bodyCrc = bodyCrcIn(arena, bytes, bodyAt, fields.bodySize);
    const propertiesAt = writeRecordIn(arena, at + RECORD_HEAD_SIZE, fields, bytes, bodyAt);
    writeStoredProperties(arena, propertiesAt, source, sourceAt, sourceAt + size, scan, suffix.bytes, suffix.at, suffix.size);
    const flags = keyFlags(true, scan.keysAt >= 0, scan.hasTag, fields.sysFlag);
    const word = at >> 2;
    words[word] = this.recordSize;
    words[word + 1] = scan.tagsAt < 0 ? 0 : tagsCodeOf(source, scan.tagsAt, scan.tagsEnd);
    words[word + 2] = flags;
    words[word + 3] = (flags & RecordFlags.uniqueKeyHashed) === 0 ? 0 : this.#hashUniqueKey(topicHash);
    words[word + 4] = (flags & RecordFlags.tagHashed) === 0 ? 0 : tagKeyHash(topicHash, source, scan.tagsAt, scan.tagsEnd);
  }

  /** Keeps the unique key for the answer: the sender's, or the one that was made. */
  keepKey(sends: PendingSends, pending: PendingSend): void {
    const { uniqueKeyAt, uniqueKeyEnd } = this.scan;
    if (uniqueKeyAt >= 0) sends.keepKey(pending, this.#properties.bytes, uniqueKeyAt, uniqueKeyEnd);
    else sends.keepKey(pending, this.#suffix.bytes, KEY_PAIR.length, this.#madeKeyEnd);
  }

  /** Keeps the sender's unique key only: those of a batch are with its messages. */
  keepSentKey(sends: PendingSends, pending: PendingSend): void {
    sends.keepKey(pending, this.#properties.bytes, this.scan.uniqueKeyAt, this.scan.uniqueKeyEnd);
  }

  #hashUniqueKey(topicHash: number): number {
    const { uniqueKeyAt, uniqueKeyEnd } = this.scan;
    if (uniqueKeyAt >= 0) return indexKeyHash(topicHash, this.#properties.bytes, uniqueKeyAt, uniqueKeyEnd);
    return indexKeyHash(topicHash, this.#suffix.bytes, KEY_PAIR.length, this.#madeKeyEnd);
  }

  get #madeKeyEnd(): number {
    return this.#suffix.size - this.#commonSuffix.size - 1;
  }

  /** For a message that came without a unique key. */
  #suffixWithKey(): FieldSpan {
    const { bytes, at, size } = this.#commonSuffix;
    const made = Buffer.concat([Buffer.from(`${KEY_PAIR}${newUniqueKey()}\x02`), bytes.subarray(at, at + size)]);
    return { bytes: made, at: 0, size: made.length };
  }

  /** Escapes can make a legal text long on the wire. */
  #writeLong(text: string): number {
    const size = Buffer.byteLength(text);
    if (size <= PROPERTIES_SIZE_MAX) this.#scratch.write(text, 0, 'utf8');
    return size;
  }
}
