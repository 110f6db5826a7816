// A whole broker with small files and a limited disk, and what tests of retention do with it.
import type { ExecutionContext } from 'ava';
import { FakeClock } from '../../src/base/clock.ts';
import { RequestCodes, ResponseCodes } from '../../src/protocol/codes.ts';
import { LimitedDisk } from './limited-disk.ts';
import { SimBroker, type SimOptions } from './sim-broker.ts';
import { nameOf, recordsOf, type SimClient } from './sim-client.ts';

export const HOUR_MS = 3_600_000;
export const YEARS_MS = 25 * 365 * 24 * HOUR_MS;
const LOG_FOLDER = '/store/commitlog';
export const FILE_SIZE = 8_192;
const EVERY_HOUR = Array.from({ length: 24 }, (_, hour) => hour).join(';');
export const sizes = { mappedFileSizeCommitLog: FILE_SIZE, mappedFileSizeConsumeQueue: 200, maxHashSlotNum: 16, maxIndexNum: 10 };
/** Expired files go at any hour, after one hour. */
export const hourly = { ...sizes, fileReservedTime: 1, deleteWhen: EVERY_HOUR };

export interface Rig {
  readonly sim: SimBroker;
  readonly disk: LimitedDisk;
  readonly clock: FakeClock;
}

export async function start(
  seed: number,
  settings: Record<string, string | number | boolean> = hourly,
  more: SimOptions = {},
): Promise<Rig> {
  const clock = new FakeClock();
  const disk = new LimitedDisk(clock);
  return { sim: await SimBroker.start(seed, { ...more, files: disk, clock, settings }), disk, clock };
}

/** The same store, started again. */
export async function startAgain(t: ExecutionContext, { sim, disk, clock }: Rig, settings: typeof hourly = hourly): Promise<Rig> {
  await sim.stop();
  sim.assertHealthy();
  t.is(disk.openCount, 0);
  return { sim: await SimBroker.start(sim.seed + 1_000, { files: disk, clock, settings }), disk, clock };
}

/** Twelve of these fill a file. */
export function sendMany(t: ExecutionContext, sim: SimBroker, from: number, count: number): void {
  const client = sim.client();
  for (let i = from; i < from + count; i++) t.is(client.askSend('Orders', 0, `m${i}`, 500).code, 0);
  // Queues, index and flusher have seen them.
  sim.runner.runFor(12_000);
}

export function logFiles(disk: LimitedDisk): string[] {
  return disk.list(LOG_FOLDER);
}

/** Idle connections do not live through it. */
export function passHours({ sim, clock }: Rig, hours: number): void {
  clock.advance(hours * HOUR_MS);
  sim.runner.wake();
  sim.runner.runFor(30_000);
}

export function minOf(client: SimClient): number {
  return client.askNumber(RequestCodes.GET_MIN_OFFSET, 'Orders', 0);
}

export function maxOf(client: SimClient): number {
  return client.askNumber(RequestCodes.GET_MAX_OFFSET, 'Orders', 0);
}

export function byTime(client: SimClient, timestamp: number): number {
  return client.askNumber(RequestCodes.SEARCH_OFFSET_BY_TIMESTAMP, 'Orders', 0, 'offset', { timestamp });
}

/** All that can be read from an offset on, following what the answers say. */
export function readFrom(t: ExecutionContext, client: SimClient, offset: number): string[] {
  const names: string[] = [];
  for (let pulls = 0; pulls < 1_000; pulls++) {
    const answer = client.askPull('Orders', 0, 'readers', { offset });
    const next = Number(answer.ext['nextBeginOffset']);
    if (answer.code === ResponseCodes.PULL_NOT_FOUND) return names;
    if (answer.code === ResponseCodes.SUCCESS) names.push(...recordsOf(answer).map(nameOf));
    else t.is(answer.code, ResponseCodes.PULL_OFFSET_MOVED);
    t.true(next > offset, 'never twice at one place');
    offset = next;
  }
  t.fail('reading does not come to an end');
  return names;
}

export function namesFrom(from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, i) => `m${from + i}`);
}

export function commit(t: ExecutionContext, client: SimClient, offset: number): void {
  client.askPull('Orders', 0, 'readers', { offset });
  const key = { consumerGroup: 'readers', topic: 'Orders', queueId: 0 };
  t.is(client.ask(RequestCodes.UPDATE_CONSUMER_OFFSET, { ...key, commitOffset: offset }).code, 0);
}
