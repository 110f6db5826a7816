// What a broker's actors did between two looks at its figures: their shares of the time, and which of them holds the others up.

export type FigureTable = ReadonlyMap<string, string>;

export interface ActorRow {
  readonly name: string;
  readonly thread: string;
  /** Of the time between the looks. */
  readonly busyShare: number;
  readonly workPerSecond: number;
  readonly recordsPerSecond: number;
  /** Offers that found a ring full. */
  readonly fullPerSecond: number;
  /** The fullest ring that it reads: its share, and who writes it. */
  readonly fillShare: number;
  readonly fillFrom: string;
}

export interface ThreadRow {
  readonly name: string;
  readonly busyShare: number;
}

export interface StatusReport {
  readonly seconds: number;
  readonly threads: readonly ThreadRow[];
  readonly actors: readonly ActorRow[];
  readonly verdict: string;
  /** Delayed messages that wait, by level; '' where none does. */
  readonly delayed: string;
  /** What an operator should know whatever the load is. */
  readonly warnings: readonly string[];
}

const ACTOR = 'ringmq.actor.';
const THREAD = 'ringmq.thread.';
const RING = 'ringmq.ring.';
const DELAY_LEVEL = 'scheduleMessageOffset_';
/** Below it, nobody holds anybody up. */
const BUSY_SHARE_MIN = 0.5;
/** A ring so full tells more than the busy share: its reader does not keep up. */
const FILL_SHARE_MIN = 0.25;

/** Null where the broker tells no such figures, such as one of another make. */
export function compareFigures(before: FigureTable, after: FigureTable): StatusReport | null {
  const spanMs = difference(before, after, 'ringmq.clockMs');
  if (!(spanMs > 0)) return null;
  const seconds = spanMs / 1000;
  const names = namesOf(after, ACTOR, '.thread');
  const ownShares = new Map(names.map((name) => [name, clamp(difference(before, after, `${ACTOR}${name}.busyMs`) / spanMs)]));
  const threads = namesOf(after, THREAD, '.reactive').map((name) => {
    const own = sum(names.filter((actor) => after.get(`${ACTOR}${actor}.thread`) === name).map((actor) => ownShares.get(actor) ?? 0));
    return { name, busyShare: clamp(Math.max(own, loopShare(before, after, name))) };
  });
  const actors = names.map((name): ActorRow => {
    const thread = after.get(`${ACTOR}${name}.thread`) ?? '';
    const perSecond = (label: string): number => difference(before, after, `${ACTOR}${name}.${label}`) / seconds;
    const records = perSecond('records');
    return {
      name,
      thread,
      busyShare: shareWithSockets(name, names, ownShares, threads, after),
      workPerSecond: perSecond('work'),
      recordsPerSecond: records > 0 ? records : perSecond('requests'),
      fullPerSecond: perSecond('mailFull'),
      ...fullestRing(after, name),
    };
  });
  const verdict = verdictOn(actors, threads);
  return { seconds, threads, actors, verdict, delayed: delayedText(after), warnings: warningsOf(after) };
}

/** The part of its time in which a thread's event loop did not wait; of a thread without one, 0. */
function loopShare(before: FigureTable, after: FigureTable, thread: string): number {
  const spanMs = difference(before, after, `${THREAD}${thread}.measuredAtMs`);
  return spanMs > 0 ? difference(before, after, `${THREAD}${thread}.activeMs`) / spanMs : 0;
}

/** What a thread did outside of duty cycles is work at sockets: it belongs to the actor that owns them. */
function shareWithSockets(
  name: string,
  names: readonly string[],
  ownShares: ReadonlyMap<string, number>,
  threads: readonly ThreadRow[],
  after: FigureTable,
): number {
  const own = ownShares.get(name) ?? 0;
  const thread = after.get(`${ACTOR}${name}.thread`);
  const neighbours = names.filter((other) => after.get(`${ACTOR}${other}.thread`) === thread);
  const owner = neighbours.find((other) => other.startsWith('ingress')) ?? neighbours.find((other) => other === 'name-server');
  if (owner !== name) return own;
  const busy = threads.find((row) => row.name === thread)?.busyShare ?? 0;
  return clamp(busy - sum(neighbours.filter((other) => other !== name).map((other) => ownShares.get(other) ?? 0)));
}

function fullestRing(after: FigureTable, reader: string): { fillShare: number; fillFrom: string } {
  let fillShare = 0;
  let fillFrom = '';
  for (const from of namesOf(after, RING, `->${reader}.fillBytes`)) {
    const ring = `${RING}${from}->${reader}`;
    const share = numberOf(after, `${ring}.fillBytes`) / numberOf(after, `${ring}.capacityBytes`);
    if (share > fillShare) {
      fillShare = share;
      fillFrom = from;
    }
  }
  return { fillShare, fillFrom };
}

