// How far each queue has been read by all groups, as the cleaner is told.
import test from 'ava';
import { QueueReads } from '../../../src/actors/coordinator/queue-reads.ts';
import { SharedNumbers, sharedNumbersMemorySize } from '../../../src/runtime/shared-numbers.ts';

const keys = new Map([
  ['A/0', 1],
  ['A/1', 2],
  ['B/0', 3],
]);
const keyOf = (topic: string, queueId: number): number => keys.get(`${topic}/${queueId}`) ?? -1;
const rowsOf = (rows: Record<string, Record<number, number>>): Map<string, Map<number, number>> =>
  new Map(Object.entries(rows).map(([name, row]) => [name, new Map(Object.entries(row).map(([id, offset]) => [Number(id), offset]))]));

test('queue reads: the lowest of all groups plus one, and 0 where none has an offset', (t) => {
  const table = new SharedNumbers(new SharedArrayBuffer(sharedNumbersMemorySize(8)));
  const reads = new QueueReads(table);
  const seen = (): number[] => [1, 2, 3].map((key) => table.get(key));
  reads.publish(rowsOf({ 'A@one': { 0: 5, 1: 9 }, 'A@two': { 0: 3, 7: 1 }, 'Gone@one': { 0: 1 } }), keyOf);
  t.deepEqual(seen(), [4, 10, 0]);
  reads.publish(rowsOf({ 'A@one': { 0: 6 }, 'B@one@kind': { 0: 0 } }), keyOf);
  t.deepEqual(seen(), [7, 0, 1], 'a group that was removed holds nothing');
  reads.publish(rowsOf({ 'A@one': { 0: Number.MAX_SAFE_INTEGER } }), keyOf);
  t.deepEqual(seen(), [Number.MAX_SAFE_INTEGER, 0, 0]);
});
