// Requests as stock clients send them, for the benchmarks: 1 KiB sends and pulls of 32, in both forms of the header.
import { RequestCodes } from '../src/protocol/codes.ts';
import { encodePullRequest, PullFlags, PullRequest } from '../src/protocol/commands/pull-message.ts';
import { encodeSendRequest, SendRequest } from '../src/protocol/commands/send-message.ts';
import { type HeaderCodec, HeaderCodecs } from '../src/protocol/frame.ts';
import { encodeFrame } from '../src/protocol/header.ts';

export const codecs: readonly (readonly [string, HeaderCodec])[] = [
  ['json', HeaderCodecs.json],
  ['binary', HeaderCodecs.binary],
];

export const uniqueKey = '7F0000010A3C18B4AAC2000000000001';
export const propertiesText = propertiesOf(uniqueKey);
export const topic = 'benchmark_topic';
export const QUEUE_ID = 5;
export const PULL_OFFSET = 123_456;

function propertiesOf(key: string): string {
  return `UNIQ_KEY\u0001${key}\u0002WAIT\u0001true\u0002TAGS\u0001TagA\u0002`;
}

/** No two messages are alike in key and time. */
export function sendFrame(codec: HeaderCodec, opaque: number, bodySize: number): Buffer {
  const request = new SendRequest();
  request.group = 'benchmark_producers';
  request.topic = topic;
  request.defaultTopic = 'TBW102';
  request.defaultTopicQueueCount = 4;
  request.queueId = QUEUE_ID;
  request.bornTimeMs = 1_764_500_000_123 + opaque;
  request.properties = propertiesOf(uniqueKey.slice(0, -8) + opaque.toString(16).toUpperCase().padStart(8, '0'));
  request.maxReconsumeTimes = 0;
  const ext = encodeSendRequest(RequestCodes.SEND_MESSAGE_V2, request);
  const body = Buffer.alloc(bodySize, 0x61);
  return encodeFrame({ code: RequestCodes.SEND_MESSAGE_V2, opaque, flag: 0, version: 479, language: 'JAVA', ext, codec, body });
}

export function pullFrame(codec: HeaderCodec, opaque: number): Buffer {
  const request = new PullRequest();
  request.group = 'benchmark_consumers';
  request.topic = topic;
  request.queueId = QUEUE_ID;
  request.offset = PULL_OFFSET;
  request.maxCount = 32;
  request.sysFlag = PullFlags.commitOffset | PullFlags.suspend;
  request.commitOffset = PULL_OFFSET;
  request.suspendMs = 15_000;
  request.subVersion = '1764500000123';
  request.expressionType = 'TAG';
  const ext = encodePullRequest(request);
  return encodeFrame({ code: RequestCodes.PULL_MESSAGE, opaque, flag: 0, version: 479, language: 'JAVA', ext, codec });
}
