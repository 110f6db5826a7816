// The answer to a stored message, written straight into the outgoing buffer: one for every send, so nothing is allocated.
import { writeI32 } from '../../base/bytes.ts';
import { viewBelow } from '../../base/views.ts';
import { constant, copyView, digitsSize, writeConstant, writeDigits, writeHex64, writeJsonText } from '../ascii.ts';
import { binaryKey as key, writeBinaryStart, writeDigitsEntry, writeSized, writeTextEntry } from '../binary-answer.ts';
import { OPAQUE_AT } from '../binary-header.ts';
import { bool, type Decoded, defineExt, type ExtOf, int32, int64, optional, text } from '../ext.ts';
import { HEADER_AT, type HeaderCodec, HeaderCodecs } from '../frame.ts';
import { type Header, writeFrameStart } from '../header.ts';
import { BROKER_VERSION } from '../versions.ts';
import { type AnswerPlaces, SendAnswerTemplates } from './send-answer-template.ts';

//   MSG_REGION s, TRACE_ON "true"|"false", msgId! s (offset id; of a batch: ids joined by commas), queueId! i32,
//   queueOffset! i64 (of a batch: the first), transactionId s (the message's UNIQ_KEY). No body.

const noKey = new DataView(new ArrayBuffer(0));

export class SendAnswer {
  queueId = 0;
  queueOffset = 0;
  /** Hex of the store host and port, the first part of an offset id; `position` makes the rest. */
  msgIdPrefix = '';
  position = 0;
  /** Sizes of a batch's records, which lie back to back from `position` on; null for a single message. */
  sizes: readonly number[] | null = null;
  /** The unique key: plain ASCII that JSON need not escape, as bytes of a view. */
  key: DataView = noKey;
  keyAt = 0;
  keySize = 0;
  /** The unique key where it is anything else. */
  transactionId: string | undefined = undefined;
  regionId = 'DefaultRegion';
  traceOn = true;
}

const HEX64_SIZE = 16;
const FIXED_SIZE_MAX = 400;
const ESCAPED_SIZE_MAX = 6;

/** A bound on what `writeSendAnswer` writes, without a remark. */
export function sendAnswerSizeMax(answer: SendAnswer): number {
  const escaped = (answer.transactionId?.length ?? 0) + answer.regionId.length;
  return FIXED_SIZE_MAX + idsSize(answer) + answer.keySize + ESCAPED_SIZE_MAX * escaped;
}

function idsSize(answer: SendAnswer): number {
  const idSize = answer.msgIdPrefix.length + HEX64_SIZE;
  return answer.sizes === null ? idSize : answer.sizes.length * (idSize + 1) - 1;
}

const templates = new SendAnswerTemplates();

/** Where `writeBinary` and `writeJson` put what differs from answer to answer. */
const places: AnswerPlaces = { opaqueAt: 0, positionAt: 0, queueIdAt: 0, queueOffsetAt: 0, keyAt: 0 };

/** Writes a whole frame at `at` and returns its end. */
export function writeSendAnswer(
  out: Buffer,
  at: number,
  codec: HeaderCodec,
  opaque: number,
  code: number,
  answer: SendAnswer,
  remark?: string,
): number {
  const usual = answer.sizes === null && answer.transactionId === undefined && remark === undefined;
  if (usual) {
    const end = templates.write(out, at, codec, opaque, code, answer);
    if (end >= 0) return end;
  }
  const headerAt = at + HEADER_AT;
  const end =
    codec === HeaderCodecs.binary
      ? writeBinary(out, headerAt, opaque, code, answer, remark)
      : writeJson(out, headerAt, opaque, code, answer, remark);
  writeFrameStart(out, at, codec, end - headerAt, 0);
  if (usual) templates.learn(out, at, end, codec, opaque, code, answer, places);
  return end;
}

/** The offset ids of all messages; `firstPrefix` false where the first prefix is there already. */
function writeIds(out: Buffer, at: number, answer: SendAnswer, firstPrefix: boolean): number {
  const { sizes, msgIdPrefix } = answer;
  if (firstPrefix) at = writePlainConstant(out, at, msgIdPrefix);
  places.positionAt = at;
  at = writeHex64(out, at, answer.position);
  return sizes === null ? at : writeLaterIds(out, at, msgIdPrefix.length + HEX64_SIZE, answer.position, sizes);
}

const COMMA = 0x2c;

/** Each id is the one before it, copied, with other digits at its end. */
function writeLaterIds(out: Buffer, at: number, idSize: number, position: number, sizes: readonly number[]): number {
  const view = viewBelow(out);
  const base = out.byteOffset;
  const prefixSize = idSize - HEX64_SIZE;
  for (let i = 1; i < sizes.length; i++) {
    position += sizes[i - 1] as number;
    const from = base + at - idSize;
    out[at++] = COMMA;
    for (let k = 0; k < prefixSize; k += 4) view.setInt32(base + at + k, view.getInt32(from + k));
    at = writeHex64(out, at + prefixSize, position);
  }
  return at;
}

