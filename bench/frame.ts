// Cutting a byte stream into frames: 1 KiB sends, many in one read, and cut anywhere by reads of a network packet's size.
import { readI32 } from '../src/base/bytes.ts';
import { FrameDecoder, type FrameSink, HeaderCodecs } from '../src/protocol/frame.ts';
import { type Cell, expect, timed, type Work } from './cell.ts';
import { sendFrame } from './frames.ts';

const BODY_SIZE = 1024;
const FRAMES_PER_STREAM = 64;
const PACKET_SIZE = 1_448;

class Counting implements FrameSink {
  count = 0;
  bodyBytes = 0;
  lastBodyByte = 0;

  onFrame(bytes: Buffer, _headerAt: number, _headerSize: number, _codec: number, bodyAt: number, bodySize: number): boolean {
    this.count++;
    this.bodyBytes += bodySize;
    this.lastBodyByte = bytes[bodyAt + bodySize - 1] as number;
    return true;
  }
}

/** @param readSize bytes of each read. */
function decoding(readSize: number): Work {
  const stream = Buffer.concat(Array.from({ length: FRAMES_PER_STREAM }, (_, i) => sendFrame(HeaderCodecs.binary, i, BODY_SIZE)));
  const frameSize = 4 + readI32(stream, 0);
  const reads: Buffer[] = [];
  for (let at = 0; at < stream.length; at += readSize) reads.push(stream.subarray(at, Math.min(stream.length, at + readSize)));
  const sink = new Counting();
  const decoder = new FrameDecoder(sink);
  return {
    pass: (count) => {
      const wanted = sink.count + count;
      while (sink.count + FRAMES_PER_STREAM <= wanted) for (const read of reads) decoder.push(read);
      if (sink.count < wanted) decoder.push(stream.subarray(0, (wanted - sink.count) * frameSize));
    },
    check: (count) => {
      expect('frames', sink.count, count);
      expect('body bytes', sink.bodyBytes, count * BODY_SIZE);
      expect('last byte', sink.lastBodyByte, 0x61);
      expect('bytes kept', decoder.keptBytes, 0);
    },
  };
}

export function frameCells(): Cell[] {
  return [
    timed('frame decode', '1 KiB sends, 64 a read', 2_000_000, () => decoding(Number.POSITIVE_INFINITY)),
    timed('frame decode', '1 KiB sends, reads of 1448 bytes', 400_000, () => decoding(PACKET_SIZE)),
  ];
}
