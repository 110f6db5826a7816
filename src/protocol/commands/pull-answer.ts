// The answer to a pull, written straight into the outgoing buffer: length words and header, so that the records can follow as they lie.
import { writeI32 } from '../../base/bytes.ts';
import { constant, writeConstant, writeDigits, writeJsonText } from '../ascii.ts';
import { binaryKey, writeBinaryStart, writeDigitsEntry } from '../binary-answer.ts';
import { type Decoded, defineExt, type ExtOf, int64 } from '../ext.ts';
import { HEADER_AT, type HeaderCodec, HeaderCodecs } from '../frame.ts';
import { type Header, writeFrameStart } from '../header.ts';
import { BROKER_VERSION } from '../versions.ts';

//   suggestWhichBrokerId! i64 (0 = master), nextBeginOffset! i64, minOffset! i64, maxOffset! i64: stock clients need all four with
//   codes 0, 19, 20 and 21. The remark is a status name, for logs. Body with code 0: records, at least one whole one.

const grammar = { suggestWhichBrokerId: int64, nextBeginOffset: int64, minOffset: int64, maxOffset: int64 };
export type PullAnswer = ExtOf<typeof grammar>;
const codec = defineExt(grammar);

export function decodePullAnswer(header: Header): Decoded<PullAnswer> {
  return codec.decode(header);
}

const FIXED_SIZE_MAX = 400;
const ESCAPED_SIZE_MAX = 6;

/** A bound on what `writePullAnswerHeader` writes. */
export function pullAnswerHeaderSizeMax(remark: string | undefined): number {
  return FIXED_SIZE_MAX + ESCAPED_SIZE_MAX * (remark?.length ?? 0);
}

const jsonCode = constant('{"code":');
const jsonMaxOffset = constant(',"extFields":{"maxOffset":"');
const jsonMinOffset = constant('","minOffset":"');
const jsonNextOffset = constant('","nextBeginOffset":"');
const jsonMaster = constant('","suggestWhichBrokerId":"0"},"flag":1,"language":"JAVA","opaque":');
const jsonBrokerId = constant('","suggestWhichBrokerId":"');
const jsonAfterExt = constant('"},"flag":1,"language":"JAVA","opaque":');
const jsonRemark = constant(',"remark":"');
const jsonAfterRemark = constant(`","serializeTypeCurrentRPC":"JSON","version":${BROKER_VERSION}}`);
const jsonEnd = constant(`,"serializeTypeCurrentRPC":"JSON","version":${BROKER_VERSION}}`);

const keyMaxOffset = binaryKey('maxOffset');
const keyMinOffset = binaryKey('minOffset');
const keyNextOffset = binaryKey('nextBeginOffset');
const keyBrokerId = binaryKey('suggestWhichBrokerId');

/** Writes the frame up to its body of `bodySize` bytes; returns where the body begins. */
export function writePullAnswerHeader(
  out: Buffer,
  at: number,
  codec: HeaderCodec,
  opaque: number,
  code: number,
  nextOffset: number,
  minOffset: number,
  maxOffset: number,
  remark: string | undefined,
  bodySize: number,
  brokerId = 0,
): number {
  const headerAt = at + HEADER_AT;
  let end: number;
  if (codec === HeaderCodecs.binary) {
    const extAt = writeBinaryStart(out, headerAt, opaque, code, remark);
    end = writeDigitsEntry(out, extAt, keyMaxOffset, maxOffset);
    end = writeDigitsEntry(out, end, keyMinOffset, minOffset);
    end = writeDigitsEntry(out, end, keyNextOffset, nextOffset);
    end = writeDigitsEntry(out, end, keyBrokerId, brokerId);
    writeI32(out, extAt - 4, end - extAt);
  } else {
    end = writeDigits(out, writeConstant(out, headerAt, jsonCode), code);
    end = writeDigits(out, writeConstant(out, end, jsonMaxOffset), maxOffset);
    end = writeDigits(out, writeConstant(out, end, jsonMinOffset), minOffset);
    end = writeDigits(out, writeConstant(out, end, jsonNextOffset), nextOffset);
    if (brokerId === 0) end = writeConstant(out, end, jsonMaster);
    else end = writeConstant(out, writeDigits(out, writeConstant(out, end, jsonBrokerId), brokerId), jsonAfterExt);
    end = writeDigits(out, end, opaque);
    if (remark === undefined) end = writeConstant(out, end, jsonEnd);
    else end = writeConstant(out, writeJsonText(out, writeConstant(out, end, jsonRemark), remark), jsonAfterRemark);
  }
  writeFrameStart(out, at, codec, end - headerAt, bodySize);
  return end;
}
