// SEND_MESSAGE and its kin: one message or a batch to a queue, under long field names (10, 324) or one-letter ones (310, 320, 325).
import { RequestCodes } from '../codes.ts';
import { boolOf, fieldFault, int32, int32Of, int32Or, int64, int64Of } from '../ext.ts';
import { type FieldName, isAmong, planFields } from '../field-plan.ts';
import type { FieldTable } from '../field-table.ts';
import type { ExtFields, FieldSpan, Header } from '../header.ts';

//   a producerGroup! s          e queueId! i32 (<0: broker picks)     i properties s      m batch b
//   b topic! s                  f sysFlag! i32                        j reconsumeTimes i32
//   c defaultTopic! s, may be ''  g bornTimestamp! i64 ms             k unitMode b
//   d defaultTopicQueueNums!    h flag! i32, the user's               l maxReconsumeTimes i32
//   The body is the message's, or with `batch` the entries of a batch, whichever the code. `n` or `bname`, the broker's name, is ignored.

const longNames = planFields({
  group: 'producerGroup',
  topic: 'topic',
  defaultTopic: 'defaultTopic',
  defaultTopicQueueCount: 'defaultTopicQueueNums',
  queueId: 'queueId',
  sysFlag: 'sysFlag',
  bornTimeMs: 'bornTimestamp',
  flag: 'flag',
  properties: 'properties',
  reconsumeTimes: 'reconsumeTimes',
  unitMode: 'unitMode',
  maxReconsumeTimes: 'maxReconsumeTimes',
  batch: 'batch',
});
type Names = typeof longNames;

const letterNames: Names = planFields({
  group: 'a',
  topic: 'b',
  defaultTopic: 'c',
  defaultTopicQueueCount: 'd',
  queueId: 'e',
  sysFlag: 'f',
  bornTimeMs: 'g',
  flag: 'h',
  properties: 'i',
  reconsumeTimes: 'j',
  unitMode: 'k',
  maxReconsumeTimes: 'l',
  batch: 'm',
});

function namesOf(code: number): Names {
  return code === RequestCodes.SEND_MESSAGE || code === RequestCodes.SEND_REPLY_MESSAGE ? longNames : letterNames;
}

export const MAX_RECONSUME_TIMES_ABSENT = -1;

export class SendRequest {
  group = '';
  topic = '';
  defaultTopic = '';
  defaultTopicQueueCount = 0;
  queueId = 0;
  sysFlag = 0;
  bornTimeMs = 0;
  flag = 0;
  reconsumeTimes = 0;
  unitMode = false;
  maxReconsumeTimes: number = MAX_RECONSUME_TIMES_ABSENT;
  batch = false;
  /** Of the header this was read from last: what cannot have changed since is not read again. */
  lastTable: FieldTable | null = null;
  #properties: string | null = '';
  #header: Header | null = null;
  #field: FieldName = '';

  /** Made only when asked for: `writeProperties` does without. Of a request that was read, valid as long as its header is. */
  get properties(): string {
    this.#properties ??= this.#header?.field(this.#field) ?? '';
    return this.#properties;
  }

  set properties(text: string) {
    this.#properties = text;
    this.#header = null;
  }

  /** A bound on what `writeProperties` writes. */
  get propertiesSizeMax(): number {
    return this.#header === null ? Buffer.byteLength(this.properties) : this.#header.fieldSizeMax(this.#field);
  }

  /** Writes the properties' UTF-8 straight from the frame; returns its end. */
  writeProperties(out: Buffer, at: number): number {
    return this.#header === null ? at + out.write(this.properties, at, 'utf8') : this.#header.writeField(this.#field, out, at);
  }

  /** Where the properties lie as they stand in the frame; false where only `writeProperties` can tell. */
  findProperties(into: FieldSpan): boolean {
    return this.#header?.findField(this.#field, into) ?? false;
  }

  takeProperties(header: Header, field: FieldName): void {
    this.#properties = null;
    this.#header = header;
    this.#field = field;
  }
}

/** Reads any of the five codes into a reused object; a text is the fault to answer. */
export function readSendRequest(header: Header, into: SendRequest): string | null {
  const names = namesOf(header.code);
  const changed = header.changedFields(names.group.plan, into.lastTable);
  into.lastTable = header.table;
  if (isAmong(changed, names.group)) into.group = header.name(names.group);
  if (isAmong(changed, names.topic)) into.topic = header.name(names.topic);
  if (isAmong(changed, names.defaultTopic)) into.defaultTopic = header.name(names.defaultTopic);
  if (isAmong(changed, names.defaultTopicQueueCount)) into.defaultTopicQueueCount = int32Of(header, names.defaultTopicQueueCount);
  if (isAmong(changed, names.queueId)) into.queueId = int32Of(header, names.queueId);
  if (isAmong(changed, names.sysFlag)) into.sysFlag = int32Of(header, names.sysFlag);
  if (isAmong(changed, names.bornTimeMs)) into.bornTimeMs = int64Of(header, names.bornTimeMs);
  if (isAmong(changed, names.flag)) into.flag = int32Of(header, names.flag);
  into.takeProperties(header, names.properties);
  if (isAmong(changed, names.reconsumeTimes)) into.reconsumeTimes = int32Or(header, names.reconsumeTimes, 0);
  if (isAmong(changed, names.unitMode)) into.unitMode = boolOf(header, names.unitMode);
  if (isAmong(changed, names.maxReconsumeTimes))
    into.maxReconsumeTimes = int32Or(header, names.maxReconsumeTimes, MAX_RECONSUME_TIMES_ABSENT);
  if (isAmong(changed, names.batch)) into.batch = boolOf(header, names.batch);
  // A number that is absent or no number is NaN, and so then is the sum.
  const numbers = into.defaultTopicQueueCount + into.queueId + into.sysFlag + into.flag + into.reconsumeTimes + into.maxReconsumeTimes;
  const named = into.group !== '' && into.topic !== '' && (into.defaultTopic !== '' || header.field(names.defaultTopic) === '');
  if (named && Number.isSafeInteger(numbers + into.bornTimeMs)) return null;
  return sendFault(header, names, into);
}

function sendFault(header: Header, names: Names, seen: SendRequest): string {
  for (const key of ['group', 'topic', 'defaultTopic'] as const) {
    if (seen[key] === '' && (key !== 'defaultTopic' || header.field(names[key]) !== '')) return fieldFault(header, names[key], 'text');
  }
  for (const key of ['defaultTopicQueueCount', 'queueId', 'sysFlag', 'flag', 'reconsumeTimes', 'maxReconsumeTimes'] as const) {
    if (Number.isNaN(seen[key])) return fieldFault(header, names[key], int32.allowed);
  }
  if (Number.isNaN(seen.bornTimeMs)) return fieldFault(header, names.bornTimeMs, int64.allowed);
  return fieldFault(header, names.bornTimeMs, 'ms since 1970, below 2^53');
}

/** The fields of a request as a client sends them under this code. */
export function encodeSendRequest(code: number, request: SendRequest): ExtFields {
  const names = namesOf(code);
  const ext: ExtFields = {};
  for (const key of Object.keys(names) as (keyof Names)[]) {
    const value = request[key];
    if (key === 'maxReconsumeTimes' && value === MAX_RECONSUME_TIMES_ABSENT) continue;
    if (key === 'properties' && value === '') continue;
    ext[names[key].name] = value;
  }
  return ext;
}
