// Cutting frames out of any chunks, refusals, limits, and hostile bytes.
import test from 'ava';
import { SeededRandom } from '../../src/base/random.ts';
import type { FrameSink, HeaderCodec } from '../../src/protocol/frame.ts';
import { FRAME_SIZE_MAX, FrameDecoder, HeaderCodecs } from '../../src/protocol/frame.ts';
import { encodeFrame, Header, readHeader } from '../../src/protocol/header.ts';

/** Copies what it is offered; refuses while `refusals` lasts. */
class Keeper implements FrameSink {
  readonly frames: string[] = [];
  refusals = 0;
  inPlace = 0;
  watched: Buffer | undefined;

  onFrame(bytes: Buffer, headerAt: number, headerSize: number, codec: HeaderCodec, bodyAt: number, bodySize: number): boolean {
    if (this.refusals > 0) {
      this.refusals--;
      return false;
    }
    if (bytes === this.watched) this.inPlace++;
    const header = bytes.toString('latin1', headerAt, headerAt + headerSize);
    this.frames.push(`${codec}|${header}|${bytes.toString('latin1', bodyAt, bodyAt + bodySize)}`);
    return true;
  }
}

function frameOf(header: string, body: string, codec = 0): Buffer {
  const out = Buffer.alloc(8 + header.length + body.length);
  out.writeInt32BE(4 + header.length + body.length, 0);
  out.writeInt32BE((codec << 24) | header.length, 4);
  out.write(header, 8, 'latin1');
  out.write(body, 8 + header.length, 'latin1');
  return out;
}

function sample(count: number, random: SeededRandom): { stream: Buffer; wanted: string[] } {
  const frames: Buffer[] = [];
  const wanted: string[] = [];
  for (let i = 0; i < count; i++) {
    const header = `h${i}`.padEnd(random.below(40), 'h');
    const body = 'b'.repeat(random.below(8) === 0 ? random.below(3000) : random.below(60));
    const codec = random.below(2);
    frames.push(frameOf(header, body, codec));
    wanted.push(`${codec}|${header}|${body}`);
  }
  return { stream: Buffer.concat(frames), wanted };
}

test('frame: byte by byte', (t) => {
  const { stream, wanted } = sample(40, new SeededRandom(1));
  const keeper = new Keeper();
  const decoder = new FrameDecoder(keeper);
  for (let i = 0; i < stream.length; i++) t.is(decoder.push(stream.subarray(i, i + 1)), null);
  t.deepEqual(keeper.frames, wanted);
  t.is(decoder.keptBytes, 0);
});

test('frame: all of a chunk at once is taken in place, without a copy', (t) => {
  const { stream, wanted } = sample(100, new SeededRandom(2));
  const keeper = new Keeper();
  keeper.watched = stream;
  t.is(new FrameDecoder(keeper).push(stream), null);
  t.deepEqual(keeper.frames, wanted);
  t.is(keeper.inPlace, 100);
});

test('frame: only the cut frame is carried, the rest of the next chunk is taken in place', (t) => {
  const { stream, wanted } = sample(100, new SeededRandom(3));
  const keeper = new Keeper();
  const decoder = new FrameDecoder(keeper);
  const half = stream.length >> 1;
  decoder.push(stream.subarray(0, half));
  const before = keeper.frames.length;
  keeper.watched = stream.subarray(half);
  decoder.push(keeper.watched);
  t.deepEqual(keeper.frames, wanted);
  t.is(keeper.inPlace, 100 - before - 1);
});

test('frame: random splits, refusals and resumes lose and change nothing', (t) => {
  const random = new SeededRandom(4);
  for (let round = 0; round < 400; round++) {
    const { stream, wanted } = sample(1 + random.below(30), random);
    const keeper = new Keeper();
    const decoder = new FrameDecoder(keeper);
    for (let at = 0; at < stream.length; ) {
      const size = random.below(4) === 0 ? random.below(4000) : random.below(90);
      // The chunk's memory is reused by the socket: what is kept must be a copy.
      const chunk = Buffer.from(stream.subarray(at, at + size));
      if (random.below(3) === 0) keeper.refusals = random.below(4);
      t.is(decoder.push(chunk), null);
      chunk.fill(0xee);
      at += size;
      while (random.below(2) === 0) t.is(decoder.resume(), null);
    }
    keeper.refusals = 0;
    t.is(decoder.resume(), null);
    t.deepEqual(keeper.frames, wanted);
    t.is(decoder.keptBytes, 0);
  }
});