function verdictOn(actors: readonly ActorRow[], threads: readonly ThreadRow[]): string {
  const fullest = largest(actors, (actor) => actor.fillShare);
  if (fullest !== undefined && fullest.fillShare >= FILL_SHARE_MIN) {
    return `Bottleneck: ${fullest.name}; the ring from ${fullest.fillFrom} that it reads is ${percent(fullest.fillShare)} full, it is busy ${percent(fullest.busyShare)} of the time.`;
  }
  const thread = largest(threads, (row) => row.busyShare);
  const busiest = largest(
    actors.filter((actor) => actor.thread === thread?.name),
    (actor) => actor.busyShare,
  );
  if (thread === undefined || busiest === undefined || thread.busyShare < BUSY_SHARE_MIN) {
    return `No bottleneck: the busiest thread${thread === undefined ? '' : `, ${thread.name},`} works ${percent(thread?.busyShare ?? 0)} of the time.`;
  }
  const shared = actors.filter((actor) => actor.thread === thread.name).length > 1;
  const place = shared ? `; its thread ${thread.name}, which it shares, works ${percent(thread.busyShare)} of the time` : '';
  return `Bottleneck: ${busiest.name}, busy ${percent(busiest.busyShare)} of the time${place}.`;
}

function warningsOf(after: FigureTable): string[] {
  const groups = numberOf(after, `${ACTOR}coordinator.mismatchedGroups`);
  const times = numberOf(after, `${ACTOR}coordinator.subscriptionMismatches`);
  if (groups === 0) return [];
  return [
    `Consumer groups whose members subscribe differently: ${groups} (${times} times since the start); see the broker's log for both sides.`,
  ];
}

export function reportLines(report: StatusReport): string[] {
  const head = ['actor', 'thread', 'busy', 'work/s', 'records/s', 'fullest ring', 'full/s'];
  const rows = report.actors.map((actor) => [
    actor.name,
    `${actor.thread} ${percent(report.threads.find((row) => row.name === actor.thread)?.busyShare ?? 0)}`,
    percent(actor.busyShare),
    whole(actor.workPerSecond),
    actor.recordsPerSecond === 0 ? '-' : whole(actor.recordsPerSecond),
    actor.fillFrom === '' ? '-' : `${percent(actor.fillShare)} from ${actor.fillFrom}`,
    whole(actor.fullPerSecond),
  ]);
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd();
  return [line(head), ...rows.map(line), report.verdict, ...(report.delayed === '' ? [] : [report.delayed]), ...report.warnings];
}

function delayedText(after: FigureTable): string {
  const waiting = namesOf(after, DELAY_LEVEL, '')
    .map((level) => {
      const [delivered = 0, end = 0] = (after.get(`${DELAY_LEVEL}${level}`) ?? '').split(',').map(Number);
      return { level: Number(level), count: end - delivered };
    })
    .filter(({ count }) => count > 0)
    .sort((a, b) => a.level - b.level);
  const dropped = numberOf(after, `${ACTOR}scheduler.droppedMessages`);
  if (waiting.length === 0 && dropped === 0) return '';
  const levels = waiting.map(({ level, count }) => `level ${level}: ${whole(count)}`).join(', ');
  const late = numberOf(after, `${ACTOR}scheduler.deliveryLateMs`);
  return `Delayed messages that wait: ${whole(sum(waiting.map(({ count }) => count)))}${levels === '' ? '' : ` (${levels})`}; the newest delivery was ${whole(late)} ms late, ${whole(dropped)} could not be delivered.`;
}

function namesOf(table: FigureTable, before: string, behind: string): string[] {
  const keys = [...table.keys()].filter((key) => key.startsWith(before) && key.endsWith(behind));
  return keys.map((key) => key.slice(before.length, key.length - behind.length));
}

function numberOf(table: FigureTable, key: string): number {
  return Number(table.get(key) ?? 0);
}

/** Counters of an actor that was restarted meanwhile go on; none goes back. */
function difference(before: FigureTable, after: FigureTable, key: string): number {
  return Math.max(0, numberOf(after, key) - numberOf(before, key));
}

function largest<T>(rows: readonly T[], measure: (row: T) => number): T | undefined {
  return rows.reduce<T | undefined>((best, row) => (best === undefined || measure(row) > measure(best) ? row : best), undefined);
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const clamp = (share: number): number => Math.min(1, Math.max(0, share));
const percent = (share: number): string => `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;
const whole = (value: number): string => Math.round(value).toLocaleString('en-US');
