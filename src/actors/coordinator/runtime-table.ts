// The broker's figures under the names and in the forms that tools read; behind them, under names of our own, what each actor does.
import { refusalText, unpackDiskState } from '../../core/retention.ts';
import { BROKER_VERSION } from '../../protocol/versions.ts';
import { RecordProbe } from '../../store/record-probe.ts';
import { Positions } from '../context.ts';
import { writeFigures } from '../figures.ts';
import type { Desk } from './desk.ts';
import { delayFigures } from './handlers/delay-figures.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** What tools divide by; here requests wait in rings, whose length is bytes. */
const POOL_CAPACITY = 10_000;
/** Java's largest int: there is no pool of buffers that could run out. */
const UNLIMITED = 2_147_483_647;
/** Spans of times that a message takes to be stored, which exporters take apart; here none is measured. */
const SPANS = [
  '<=0ms',
  '0~10ms',
  '10~50ms',
  '50~100ms',
  '100~200ms',
  '200~500ms',
  '500ms~1s',
  '1~2s',
  '2~3s',
  '3~4s',
  '4~5s',
  '5~10s',
  '10s~',
];

export function runtimeTable(desk: Desk): Map<string, string> {
  const { positions, settings, boot, clock } = desk.context;
  const appended = positions.get(Positions.appended);
  const table = new Map<string, string>([
    ['brokerActive', 'true'],
    ['brokerVersion', String(BROKER_VERSION)],
    ['brokerVersionDesc', 'V5_3_3'],
    ['bootTimestamp', String(boot.startedAtMs)],
    ['runtime', durationText(clock.wallMs() - boot.startedAtMs)],
    ['startAcceptSendRequestTimeStamp', String(settings.startAcceptSendRequestTimeStamp)],
    ['commitLogMinOffset', String(positions.get(Positions.logMin))],
    ['commitLogMaxOffset', String(appended)],
    ['dispatchBehindBytes', String(appended - dispatchedOf(desk, appended))],
    ['earliestMessageTimeStamp', String(earliestTimeMs(desk, appended))],
    ['commitLogReadOnly', String(positions.get(Positions.readOnly) === 1)],
    ['remainHowManyDataToFlush', `${appended - positions.get(Positions.synced)} B`],
    ['remainHowManyDataToCommit', '0 B'],
    ['remainTransientStoreBufferNumbs', String(UNLIMITED)],
  ]);
  for (const [name, value] of delayFigures(desk)) table.set(name, value);
  addTraffic(desk, table);
  addDisks(desk, table);
  addAbsent(table);
  writeFigures(desk.context.figures(), clock.steadyMs(), table);
  return table;
}

function dispatchedOf(desk: Desk, appended: number): number {
  const { positions } = desk.context;
  return desk.context
    .namesOf('dispatch')
    .reduce((lowest, _, index) => Math.min(lowest, positions.get(Positions.dispatched + index)), appended);
}

/** Store time of the log's first message; -1 where there is none. */
function earliestTimeMs(desk: Desk, appended: number): number {
  const { positions, settings, files } = desk.context;
  const logMin = positions.get(Positions.logMin);
  if (appended <= logMin) return -1;
  const probe = new RecordProbe(files, settings.storePathCommitLog, settings.mappedFileSizeCommitLog, appended);
  try {
    return probe.storeTimeMs(logMin);
  } finally {
    probe.close();
  }
}

