// One side of a cell of the ring benchmark, on a thread of its own.
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { Region } from '../src/base/arena.ts';
import { assert, present } from '../src/base/assert.ts';
import { AsyncWaiter, Doorbell } from '../src/runtime/doorbell.ts';
import { type RingHandler, RingReader, RingWriter } from '../src/runtime/ring.ts';

export type Way = 'ring' | 'ring-reactive' | 'ringbuf.js' | 'postMessage';

export interface BenchTask {
  readonly role: 'send' | 'receive' | 'ping' | 'echo';
  readonly way: Way;
  readonly memory: Region;
  /** For ringbuf.js. */
  readonly elements: SharedArrayBuffer;
  readonly bells: SharedArrayBuffer;
  /** Word 0: records taken by the receiver, where the way itself does not push back. Word 1: the start signal. Word 2: the echo's answer. */
  readonly flags: SharedArrayBuffer;
  readonly port: MessagePort;
  readonly sizeBytes: number;
  readonly batchCount: number;
  readonly count: number;
}

/** What is used of the package; its own types do not compile. */
interface ElementRing {
  push(elements: Uint32Array, length: number, offset?: number): number;
  pop(elements: Uint32Array, length: number, offset?: number): number;
  availableWrite(): number;
  empty(): boolean;
}

const task = workerData as BenchTask;
const flags = new Int32Array(task.flags);
const bell = new Doorbell(task.bells, 0);
const inFlightMax = 4096;
const warmUpShare = 0.2;
const wordCount = task.sizeBytes >> 2;
const payload = new Uint32Array(wordCount).fill(7);
const payloadBytes = new Uint8Array(payload.buffer);
const never = new Int32Array(new SharedArrayBuffer(4));
const alive = setInterval(() => {}, 1_000_000);

function pause(ms: number): void {
  Atomics.wait(never, 0, 0, ms);
}

function done(result: unknown): void {
  clearInterval(alive);
  task.port.close();
  (present(parentPort) as MessagePort).postMessage(result);
}

let received = 0;
let beganMs = 0;

function onReceived(count: number): void {
  received += count;
  if (beganMs === 0 && received >= task.count * warmUpShare) {
    beganMs = performance.now();
    warmUpCount = received;
  }
  if (received >= task.count) done({ received, perSecond: ((received - warmUpCount) / (performance.now() - beganMs)) * 1000 });
}
let warmUpCount = 0;

async function elementRing(): Promise<ElementRing> {
  const name: string = 'ringbuf.js';
  const { RingBuffer } = (await import(name)) as { RingBuffer: new (memory: SharedArrayBuffer, type: typeof Uint32Array) => ElementRing };
  return new RingBuffer(task.elements, Uint32Array);
}

function sendByRing(): void {
  const writer = new RingWriter(task.memory);
  for (let i = 0; i < task.count; i++) {
    let at = writer.claim(task.sizeBytes);
    while (at === -1) {
      if (writer.publish()) bell.ring();
      pause(0.02);
      at = writer.claim(task.sizeBytes);
    }
    if (wordCount > 64) writer.bytes.set(payloadBytes, at);
    else for (let w = 0; w < wordCount; w++) writer.words[(at >> 2) + w] = payload[w] as number;
    writer.words[at >> 2] = i;
    writer.commit(1);
    if (i % task.batchCount === task.batchCount - 1 && writer.publish()) bell.ring();
  }
  if (writer.publish()) bell.ring();
}

async function sendByElements(): Promise<void> {
  const ring = await elementRing();
  const record = new Uint32Array(wordCount + 1).fill(7);
  record[0] = task.sizeBytes;
  for (let i = 0; i < task.count; i++) {
    record[1] = i;
    while (ring.availableWrite() < record.length) pause(0.02);
    ring.push(record, record.length);
    if (i % task.batchCount === task.batchCount - 1) bell.ring();
  }
  bell.ring();
}

function sendByMessages(): void {
  const batch = new Uint8Array(task.sizeBytes * task.batchCount).fill(7);
  for (let i = 0; i < task.count; i += task.batchCount) {
    while (i - Atomics.load(flags, 0) > inFlightMax) pause(0.02);
    task.port.postMessage(batch);
  }
}

/** A record's first word is its number, its last word what all records have. */
function verify(first: number, expected: number, last: number): void {
  assert(first === expected && last === 7, `record ${expected} came as ${first}, ending in ${last}`);
}

