// The grammar of command fields: what is allowed, and what the fault says.
import test from 'ava';
import fc from 'fast-check';
import { bool, defineExt, exactInt64, int32, int64, oneOf, optional, parseInt64, text } from '../../src/protocol/ext.ts';
import { type HeaderCodec, HeaderCodecs } from '../../src/protocol/frame.ts';
import { type ExtFields, encodeFrame, Header, readHeader } from '../../src/protocol/header.ts';

const sample = defineExt({
  name: text,
  count: int32,
  offset: int64,
  version: exactInt64,
  side: optional(oneOf('LOWER', 'UPPER')),
  force: optional(bool),
  limit: optional(int32),
});

function headerOf(ext: ExtFields, codec: HeaderCodec): Header {
  const frame = encodeFrame({ code: 1, opaque: 1, flag: 0, codec, ext });
  const header = new Header();
  const fault = readHeader(frame, 8, frame.readUIntBE(5, 3), codec, header);
  if (fault !== null) throw new Error(fault);
  return header;
}

const good = { name: 'n', count: 1, offset: 2, version: '1796036932062919262' };

test('ext: whatever a grammar encodes, it decodes, in both forms', (t) => {
  const value = fc.record(
    {
      name: fc.string({ unit: 'grapheme', minLength: 1 }),
      count: fc.integer(),
      offset: fc.maxSafeInteger(),
      version: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
      side: fc.constantFrom('LOWER' as const, 'UPPER' as const),
      force: fc.boolean(),
      limit: fc.integer(),
    },
    { requiredKeys: ['name', 'count', 'offset', 'version'] },
  );
  fc.assert(
    fc.property(value, fc.constantFrom(0, 1), (value, codec) => {
      t.deepEqual(sample.decode(headerOf(sample.encode(value), codec as HeaderCodec)), { ok: true, value: { ...value } });
    }),
    { numRuns: 1000, seed: 5 },
  );
});

test('ext: a fault names the field, what was seen and what is allowed', (t) => {
  const faultOf = (changes: Record<string, string>, without?: string): string => {
    const ext: Record<string, string | number> = { ...good, ...changes };
    if (without !== undefined) delete ext[without];
    const faults = Object.values(HeaderCodecs).map((codec) => {
      const decoded = sample.decode(headerOf(ext, codec));
      return decoded.ok ? 'none' : decoded.fault;
    });
    t.is(faults[0], faults[1]);
    return faults[0] as string;
  };
  t.is(faultOf({}), 'none');
  t.is(faultOf({}, 'name'), 'request field is absent field=name allowed=text');
  t.is(faultOf({ name: '' }), 'request field is absent field=name allowed=text');
  t.is(faultOf({ count: '1.5' }), 'request field is not as allowed field=count seen=1.5 allowed=-2147483648 to 2147483647');
  t.regex(faultOf({ count: '2147483648' }), /field=count seen=2147483648/);
  t.regex(faultOf({ count: 'NaN' }), /field=count/);
  t.regex(faultOf({ offset: '9223372036854775808' }), /field=offset seen=9223372036854775808 allowed=-2\^63/);
  t.regex(faultOf({ offset: '1e3' }), /field=offset/);
  t.regex(faultOf({ version: '1x' }), /field=version/);
  t.regex(faultOf({ side: 'MIDDLE' }), /field=side seen=MIDDLE allowed=LOWER, UPPER/);
  t.regex(faultOf({ limit: 'x'.repeat(500) }), /field=limit seen=x{100} allowed/);
  t.is(faultOf({ side: 'lower', force: 'TRUE', limit: '+7' }), 'none');
});

test('ext: 64 bits to their very ends', (t) => {
  t.is(parseInt64('9223372036854775807'), 2 ** 63);
  t.is(parseInt64('-9223372036854775808'), -(2 ** 63));
  t.is(parseInt64('9223372036854775808'), undefined);
  t.is(parseInt64('-9223372036854775809'), undefined);
  t.is(parseInt64('99999999999999999999'), undefined);
  t.is(parseInt64('9007199254740993'), 9007199254740992);
  t.is(parseInt64('000000000000000000012'), undefined);
  t.is(parseInt64('0000000000000000012'), 12);
  const ends = sample.encode({ ...good, offset: 2 ** 63 });
  t.is(ends['offset'], '9223372036854775807');
  t.is(sample.encode({ ...good, offset: -(2 ** 63) })['offset'], '-9223372036854775808');
});