function addTraffic(desk: Desk, table: Map<string, string>): void {
  const { rates, days } = desk.traffic;
  const { puts, putBytes, gets } = desk.traffic.totals();
  const rateText = (name: Parameters<typeof rates.rates>[0]): string => rates.rates(name).map(javaDouble).join(' ');
  table.set('putTps', rateText('puts'));
  table.set('getFoundTps', rateText('found'));
  table.set('getMissTps', rateText('missed'));
  table.set('getTotalTps', rateText('all'));
  // The second spelling is that of 4.x: its clusterList ends with an exception without it.
  for (const name of ['getTransferredTps', 'getTransferedTps']) table.set(name, rateText('gets'));
  table.set('putMessageTimesTotal', String(puts));
  table.set('putMessageSizeTotal', String(putBytes));
  table.set('putMessageAverageSize', javaDouble(puts === 0 ? 0 : putBytes / puts));
  table.set('msgPutTotalTodayNow', String(puts));
  table.set('msgPutTotalTodayMorning', String(days.todayMorning.puts));
  table.set('msgPutTotalYesterdayMorning', String(days.yesterdayMorning.puts));
  table.set('msgGetTotalTodayNow', String(gets));
  table.set('msgGetTotalTodayMorning', String(days.todayMorning.gets));
  table.set('msgGetTotalYesterdayMorning', String(days.yesterdayMorning.gets));
}

function addDisks(desk: Desk, table: Map<string, string>): void {
  const { positions, settings, files } = desk.context;
  const disks = unpackDiskState(positions.get(Positions.diskState));
  for (const [name, percent] of [
    ['commitLogDiskRatio', disks.logPercent],
    [`commitLogDiskRatio_${settings.storePathCommitLog}`, disks.logPercent],
    ['consumeQueueDiskRatio', disks.queuePercent],
  ] as const)
    table.set(name, String(percent === null ? -1 : percent / 100));
  table.set('ringmq.writesRefused', disks.refuses === 0 ? '' : refusalText(disks, settings));
  const usage = files.usage?.(settings.storePathCommitLog) ?? null;
  if (usage !== null)
    table.set('commitLogDirCapacity', `Total : ${sizeText(usage.usedBytes + usage.freeBytes)}, Free : ${sizeText(usage.freeBytes)}.`);
}

/** What tools ask for by name and there is nothing of: queues before pools of threads, locks of the page cache, timers of the wheel. */
function addAbsent(table: Map<string, string>): void {
  for (const pool of ['send', 'pull', 'litePull', 'query', 'ack']) {
    table.set(`${pool}ThreadPoolQueueSize`, '0');
    table.set(`${pool}ThreadPoolQueueCapacity`, String(POOL_CAPACITY));
    table.set(`${pool}ThreadPoolQueueHeadWaitTimeMills`, '0');
  }
  table.set('putMessageDistributeTime', SPANS.map((span) => `[${span}]:0`).join(' '));
  table.set('EndTransactionQueueSize', '0');
  table.set('EndTransactionThreadPoolQueueCapacity', String(POOL_CAPACITY));
  for (const name of ['pageCacheLockTimeMills', 'dispatchMaxBuffer', 'putMessageEntireTimeMax', 'getMessageEntireTimeMax'])
    table.set(name, '0');
  for (const name of ['timerReadBehind', 'timerOffsetBehind', 'timerCongestNum', 'putMessageFailedTimes']) table.set(name, '0');
  for (const name of ['timerEnqueueTps', 'timerDequeueTps']) table.set(name, '0.0');
}

const sizeUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;

function sizeText(bytes: number): string {
  let size = bytes;
  let unit = 0;
  while (size >= 1024 && unit < sizeUnits.length - 1) {
    size /= 1024;
    unit++;
  }
  return `${unit === 0 ? size : size.toFixed(1)} ${sizeUnits[unit]}`;
}

/** As Java writes a double: tools parse it either way, people compare it. */
function javaDouble(value: number): string {
  return Number.isInteger(value) ? value.toFixed(1) : String(value).replace('e', 'E');
}

function durationText(ms: number): string {
  const days = Math.floor(ms / DAY_MS);
  const hours = Math.floor((ms % DAY_MS) / HOUR_MS);
  const minutes = Math.floor((ms % HOUR_MS) / MINUTE_MS);
  const seconds = Math.floor((ms % MINUTE_MS) / SECOND_MS);
  return `[ ${days} days, ${hours} hours, ${minutes} minutes, ${seconds} seconds ]`;
}
