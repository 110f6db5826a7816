// SEND_MESSAGE and its kin: one message or a batch to a queue, under long field names (10, 324) or one-letter ones (310, 320, 325).
import { RequestCodes } from '../codes.ts';
import { boolOf, fieldFault, int32, int32Of, int32Or, int64, int64Of } from '../ext.ts';
import type { ExtFields, Header } from '../header.ts';

//   a producerGroup! s          e queueId! i32 (<0: broker picks)     i properties s      m batch b
//   b topic! s                  f sysFlag! i32                        j reconsumeTimes i32
//   c defaultTopic! s           g bornTimestamp! i64 ms               k unitMode b
//   d defaultTopicQueueNums!    h flag! i32, the user's               l maxReconsumeTimes i32
//   The body is the message's, or with `batch` the entries of a batch, whichever the code. `n` or `bname`, the broker's name, is ignored.

interface Names {
  readonly group: string;
  readonly topic: string;
  readonly defaultTopic: string;
  readonly defaultTopicQueueCount: string;
  readonly queueId: string;
  readonly sysFlag: string;
  readonly bornTimeMs: string;
  readonly flag: string;
  readonly properties: string;
  readonly reconsumeTimes: string;
  readonly unitMode: string;
  readonly maxReconsumeTimes: string;
  readonly batch: string;
}

const longNames: Names = {
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
};

const letterNames: Names = {
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
};

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
  #properties: string | null = '';
  #header: Header | null = null;
  #name = '';

  /** Made only when asked for: `writeProperties` does without. Of a request that was read, valid as long as its header is. */
  get properties(): string {
    this.#properties ??= this.#header?.field(this.#name) ?? '';
    return this.#properties;
  }

  set properties(text: string) {
    this.#properties = text;
    this.#header = null;
  }

  /** A bound on what `writeProperties` writes. */
  get propertiesSizeMax(): number {
    return this.#header === null ? Buffer.byteLength(this.properties) : this.#header.fieldSizeMax(this.#name);
  }

  /** Writes the properties' UTF-8 straight from the frame; returns its end. */
  writeProperties(out: Buffer, at: number): number {
    return this.#header === null ? at + out.write(this.properties, at, 'utf8') : this.#header.writeField(this.#name, out, at);
  }

  takeProperties(header: Header, name: string): void {
    this.#properties = null;
    this.#header = header;
    this.#name = name;
  }
}

/** Reads any of the five codes into a reused object; a text is the fault to answer. */
export function readSendRequest(header: Header, into: SendRequest): string | null {
  const names = namesOf(header.code);
  into.group = header.name(names.group);
  into.topic = header.name(names.topic);
  into.defaultTopic = header.name(names.defaultTopic);
  into.defaultTopicQueueCount = int32Of(header, names.defaultTopicQueueCount);
  into.queueId = int32Of(header, names.queueId);
  into.sysFlag = int32Of(header, names.sysFlag);
  into.bornTimeMs = int64Of(header, names.bornTimeMs);
  into.flag = int32Of(header, names.flag);
  into.takeProperties(header, names.properties);
  into.reconsumeTimes = int32Or(header, names.reconsumeTimes, 0);
  into.unitMode = boolOf(header, names.unitMode);
  into.maxReconsumeTimes = int32Or(header, names.maxReconsumeTimes, MAX_RECONSUME_TIMES_ABSENT);
  into.batch = boolOf(header, names.batch);
  // A number that is absent or no number is NaN, and so then is the sum.
  const numbers = into.defaultTopicQueueCount + into.queueId + into.sysFlag + into.flag + into.reconsumeTimes + into.maxReconsumeTimes;
  if (into.group !== '' && into.topic !== '' && into.defaultTopic !== '' && Number.isSafeInteger(numbers + into.bornTimeMs)) return null;
  return sendFault(header, names, into);
}

function sendFault(header: Header, names: Names, seen: SendRequest): string {
  for (const key of ['group', 'topic', 'defaultTopic'] as const) {
    if (seen[key] === '') return fieldFault(header, names[key], 'text');
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
    ext[names[key]] = value;
  }
  return ext;
}
