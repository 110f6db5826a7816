// Checks both forms of a registration, hostile ones and captured ones.
import { deflateSync } from 'node:zlib';
import test from 'ava';
import {
  type BrokerRegistration,
  decodeRegistration,
  encodeCompressedRegistration,
  encodeRegistration,
  registrationCrc,
} from '../../../src/protocol/bodies/register-broker.ts';
import { cut, goldenAbsent, goldenFrames } from '../golden.ts';

const topic = { topicFilterType: 'SINGLE_TAG', topicSysFlag: 0, order: false, readQueueNums: 3, writeQueueNums: 2, perm: 6 };

const registration: BrokerRegistration = {
  dataVersion: { stateVersion: 3, timestamp: 1_700_000_000_000, counter: 2 },
  topics: [
    { ...topic, topicName: '%RETRY%g', attributes: {} },
    { ...topic, topicName: 'ordered', order: false, attributes: { 'message.type': 'FIFO', 'x y': 'a b' } },
  ],
  filterServers: ['127.0.0.1:1'],
  queueMappings: new Map(),
};

test('register broker: both forms are read as they were written', (t) => {
  t.deepEqual(decodeRegistration(encodeRegistration(registration), false, 513), { ok: true, value: registration });
  t.deepEqual(decodeRegistration(encodeCompressedRegistration(registration), true, 513), { ok: true, value: registration });
});

test('register broker: a 4.x broker compresses without attributes and mappings', (t) => {
  const part = (text: string) => Buffer.concat([Buffer.from([0, 0, 0, text.length]), Buffer.from(text)]);
  const body = deflateSync(
    Buffer.concat([part('{"counter":1,"timestamp":2}'), Buffer.from([0, 0, 0, 1]), part('T 4 5 6 SINGLE_TAG'), part('[]')]),
  );
  const decoded = decodeRegistration(body, true, 401);
  t.true(decoded.ok);
  if (!decoded.ok) return;
  t.deepEqual(decoded.value.topics, [{ ...topic, topicName: 'T', readQueueNums: 4, writeQueueNums: 5, attributes: {} }]);
  t.deepEqual(decoded.value.dataVersion, { stateVersion: 0, timestamp: 2, counter: 1 });
});

test('register broker: a cut or hostile compressed form is a fault, not a crash', (t) => {
  const whole = encodeCompressedRegistration(registration);
  for (let size = 0; size < whole.length; size++) t.false(decodeRegistration(whole.subarray(0, size), true, 513).ok, String(size));
  t.false(decodeRegistration(deflateSync(Buffer.alloc(100 * 1024 * 1024)), true, 513).ok);
  t.false(decodeRegistration(deflateSync(Buffer.from([0x7f, 0xff, 0xff, 0xff])), true, 513).ok);
  t.false(decodeRegistration(deflateSync(Buffer.from([0xff, 0xff, 0xff, 0xff])), true, 513).ok);
});

test("register broker: Apache's registrations are read, checked and written the same", (t) => {
  let count = 0;
  for (const frame of goldenFrames('broker-5.5.0').concat(goldenFrames('slave-5.5.0'))) {
    if (frame.code !== 103 || (frame.flag & 1) !== 0) continue;
    const { body } = cut(Buffer.from(frame.b64, 'base64'));
    t.is(registrationCrc(body), Number(frame.ext?.['bodyCrc32']));
    const decoded = decodeRegistration(body, false, frame.version);
    t.true(decoded.ok);
    if (!decoded.ok) continue;
    const stamp = /"mappingDataVersion":\{"counter":(\d+),"stateVersion":(\d+),"timestamp":(\d+)\}/.exec(body.toString()) ?? [];
    const mapping = { counter: Number(stamp[1]), stateVersion: Number(stamp[2]), timestamp: Number(stamp[3]) };
    t.is(encodeRegistration(decoded.value, mapping).toString(), body.toString());
    count++;
  }
  if (goldenAbsent === undefined) t.true(count > 5);
  else t.log(goldenAbsent);
});
