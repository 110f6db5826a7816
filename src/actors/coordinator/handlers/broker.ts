// Requests of tools about the broker itself: its settings and its figures.
import { compactJson } from '../../../base/json-writer.ts';
import { refusalText, unpackDiskState } from '../../../core/retention.ts';
import { dataVersionJson } from '../../../protocol/bodies/data-version.ts';
import { encodeKvTable } from '../../../protocol/bodies/kv-table.ts';
import { RequestCodes } from '../../../protocol/codes.ts';
import { Positions } from '../../context.ts';
import { writeFigures } from '../../figures.ts';
import type { Desk } from '../desk.ts';
import { type HandlerRow, type Reply, withBody } from '../request.ts';
import { delayFigures } from './delay-figures.ts';

export const brokerHandlers: readonly HandlerRow[] = [
  [RequestCodes.GET_BROKER_CONFIG, onConfig],
  [RequestCodes.GET_BROKER_RUNTIME_INFO, onRuntime],
];

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

function onConfig(desk: Desk): Reply {
  const { given, ...settings } = desk.context.settings;
  const values: Record<string, unknown> = { ...given, ...settings };
  const lines = Object.keys(values)
    .sort()
    .map((name) => `${name}=${String(values[name])}\n`);
  const version = { stateVersion: 0, timestamp: desk.context.boot.startedAtMs, counter: 0 };
  return withBody(Buffer.from(lines.join('')), { version: compactJson(dataVersionJson(version)) });
}

/**
 * Only what is known; queues of threads, which tools ask for by name, are always empty because there are none. Behind it, under names of
 * our own, what each actor does.
 */
function onRuntime(desk: Desk): Reply {
  const { positions, settings, boot, clock } = desk.context;
  const appended = positions.get(Positions.appended);
  let dispatched = appended;
  desk.context.namesOf('dispatch').forEach((_, index) => {
    dispatched = Math.min(dispatched, positions.get(Positions.dispatched + index));
  });
  const table = new Map<string, string>([
    ['brokerActive', 'true'],
    ['brokerVersionDesc', 'V5_3_3'],
    ['bootTimestamp', String(boot.startedAtMs)],
    ['runtime', durationText(clock.wallMs() - boot.startedAtMs)],
    ['startAcceptSendRequestTimeStamp', String(settings.startAcceptSendRequestTimeStamp)],
    ['commitLogMinOffset', String(positions.get(Positions.logMin))],
    ['commitLogMaxOffset', String(appended)],
    ['dispatchBehindBytes', String(appended - dispatched)],
    ['commitLogReadOnly', String(positions.get(Positions.readOnly) === 1)],
    ['remainHowManyDataToFlush', `${appended - positions.get(Positions.synced)} B`],
    ['pageCacheLockTimeMills', '0'],
    ['dispatchMaxBuffer', '0'],
  ]);
  for (const [name, value] of delayFigures(desk)) table.set(name, value);
  const disks = unpackDiskState(positions.get(Positions.diskState));
  for (const [name, percent] of [
    ['commitLogDiskRatio', disks.logPercent],
    ['consumeQueueDiskRatio', disks.queuePercent],
  ] as const)
    table.set(name, String(percent === null ? -1 : percent / 100));
  table.set('ringmq.writesRefused', disks.refuses === 0 ? '' : refusalText(disks, settings));
  for (const pool of ['send', 'pull', 'litePull', 'query', 'ack']) {
    table.set(`${pool}ThreadPoolQueueSize`, '0');
    table.set(`${pool}ThreadPoolQueueHeadWaitTimeMills`, '0');
  }
  writeFigures(desk.context.figures(), clock.steadyMs(), table);
  return withBody(encodeKvTable(table));
}

function durationText(ms: number): string {
  const days = Math.floor(ms / DAY_MS);
  const hours = Math.floor((ms % DAY_MS) / HOUR_MS);
  const minutes = Math.floor((ms % HOUR_MS) / MINUTE_MS);
  const seconds = Math.floor((ms % MINUTE_MS) / SECOND_MS);
  return `[ ${days} days, ${hours} hours, ${minutes} minutes, ${seconds} seconds ]`;
}