test('frame: refused at every frame, resumed at every frame', (t) => {
  const { stream, wanted } = sample(200, new SeededRandom(5));
  const keeper = new Keeper();
  const decoder = new FrameDecoder(keeper);
  keeper.refusals = 1;
  decoder.push(stream);
  t.is(decoder.keptBytes, stream.length);
  t.true(decoder.held);
  for (let i = 0; i < 200; i++) {
    const before = keeper.frames.length;
    keeper.onFrame = (...parts) => keeper.frames.length === before && Keeper.prototype.onFrame.apply(keeper, parts);
    decoder.resume();
    t.is(keeper.frames.length, i + 1);
  }
  t.deepEqual(keeper.frames, wanted);
  t.false(decoder.held);
  t.is(decoder.keptBytes, 0);
});

test('frame: bytes pushed and resumes asked for during a call wait their turn', (t) => {
  const { stream, wanted } = sample(60, new SeededRandom(6));
  const rest: Buffer[] = [];
  for (let at = 0; at < stream.length; at += 37) rest.push(stream.subarray(at, at + 37));
  const keeper = new Keeper();
  const decoder = new FrameDecoder({
    onFrame(...parts) {
      const next = rest.shift();
      if (next !== undefined) t.is(decoder.push(next), null);
      decoder.resume();
      return keeper.onFrame(...parts);
    },
  });
  while (rest.length > 0) decoder.push(rest.shift() as Buffer);
  t.deepEqual(keeper.frames, wanted);
  t.is(decoder.keptBytes, 0);
});

test('frame: the limits, at and beyond them', (t) => {
  const faultOf = (hex: string): string | null => new FrameDecoder(new Keeper()).push(Buffer.from(hex, 'hex'));
  for (const length of ['00000000', '00000001', '00000003', 'ffffffff', '80000000', '7fffffff', '00fffffd', '01000000']) {
    t.regex(faultOf(length) ?? '', /length is out of range length=-?\d+ min=4 max=16777212/, length);
  }
  t.is(faultOf('00fffffc'), null);
  t.is(faultOf('0000000400000000'), null);
  t.regex(faultOf('0000000400000001') ?? '', /header is longer than its frame headerSize=1 max=0/);
  t.regex(faultOf('0000000800ffffff') ?? '', /headerSize=16777215 max=4/);
  t.regex(faultOf('0000000407000000') ?? '', /codec is unknown codec=7 allowed=0 \(JSON\), 1 \(binary\)/);
  t.regex(faultOf('00000004ff000000') ?? '', /codec=255/);
});

test('frame: the largest frame passes, and its memory is given back', (t) => {
  const keeper = new Keeper();
  const decoder = new FrameDecoder(keeper);
  const frame = frameOf('h', 'b'.repeat(FRAME_SIZE_MAX - 9));
  t.is(frame.length, FRAME_SIZE_MAX);
  for (let at = 0; at < frame.length; at += 1 << 20) t.is(decoder.push(frame.subarray(at, at + (1 << 20))), null);
  t.is(keeper.frames.length, 1);
  t.is(keeper.frames[0]?.length, FRAME_SIZE_MAX - 8 + '0||'.length);
  t.is(decoder.keptBytes, 0);
});

test('frame: nothing is allocated by the announced size', (t) => {
  const start = Buffer.from('00fffffc00000010', 'hex');
  const before = process.memoryUsage().arrayBuffers;
  const decoders = Array.from({ length: 1000 }, () => new FrameDecoder(new Keeper()));
  for (const decoder of decoders) for (let i = 0; i < start.length; i++) decoder.push(start.subarray(i, i + 1));
  t.true(process.memoryUsage().arrayBuffers - before < 4 << 20);
  t.is(decoders[0]?.keptBytes, 8);
});

