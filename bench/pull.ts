// Assembling a pull's answer: 32 messages of 1 KiB looked up in the queue, header written, records copied from the window or the files.

import { type ActorContext, Positions } from '../src/actors/context.ts';
import { PullScan } from '../src/actors/dispatch/pull-scan.ts';
import { PullStatuses } from '../src/actors/messages.ts';
import { RecordReader } from '../src/actors/record-reader.ts';
import { Arena } from '../src/base/arena.ts';
import { present } from '../src/base/assert.ts';
import { high32, low32, readI32 } from '../src/base/bytes.ts';
import { checkRecord, readQueueOffset } from '../src/message/record.ts';
import { writePullAnswerHeader } from '../src/protocol/commands/pull-answer.ts';
import { CODEC_AT, HEADER_AT, HeaderCodecs } from '../src/protocol/frame.ts';
import { WindowReader } from '../src/runtime/tail-window.ts';
import type { ConsumeQueue } from '../src/store/consume-queue.ts';
import { ConsumeQueues } from '../src/store/consume-queues.ts';
import { type Cell, expect, timed, type Work } from './cell.ts';
import { QUEUE_COUNT, Stage } from './stage.ts';

const PULLED = 32;
const STORED_COUNT = 16_384;
const QUEUE_FILE_SIZE = 6_000_000;
const SPAN_WORDS = 3;

/** One of the queues that the stage's feed tells of. */
function queueOf(stage: Stage): ConsumeQueue {
  const queues = new ConsumeQueues(stage.files, `${stage.settings.storePathRootDir}/consumequeue`, QUEUE_FILE_SIZE);
  const queue = queues.open(0, 'benchmark_topic', 0);
  const onEntry = (key: number, offset: number, position: number, size: number, tagsCode: number): void => {
    if (key === 0) queue.append(offset, position, size, tagsCode);
  };
  while (stage.feed.poll({ onEntry }, 1024) > 0);
  expect('units', queue.offsetMax, STORED_COUNT / QUEUE_COUNT);
  return queue;
}

/** Only what RecordReader looks at. */
function contextOf(stage: Stage): ActorContext {
  const { settings, files, assembly, memory } = stage;
  const counters = assembly.countersOf('ingress-0');
  return {
    settings,
    files,
    positions: assembly.positions,
    counters,
    windowReader: () => new WindowReader(memory.window),
    blocks: memory.blocks[0],
  } as ActorContext;
}

function assembling(windowSizeBytes: number, offsets: 'newest' | 'all'): Work {
  const stage = new Stage(true, 1024, windowSizeBytes);
  stage.append(STORED_COUNT, 64);
  expect('appended', stage.assembly.positions.get(Positions.appended), STORED_COUNT * stage.recordSize);
  const queue = queueOf(stage);
  const scan = new PullScan(stage.settings, stage.assembly.positions);
  const reader = new RecordReader(contextOf(stage));
  const bodySize = PULLED * stage.recordSize;
  const output = present(stage.memory.outputs[0], 'ingress-0');
  const out = Arena.of(output.memory).bytes;
  const words = new Int32Array(PULLED * SPAN_WORDS);
  let offset = offsets === 'newest' ? queue.offsetMax - PULLED : 0;
  let answered = 0;
  let lastOffset = 0;
  const answer = (): void => {
    lastOffset = offset;
    if (scan.run(queue, offset, PULLED, null) !== PullStatuses.found || scan.spanCount !== PULLED) return;
    for (let i = 0; i < PULLED; i++) {
      words[i * SPAN_WORDS] = high32(scan.positions[i] as number);
      words[i * SPAN_WORDS + 1] = low32(scan.positions[i] as number);
      words[i * SPAN_WORDS + 2] = scan.sizes[i] as number;
    }
    const { nextOffset, minOffset, maxOffset } = scan;
    const bodyAt = writePullAnswerHeader(
      out,
      output.at,
      HeaderCodecs.binary,
      answered,
      0,
      nextOffset,
      minOffset,
      maxOffset,
      'FOUND',
      bodySize,
    );
    if (reader.readSpans(words, 0, PULLED, out, bodyAt) === bodyAt + bodySize) answered++;
    if (offsets === 'all') offset = nextOffset + PULLED > maxOffset ? 0 : nextOffset;
  };
  return {
    pass: (count) => {
      for (let i = 0; i < count; i++) answer();
    },
    check: (count) => {
      expect('answers', answered, count);
      let at = output.at + HEADER_AT + (readI32(out, output.at + CODEC_AT) & 0xff_ffff);
      for (let i = 0; i < PULLED; i++, at += stage.recordSize) {
        expect('size of a sound record', checkRecord(out, at, out.length, true), stage.recordSize);
        expect('queue offset', readQueueOffset(out, at), lastOffset + i);
      }
    },
    close: () => {
      reader.close();
      stage.close();
    },
  };
}

export function pullCells(): Cell[] {
  const mebibyte = 1024 * 1024;
  return [
    timed('pull assembly', '32 x 1 KiB, newest, from the window', 40_000, () => assembling(64 * mebibyte, 'newest')),
    timed('pull assembly', '32 x 1 KiB, catching up, from the window', 40_000, () => assembling(64 * mebibyte, 'all')),
    timed('pull assembly', '32 x 1 KiB, catching up, from files', 10_000, () => assembling(mebibyte, 'all')),
  ];
}
