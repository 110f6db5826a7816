// Counters: a table of numbers per actor in shared memory, which its thread writes and console, CLI and metrics only read.
import { assert } from '../base/assert.ts';

/** A slot is the counter's number within its actor's block. A new counter is a new line here and in the table. */
export const CounterIds = {
  busyMs: 0,
  passes: 1,
  work: 2,
  parks: 3,
  failures: 4,
  restarts: 5,
  mailFull: 6,
  records: 7,
  recordBytes: 8,
  requests: 9,
  responses: 10,
  bytesIn: 11,
  bytesOut: 12,
  malformedFrames: 13,
  refusedRequests: 14,
  connections: 15,
  connectionsOpened: 16,
  pausedConnections: 17,
  heldPulls: 18,
  heldAnswers: 19,
  feedOverruns: 20,
  windowMisses: 21,
  writes: 22,
  syncs: 23,
  ringFillPeakBytes: 24,
  duplicateClients: 25,
  subscriptionMismatches: 26,
  loopActiveMs: 27,
  loopMeasuredAtMs: 28,
  droppedMessages: 29,
  clampedDelays: 30,
  deliveryLateMs: 31,
  mismatchedGroups: 32,
  sendBacks: 33,
  sendBacksDropped: 34,
  deadLetters: 35,
} as const;
export type CounterId = (typeof CounterIds)[keyof typeof CounterIds];

/** total: only grows while the actor lives; level: how much there is now. */
export type CounterKind = 'total' | 'level';

export interface CounterRow {
  readonly id: number;
  readonly label: string;
  readonly kind: CounterKind;
  readonly help: string;
}

/** All counters in the order of their ids. */
export const counterRows: readonly CounterRow[] = [
  { id: CounterIds.busyMs, label: 'busyMs', kind: 'total', help: 'Time spent in passes that did work' },
  { id: CounterIds.passes, label: 'passes', kind: 'total', help: 'Duty cycles' },
  { id: CounterIds.work, label: 'work', kind: 'total', help: 'Pieces of work that the duty cycles reported' },
  { id: CounterIds.parks, label: 'parks', kind: 'total', help: 'How often the thread went to sleep' },
  { id: CounterIds.failures, label: 'failures', kind: 'total', help: 'Errors that stopped the actor' },
  { id: CounterIds.restarts, label: 'restarts', kind: 'total', help: 'How often the supervisor started it again' },
  { id: CounterIds.mailFull, label: 'mailFull', kind: 'total', help: 'Offers that found a ring full' },
  { id: CounterIds.records, label: 'records', kind: 'total', help: 'Records appended, dispatched, indexed or flushed' },
  { id: CounterIds.recordBytes, label: 'recordBytes', kind: 'total', help: 'Size of those records' },
  { id: CounterIds.requests, label: 'requests', kind: 'total', help: 'Frames received from clients' },
  { id: CounterIds.responses, label: 'responses', kind: 'total', help: 'Frames sent to clients' },
  { id: CounterIds.bytesIn, label: 'bytesIn', kind: 'total', help: 'Bytes received' },
  { id: CounterIds.bytesOut, label: 'bytesOut', kind: 'total', help: 'Bytes sent' },
  { id: CounterIds.malformedFrames, label: 'malformedFrames', kind: 'total', help: 'Frames that could not be decoded' },
  { id: CounterIds.refusedRequests, label: 'refusedRequests', kind: 'total', help: 'Requests answered with an error' },
  { id: CounterIds.connections, label: 'connections', kind: 'level', help: 'Open connections' },
  { id: CounterIds.connectionsOpened, label: 'connectionsOpened', kind: 'total', help: 'Connections accepted' },
  { id: CounterIds.pausedConnections, label: 'pausedConnections', kind: 'level', help: 'Connections held back by a full ring' },
  { id: CounterIds.heldPulls, label: 'heldPulls', kind: 'level', help: 'Pulls that wait for a message' },
  { id: CounterIds.heldAnswers, label: 'heldAnswers', kind: 'level', help: 'Answers that wait for a position' },
  { id: CounterIds.feedOverruns, label: 'feedOverruns', kind: 'total', help: 'How often the feed ran away and the log was read instead' },
  { id: CounterIds.windowMisses, label: 'windowMisses', kind: 'total', help: 'Reads that went to a file' },
  { id: CounterIds.writes, label: 'writes', kind: 'total', help: 'Write system calls' },
  { id: CounterIds.syncs, label: 'syncs', kind: 'total', help: 'Files brought to stable storage' },
  { id: CounterIds.ringFillPeakBytes, label: 'ringFillPeakBytes', kind: 'level', help: 'Most bytes seen waiting in one ring' },
  {
    id: CounterIds.duplicateClients,
    label: 'duplicateClients',
    kind: 'total',
    help: 'Connections that came with the client id of another',
  },
  {
    id: CounterIds.subscriptionMismatches,
    label: 'subscriptionMismatches',
    kind: 'total',
    help: 'Groups whose members subscribe differently',
  },
  { id: CounterIds.loopActiveMs, label: 'loopActiveMs', kind: 'level', help: 'Time in which the event loop of its thread did not wait' },
  { id: CounterIds.loopMeasuredAtMs, label: 'loopMeasuredAtMs', kind: 'level', help: 'Steady time at which that was read' },
  { id: CounterIds.droppedMessages, label: 'droppedMessages', kind: 'total', help: 'Delayed messages that could not be delivered' },
  { id: CounterIds.clampedDelays, label: 'clampedDelays', kind: 'total', help: 'Delay levels above the highest, which count as that' },
  { id: CounterIds.deliveryLateMs, label: 'deliveryLateMs', kind: 'level', help: 'How late the newest delayed message was delivered' },
  { id: CounterIds.mismatchedGroups, label: 'mismatchedGroups', kind: 'level', help: 'Groups whose members differ now' },
  { id: CounterIds.sendBacks, label: 'sendBacks', kind: 'total', help: 'Messages sent back that were stored to be tried again' },
  { id: CounterIds.sendBacksDropped, label: 'sendBacksDropped', kind: 'total', help: 'Messages sent back of groups without retry queues' },
  { id: CounterIds.deadLetters, label: 'deadLetters', kind: 'total', help: 'Messages that went to a dead-letter topic' },
];

// Memory: a block of 64 slots (float64) per actor. A block is a multiple of a cache line, so actors do not disturb each other; slots past
// the table are there for what is added to it.
const slotsPerActor = 64;
const slotSize = Float64Array.BYTES_PER_ELEMENT;
assert(counterRows.length <= slotsPerActor && counterRows.every((row, index) => row.id === index), 'counter ids are not dense');

export function countersMemorySize(actorCount: number): number {
  return actorCount * slotsPerActor * slotSize;
}

/** One actor's block. Only the actor's thread adds and sets; whole float64 words are not torn on 64-bit machines. */
export class Counters {
  readonly #slots: Float64Array;

  constructor(memory: SharedArrayBuffer, actorIndex = 0) {
    assert((actorIndex + 1) * slotsPerActor * slotSize <= memory.byteLength, 'actor index out of range');
    this.#slots = new Float64Array(memory, actorIndex * slotsPerActor * slotSize, slotsPerActor);
  }

  add(slot: number, amount: number): void {
    (this.#slots[slot] as number) += amount;
  }

  set(slot: number, value: number): void {
    this.#slots[slot] = value;
  }

  get(slot: number): number {
    return this.#slots[slot] ?? 0;
  }
}