test('frame: after a fault nothing more is taken', (t) => {
  const keeper = new Keeper();
  const decoder = new FrameDecoder(keeper);
  const fault = decoder.push(Buffer.concat([frameOf('a', 'b'), Buffer.from('ffffffff', 'hex'), frameOf('c', 'd')]));
  t.regex(fault ?? '', /length=-1/);
  t.deepEqual(keeper.frames, ['0|a|b']);
  t.is(decoder.push(frameOf('e', 'f')), fault);
  t.is(decoder.resume(), fault);
  t.is(keeper.frames.length, 1);
  t.is(decoder.keptBytes, 0);
});

test('frame: a fault behind a refused frame shows on resume', (t) => {
  const keeper = new Keeper();
  const decoder = new FrameDecoder(keeper);
  keeper.refusals = 1;
  t.is(decoder.push(Buffer.concat([frameOf('a', 'b'), Buffer.from('ffffffff', 'hex')])), null);
  t.regex(decoder.resume() ?? '', /length=-1/);
  t.deepEqual(keeper.frames, ['0|a|b']);
});

test('frame: other protocols are named, also byte by byte', (t) => {
  const cases: [string | Buffer, RegExp][] = [
    ['GET / HTTP/1.1\r\nHost: x\r\n\r\n', /HTTP\/1 request/],
    ['POST /x HTTP/1.1\r\n', /HTTP\/1 request/],
    ['OPTIONS * HTTP/1.1\r\n', /HTTP\/1 request/],
    ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', /HTTP\/2 greeting, as of a gRPC client/],
    [Buffer.from('160301020001000001fc0303', 'hex'), /TLS hello/],
    ['*1\r\n$4\r\nPING\r\n', /Redis/],
    ['PING\r\n', /Redis/],
    ['PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n', /PROXY protocol/],
    [Buffer.from('0d0a0d0a000d0a515549540a', 'hex'), /PROXY protocol/],
    ['hello world', /length is out of range/],
  ];
  for (const [greeting, wanted] of cases) {
    const bytes = Buffer.from(greeting);
    t.regex(new FrameDecoder(new Keeper()).push(bytes) ?? '', wanted);
    const slow = new FrameDecoder(new Keeper());
    let fault: string | null = null;
    for (let i = 0; i < bytes.length && fault === null; i++) fault = slow.push(bytes.subarray(i, i + 1));
    t.regex(fault ?? '', wanted);
  }
});

test('frame: a million mutated frames neither throw nor touch the neighbour', (t) => {
  const random = new SeededRandom(9);
  const ext = { a: 'group', b: 'topic', e: 1 };
  const seeds = Object.values(HeaderCodecs).map((codec) =>
    encodeFrame({ code: 310, opaque: 5, flag: 0, codec, ext, body: Buffer.from('hi') }),
  );
  const header = new Header();
  let seen = 0;
  const reader: FrameSink = {
    onFrame(bytes, headerAt, headerSize, codec) {
      seen++;
      if (readHeader(bytes, headerAt, headerSize, codec, header) === null) header.field('a');
      return true;
    },
  };
  const neighbourSink = new Keeper();
  const neighbour = new FrameDecoder(neighbourSink);
  const calm = frameOf('calm', 'sea');
  let faults = 0;
  let calmSent = 0;
  const perChunk = 50;
  for (let chunk = 0; chunk < 1_000_000 / perChunk; chunk++) {
    const parts = Buffer.concat(Array.from({ length: perChunk }, () => seeds[random.below(2)] as Buffer));
    // Odd chunks: one wrong byte in every header. Even ones: a few anywhere, so that also lengths and codecs are wrong.
    if (chunk % 2 === 1) {
      for (let at = 0; at < parts.length; at += 4 + parts.readInt32BE(at))
        parts[at + 8 + random.below(parts.readUIntBE(at + 5, 3))] = random.below(256);
    } else {
      for (let flips = random.below(4); flips >= 0; flips--) parts[random.below(parts.length)] = random.below(256);
    }
    const decoder = new FrameDecoder(reader);
    const middle = random.below(parts.length);
    neighbour.push(calm.subarray(0, 7));
    if ((decoder.push(parts.subarray(0, middle)) ?? decoder.push(parts.subarray(middle))) !== null) faults++;
    neighbour.push(calm.subarray(7));
    calmSent++;
  }
  t.true(seen > 100_000);
  t.true(faults > 1000);
  t.is(neighbourSink.frames.length, calmSent);
  t.true(neighbourSink.frames.every((frame) => frame === '0|calm|sea'));
});
