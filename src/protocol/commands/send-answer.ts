// The answer to a stored message, written straight into the outgoing buffer: one for every send, so nothing is allocated.
import { writeI32 } from '../../base/bytes.ts';
import { constant, writeConstant, writeDigits, writeHex64, writeJsonText } from '../ascii.ts';
import { binaryKey as key, writeBinaryStart, writeDigitsEntry, writeTextEntry } from '../binary-answer.ts';
import { bool, type Decoded, defineExt, type ExtOf, int32, int64, optional, text } from '../ext.ts';
import { HEADER_AT, type HeaderCodec, HeaderCodecs } from '../frame.ts';
import { type Header, writeFrameStart } from '../header.ts';
import { BROKER_VERSION } from '../versions.ts';

//   MSG_REGION s, TRACE_ON "true"|"false", msgId! s (offset id; of a batch: ids joined by commas), queueId! i32,
//   queueOffset! i64 (of a batch: the first), transactionId s (the message's UNIQ_KEY). No body.

export class SendAnswer {
  queueId = 0;
  queueOffset = 0;
  /** Hex of the store host and port, the first part of an offset id; `position` makes the rest. */
  msgIdPrefix = '';
  position = 0;
  /** The whole id instead of prefix and position: of a batch, or "0" of a reply that was not stored. */
  msgId: string | undefined = undefined;
  transactionId: string | undefined = undefined;
  regionId = 'DefaultRegion';
  traceOn = true;
}

const HEX64_SIZE = 16;
const FIXED_SIZE_MAX = 400;
const ESCAPED_SIZE_MAX = 6;

/** A bound on what `writeSendAnswer` writes, from the lengths of its texts in characters. */
export function sendAnswerSizeMax(msgIdLength: number, transactionIdLength: number, regionLength: number): number {
  return FIXED_SIZE_MAX + ESCAPED_SIZE_MAX * (msgIdLength + transactionIdLength + regionLength);
}

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
  const headerAt = at + HEADER_AT;
  const end =
    codec === HeaderCodecs.binary
      ? writeBinary(out, headerAt, opaque, code, answer, remark)
      : writeJson(out, headerAt, opaque, code, answer, remark);
  writeFrameStart(out, at, codec, end - headerAt, 0);
  return end;
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
  const { msgId, transactionId } = answer;
  at = writeDigits(out, writeConstant(out, at, jsonCode), code);
  at = writeConstant(out, at, jsonStart(answer.regionId, answer.traceOn, msgId === undefined ? answer.msgIdPrefix : ''));
  at = msgId === undefined ? writeHex64(out, at, answer.position) : writeJsonText(out, at, msgId);
  at = writeDigits(out, writeConstant(out, at, jsonQueueId), answer.queueId);
  at = writeDigits(out, writeConstant(out, at, jsonQueueOffset), answer.queueOffset);
  if (transactionId !== undefined) at = writeJsonText(out, writeConstant(out, at, jsonTransactionId), transactionId);
  at = writeDigits(out, writeConstant(out, at, jsonAfterExt), opaque);
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
  const { msgId, transactionId } = answer;
  const extAt = writeBinaryStart(out, at, opaque, code, remark);
  at = writeTextEntry(out, extAt, keyRegion, answer.regionId);
  at = writeTextEntry(out, at, keyTrace, answer.traceOn ? 'true' : 'false');
  at = writeTextEntry(out, at, keyMsgId, msgId ?? answer.msgIdPrefix);
  if (msgId === undefined) {
    writeI32(out, at - answer.msgIdPrefix.length - 4, answer.msgIdPrefix.length + HEX64_SIZE);
    at = writeHex64(out, at, answer.position);
  }
  at = writeDigitsEntry(out, at, keyQueueId, answer.queueId);
  at = writeDigitsEntry(out, at, keyQueueOffset, answer.queueOffset);
  if (transactionId !== undefined) at = writeTextEntry(out, at, keyTransactionId, transactionId);
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
