// Send requests under both kinds of field names.
import test from 'ava';
import { RequestCodes } from '../../../src/protocol/codes.ts';
import { encodeSendRequest, readSendRequest, SendRequest } from '../../../src/protocol/commands/send-message.ts';
import { type HeaderCodec, HeaderCodecs } from '../../../src/protocol/frame.ts';
import { type ExtFields, encodeFrame, Header, readHeader } from '../../../src/protocol/header.ts';

const request = Object.assign(new SendRequest(), {
  group: 'G',
  topic: 'T',
  defaultTopic: 'TBW102',
  defaultTopicQueueCount: 4,
  queueId: -1,
  bornTimeMs: 1_796_036_699_664,
  properties: 'KEYS\u0001标签\u0002',
});

function headerOf(code: number, ext: ExtFields, codec: HeaderCodec = HeaderCodecs.json): Header {
  const frame = encodeFrame({ code, opaque: 1, flag: 0, codec, ext });
  const header = new Header();
  const fault = readHeader(frame, 8, frame.readUIntBE(5, 3), frame[4] as HeaderCodec, header);
  if (fault !== null) throw new Error(fault);
  return header;
}

test('send: properties are the same as text and as bytes, read or set', (t) => {
  const out = Buffer.alloc(256);
  const seen = new SendRequest();
  for (const codec of Object.values(HeaderCodecs)) {
    const header = headerOf(RequestCodes.SEND_MESSAGE_V2, encodeSendRequest(RequestCodes.SEND_MESSAGE_V2, request), codec);
    t.is(readSendRequest(header, seen), null);
    for (const one of [seen, request]) {
      const end = one.writeProperties(out, 3);
      t.is(out.toString('utf8', 3, end), request.properties);
      t.true(end - 3 <= one.propertiesSizeMax);
      t.is(one.properties, request.properties);
    }
  }
  const { i: _, ...without } = encodeSendRequest(RequestCodes.SEND_MESSAGE_V2, request);
  t.is(readSendRequest(headerOf(RequestCodes.SEND_MESSAGE_V2, without), seen), null);
  t.is(seen.properties, '');
  t.is(seen.writeProperties(out, 3), 3);
  t.is(seen.propertiesSizeMax, 0);
});

test('send: an answerable fault for each field that is absent or senseless', (t) => {
  const seen = new SendRequest();
  for (const code of [RequestCodes.SEND_MESSAGE, RequestCodes.SEND_MESSAGE_V2]) {
    const whole = encodeSendRequest(code, request);
    const names = Object.keys(whole);
    const faultWith = (name: string, value: string | undefined): string | null => {
      const ext: ExtFields = { ...whole };
      if (value === undefined) delete ext[name];
      else ext[name] = value;
      return readSendRequest(headerOf(code, ext), seen);
    };
    // In the order of the grammar: eight are required, and of those five are numbers.
    for (const [index, name] of names.slice(0, 8).entries()) {
      t.is(faultWith(name, undefined)?.startsWith(`request field is absent field=${name} `), true, name);
      if (index >= 3) t.regex(faultWith(name, '1x') ?? '', new RegExp(`field=${name} seen=1x allowed=`));
    }
    const [, , , , queueId = '', , bornTime = ''] = names;
    t.regex(faultWith(queueId, '2147483648') ?? '', /seen=2147483648/);
    t.regex(faultWith(bornTime, '9223372036854775807') ?? '', /below 2\^53/);
    t.is(faultWith(queueId, '+3'), null);
    t.is(seen.queueId, 3);
    t.is(seen.maxReconsumeTimes, -1);
  }
});

test('send: the topic that a new one would be made after may be empty, as Go clients before 2.1.2 send it with batches', (t) => {
  const seen = new SendRequest();
  const whole = { ...encodeSendRequest(RequestCodes.SEND_BATCH_MESSAGE, request), m: true };
  for (const rest of [
    { c: '', d: 0 },
    { c: '', d: '0', l: '0' },
  ]) {
    t.is(readSendRequest(headerOf(RequestCodes.SEND_BATCH_MESSAGE, { ...whole, ...rest }), seen), null);
    t.deepEqual([seen.topic, seen.defaultTopic, seen.defaultTopicQueueCount], ['T', '', 0]);
  }
  // What else is wrong is told all the same.
  t.regex(readSendRequest(headerOf(RequestCodes.SEND_BATCH_MESSAGE, { ...whole, c: '', e: 'x' }), seen) ?? '', /field=e seen=x/);
  t.regex(readSendRequest(headerOf(RequestCodes.SEND_BATCH_MESSAGE, { ...whole, c: '', b: '' }), seen) ?? '', /absent field=b/);
});