function ringReceiver(): { drain: () => number; isEmpty: () => boolean } {
  const reader = new RingReader(task.memory);
  let expected = 0;
  const handler: RingHandler = {
    onRecord: (_type, at, size) => {
      assert(size === task.sizeBytes, `a record has ${size} bytes`);
      verify(reader.words[at >> 2] as number, expected++, reader.words[(at + size - 4) >> 2] as number);
      return true;
    },
  };
  return { drain: () => reader.drain(handler, 1024), isEmpty: () => reader.isEmpty() };
}

async function elementReceiver(): Promise<{ drain: () => number; isEmpty: () => boolean }> {
  const ring = await elementRing();
  const size = new Uint32Array(1);
  const into = new Uint32Array(wordCount);
  let expected = 0;
  const drain = (): number => {
    let count = 0;
    while (count < 1024 && ring.pop(size, 1) === 1) {
      ring.pop(into, (size[0] as number) >> 2);
      verify(into[0] as number, expected++, into[wordCount - 1] as number);
      count++;
    }
    return count;
  };
  return { drain, isEmpty: () => ring.empty() };
}

async function receiveBlocking(): Promise<void> {
  const { drain, isEmpty } = task.way === 'ringbuf.js' ? await elementReceiver() : ringReceiver();
  while (received < task.count) {
    const count = drain();
    if (count > 0) onReceived(count);
    else {
      const seen = bell.prepare();
      if (isEmpty()) bell.wait(seen, 1000);
      else bell.cancel();
    }
  }
}

function receiveReactive(): void {
  const { drain, isEmpty } = ringReceiver();
  const waiter = new AsyncWaiter(bell);
  const cycle = (): void => {
    bell.cancel();
    do {
      for (let count = drain(); count > 0; count = drain()) onReceived(count);
      waiter.arm(cycle);
    } while (!isEmpty());
  };
  cycle();
}

function receiveMessages(): void {
  task.port.on('message', () => {
    Atomics.add(flags, 0, task.batchCount);
    onReceived(task.batchCount);
  });
}

/** Rings an idle thread and sleeps until it answers: the times of the round trips. */
function ping(): void {
  const roundTripsUs: number[] = [];
  const writer = new RingWriter(task.memory);
  for (let i = 0; i < task.count; i++) {
    pause(0.3);
    const began = performance.now();
    if (task.way === 'postMessage') task.port.postMessage(i);
    else {
      writer.claim(8);
      writer.commit(1);
      writer.publish();
      bell.ring();
    }
    Atomics.wait(flags, 2, i, 1000);
    roundTripsUs.push((performance.now() - began) * 1000);
  }
  roundTripsUs.sort((a, b) => a - b);
  const at = (share: number): number => roundTripsUs[Math.floor(roundTripsUs.length * share)] as number;
  done({ p50Us: at(0.5), p99Us: at(0.99) });
}

function answer(): void {
  Atomics.add(flags, 2, 1);
  Atomics.notify(flags, 2);
}

function echo(): void {
  const finish = (count: number): void => {
    for (let i = 0; i < count; i++) answer();
    received += count;
    if (received === task.count) done({ received });
  };
  if (task.way === 'postMessage') {
    task.port.on('message', () => finish(1));
    return;
  }
  const reader = new RingReader(task.memory);
  const drain = (): number => reader.drain({ onRecord: () => true }, 64);
  if (task.way === 'ring-reactive') {
    const waiter = new AsyncWaiter(bell);
    const cycle = (): void => {
      finish(drain());
      waiter.arm(cycle);
      finish(drain());
    };
    cycle();
    return;
  }
  while (received < task.count) {
    const seen = bell.prepare();
    const count = drain();
    if (count === 0) bell.wait(seen, 1000);
    else bell.cancel();
    finish(count);
  }
}

async function send(): Promise<void> {
  while (Atomics.load(flags, 1) === 0) pause(0.1);
  if (task.way === 'ringbuf.js') await sendByElements();
  else if (task.way === 'postMessage') sendByMessages();
  else sendByRing();
  done({});
}

if (task.role === 'send') await send();
else if (task.role === 'ping') ping();
else if (task.role === 'echo') echo();
else {
  Atomics.store(flags, 1, 1);
  if (task.way === 'postMessage') receiveMessages();
  else if (task.way === 'ring-reactive') receiveReactive();
  else await receiveBlocking();
}
