// 64-bit fields and numbers in two halves keep every safe integer, as the platform's own big integers have it.
import test from 'ava';
import fc from 'fast-check';
import { high32, join64, low32, readI64, writeI64 } from '../../src/base/bytes.ts';

test('bytes: a safe integer survives in 8 bytes and in two halves', (t) => {
  const edge = fc.constantFrom(0, -1, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), 2 ** 32 - 1, 2 ** 32, -(2 ** 32), -(2 ** 32) - 1);
  fc.assert(
    fc.property(fc.oneof(edge, fc.maxSafeInteger()), (value) => {
      const bytes = Buffer.alloc(8);
      writeI64(bytes, 0, value);
      t.is(bytes.readBigInt64BE(0), BigInt(value));
      t.is(readI64(bytes, 0), value);
      t.is(join64(high32(value), low32(value)), value);
      t.is(low32(value), Number(BigInt.asIntN(32, BigInt(value))));
    }),
  );
});