function writePlainConstant(out: Buffer, at: number, letters: string): number {
  for (let i = 0; i < letters.length; i++) out[at + i] = letters.charCodeAt(i);
  return at + letters.length;
}

const jsonCode = constant('{"code":');
const jsonQueueId = constant('","queueId":"');
const jsonQueueOffset = constant('","queueOffset":"');
const jsonTransactionId = constant('","transactionId":"');
const jsonAfterExt = constant('"},"flag":1,"language":"JAVA","opaque":');
const jsonRemark = constant(',"remark":"');
const jsonQuote = constant('"');
const jsonEnd = constant(`,"serializeTypeCurrentRPC":"JSON","version":${BROKER_VERSION}}`);

/** From the fields' start to the offset id's prefix; the same for nearly all answers of a broker. */
let startPart = constant('');
let startRegion = '';
let startTrace = false;
let startPrefix = '';

function jsonStart(region: string, traceOn: boolean, prefix: string): Uint8Array {
  if (startPart.length === 0 || region !== startRegion || traceOn !== startTrace || prefix !== startPrefix) {
    const ids = `"TRACE_ON":"${traceOn}","msgId":${JSON.stringify(prefix).slice(0, -1)}`;
    startPart = new Uint8Array(Buffer.from(`,"extFields":{"MSG_REGION":${JSON.stringify(region)},${ids}`));
    startRegion = region;
    startTrace = traceOn;
    startPrefix = prefix;
  }
  return startPart;
}

function writeJson(out: Buffer, at: number, opaque: number, code: number, answer: SendAnswer, remark: string | undefined): number {
  const { keySize, transactionId } = answer;
  at = writeDigits(out, writeConstant(out, at, jsonCode), code);
  at = writeConstant(out, at, jsonStart(answer.regionId, answer.traceOn, answer.msgIdPrefix));
  at = writeIds(out, at, answer, false);
  places.queueIdAt = writeConstant(out, at, jsonQueueId);
  at = writeDigits(out, places.queueIdAt, answer.queueId);
  places.queueOffsetAt = writeConstant(out, at, jsonQueueOffset);
  at = writeDigits(out, places.queueOffsetAt, answer.queueOffset);
  if (keySize > 0 || transactionId !== undefined) at = writeConstant(out, at, jsonTransactionId);
  places.keyAt = at;
  if (keySize > 0) at = copyView(answer.key, answer.keyAt, keySize, out, at);
  else if (transactionId !== undefined) at = writeJsonText(out, at, transactionId);
  places.opaqueAt = writeConstant(out, at, jsonAfterExt);
  at = writeDigits(out, places.opaqueAt, opaque);
  if (remark !== undefined) at = writeConstant(out, writeJsonText(out, writeConstant(out, at, jsonRemark), remark), jsonQuote);
  return writeConstant(out, at, jsonEnd);
}

const keyRegion = key('MSG_REGION');
const keyTrace = key('TRACE_ON');
const keyMsgId = key('msgId');
const keyQueueId = key('queueId');
const keyQueueOffset = key('queueOffset');
const keyTransactionId = key('transactionId');

function writeBinary(out: Buffer, at: number, opaque: number, code: number, answer: SendAnswer, remark: string | undefined): number {
  const { keySize, transactionId } = answer;
  const extAt = writeBinaryStart(out, at, opaque, code, remark);
  places.opaqueAt = at + OPAQUE_AT;
  at = writeTextEntry(out, extAt, keyRegion, answer.regionId);
  at = writeTextEntry(out, at, keyTrace, answer.traceOn ? 'true' : 'false');
  at = writeSized(out, at, keyMsgId, idsSize(answer));
  at = writeIds(out, at, answer, true);
  at = writeDigitsEntry(out, at, keyQueueId, answer.queueId);
  places.queueIdAt = at - digitsSize(answer.queueId);
  at = writeDigitsEntry(out, at, keyQueueOffset, answer.queueOffset);
  places.queueOffsetAt = at - digitsSize(answer.queueOffset);
  if (keySize > 0) {
    places.keyAt = writeSized(out, at, keyTransactionId, keySize);
    at = copyView(answer.key, answer.keyAt, keySize, out, places.keyAt);
  } else if (transactionId !== undefined) at = writeTextEntry(out, at, keyTransactionId, transactionId);
  writeI32(out, extAt - 4, at - extAt);
  return at;
}

const grammar = {
  msgId: text,
  queueId: int32,
  queueOffset: int64,
  transactionId: optional(text),
  MSG_REGION: optional(text),
  TRACE_ON: optional(bool),
  batchUniqId: optional(text),
  recallHandle: optional(text),
};
export type SendAnswerFields = ExtOf<typeof grammar>;
const fields = defineExt(grammar);

export function decodeSendAnswer(header: Header): Decoded<SendAnswerFields> {
  return fields.decode(header);
}

/** The same answer for paths that are not hot, and for errors, which carry only the last two of the usual fields. */
export const encodeSendAnswer = fields.encode;
