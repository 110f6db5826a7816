// Hashes of index keys, put together from topic and key, are Java's hashes of the whole text.
import test from 'ava';
import fc from 'fast-check';
import { javaHash } from '../../src/base/bytes.ts';
import { indexKeyHash, topicKeyHash } from '../../src/message/index-key.ts';

const text = fc.oneof(fc.string(), fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary', maxLength: 5 }));

test('index key: the parts hash as the whole text does, also beyond ASCII and in shared memory', (t) => {
  fc.assert(
    fc.property(text, text, (topic, key) => {
      const hash = javaHash(`${topic}#${key}`);
      const topicSize = Buffer.byteLength(topic);
      const bytes = Buffer.from(`${topic}${key}`);
      const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
      shared.set(bytes);
      for (const b of [bytes, shared]) t.is(indexKeyHash(topicKeyHash(b, 0, topicSize), b, topicSize, b.length), hash);
    }),
  );
});
