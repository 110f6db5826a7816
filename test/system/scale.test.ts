// Ten thousand queues: made, written, read and found again, with few files open and memory that stays small.
import { readdirSync, readFileSync } from 'node:fs';
import test from 'ava';
import { RequestCodes } from '../../src/protocol/codes.ts';
import { folderFor, type Program, runBroker } from './program.ts';
import { decodeMessages, textOf } from './pulled.ts';
import { type Answer, WireClient } from './wire-client.ts';

const TOPICS = 1_250;
const QUEUES = 8;
const IN_FLIGHT = 256;
const RESIDENT_MAX_MIB = 700;

const sets = {
  queueFileCountMax: 128,
  mappedFileSizeConsumeQueue: 2_000,
  mappedFileSizeCommitLog: 8 * 1024 * 1024,
  tailWindowSizeBytes: 32 * 1024 * 1024,
  appendRingSizeBytes: 16 * 1024 * 1024,
};

/** Runs all steps with so many under way at a time. */
async function pipelined<T>(count: number, step: (i: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      const i = next++;
      results[i] = await step(i);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
  return results;
}

function residentMib(program: Program): number {
  const kib = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${program.pid}/status`, 'utf8'))?.[1];
  return Math.round(Number(kib) / 1024);
}

function descriptorCount(program: Program): number {
  return readdirSync(`/proc/${program.pid}/fd`).length;
}

const topicOf = (i: number): string => `Scale_${Math.floor(i / QUEUES)}`;

function faultsOf(answers: readonly Answer[]): string[] {
  return [...new Set(answers.filter((answer) => answer.code !== 0).map((answer) => `${answer.code} ${answer.remark.slice(0, 80)}`))];
}

test('scale: 10,000 queues are made, written, read, and there after the next start', async (t) => {
  const store = folderFor(t);
  const total = TOPICS * QUEUES;
  const first = await runBroker(t, { store, sets });
  const client = await WireClient.for(t, first.portOf('broker'));
  const marks: string[] = [];
  let markMs = performance.now();
  const mark = (what: string): void => {
    marks.push(`${what} ${Math.round(performance.now() - markMs)} ms`);
    markMs = performance.now();
  };

  const made = await pipelined(TOPICS, (i) => client.createTopic(`Scale_${i}`, QUEUES));
  t.deepEqual(faultsOf(made), []);
  mark('topics');
  const sent = await pipelined(total, (i) => client.send(topicOf(i), `m${i}`, { queueId: i % QUEUES }));
  t.deepEqual(faultsOf(sent), []);
  mark('sends');
  const pulled = await pipelined(total, (i) => client.pull(topicOf(i), 0, { queueId: i % QUEUES }));
  t.deepEqual(faultsOf(pulled), []);
  const wrong = pulled.filter((answer, i) => textOf(decodeMessages(answer.body)[0]) !== `m${i}`);
  t.is(wrong.length, 0);
  mark('pulls');
  if (process.platform === 'linux') {
    t.log(`resident ${residentMib(first)} MiB, descriptors ${descriptorCount(first)}`);
    t.true(descriptorCount(first) < sets.queueFileCountMax + 100, `descriptors=${descriptorCount(first)}`);
    t.true(residentMib(first) < RESIDENT_MAX_MIB, `resident=${residentMib(first)} MiB`);
  }
  // Killed: an orderly stop would sync ten thousand files, which is a test of the disk.
  await first.stop('SIGKILL');
  mark('kill');

  const second = await runBroker(t, { store, sets });
  mark('start');
  const again = await WireClient.for(t, second.portOf('broker'));
  const ends = await pipelined(total, (i) => again.call(RequestCodes.GET_MAX_OFFSET, { topic: topicOf(i), queueId: i % QUEUES }));
  t.is(ends.filter((answer) => answer.ext['offset'] !== '1').length, 0);
  const sample = await pipelined(TOPICS, (i) => again.pull(`Scale_${i}`, 0, { queueId: i % QUEUES }));
  t.is(sample.filter((answer, i) => textOf(decodeMessages(answer.body)[0]) !== `m${i * QUEUES + (i % QUEUES)}`).length, 0);
  mark('reads');
  t.is((await again.send('Scale_7', 'more', { queueId: 7 })).ext['queueOffset'], '1');
  if (process.platform === 'linux')
    t.log(`after the next start: resident ${residentMib(second)} MiB, descriptors ${descriptorCount(second)}`);
  t.log(marks.join(', '));
});
