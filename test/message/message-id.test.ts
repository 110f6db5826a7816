// Offset message ids: the documented example, both families of hosts, and texts that are none.
import test from 'ava';
import fc from 'fast-check';
import { decodeOffsetMessageId, encodeOffsetMessageId, offsetMessageIdSize, writeOffsetMessageId } from '../../src/message/message-id.ts';

test('message id: the documented example', (t) => {
  const host = Uint8Array.of(10, 0, 0, 1);
  t.is(encodeOffsetMessageId(host, 10911, 12345), '0A00000100002A9F0000000000003039');
  t.deepEqual(decodeOffsetMessageId('0a00000100002A9f0000000000003039'), { host, port: 10911, position: 12345 });
});

test('message id: is written in place and nowhere else', (t) => {
  const out = Buffer.alloc(40, '.');
  t.is(writeOffsetMessageId(out, 3, Uint8Array.of(192, 168, 0, 9), 10911, 0x84), 35);
  t.is(out.toString('latin1'), '...C0A8000900002A9F0000000000000084.....');
});

test('message id: both families and all positions come back', (t) => {
  const hosts = fc.oneof(fc.uint8Array({ minLength: 4, maxLength: 4 }), fc.uint8Array({ minLength: 16, maxLength: 16 }));
  fc.assert(
    fc.property(hosts, fc.nat({ max: 65535 }), fc.nat({ max: Number.MAX_SAFE_INTEGER }), (host, port, position) => {
      const text = encodeOffsetMessageId(host, port, position);
      t.is(text.length, offsetMessageIdSize(host.length));
      t.deepEqual(decodeOffsetMessageId(text), { host, port, position });
    }),
    { seed: 5, numRuns: 200 },
  );
});

const noIds = ['', '0A', `${'0'.repeat(31)}G`, '0'.repeat(33), `0A00000100002A9F${'F'.repeat(16)}`, `0A00000100002A9F7${'0'.repeat(15)}`];
for (const text of noIds) test(`message id: ${JSON.stringify(text)} is none`, (t) => t.is(decodeOffsetMessageId(text), null));
