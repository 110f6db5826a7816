// The named fault points: one before and one after every step that changes what a restart will find. A broker can be ended at each.
//
//   a point = (kind of operation, kind of file), named in the table below; an operation that changes the disk and has no name is an error.
import { type Operation, type OperationKind, TornWrite, type Watch } from './watched-files.ts';

/** within: a write gets half through; other operations have no middle and are passed by. */
export type Moment = 'before' | 'within' | 'after';

interface PointRow {
  readonly name: string;
  readonly kind: OperationKind;
  readonly path: RegExp;
}

const changing: ReadonlySet<OperationKind> = new Set([
  'make',
  'write',
  'truncate',
  'sync',
  'syncFolder',
  'syncTree',
  'makeFolder',
  'rename',
  'remove',
]);

function row(name: string, kind: OperationKind, path: RegExp): PointRow {
  return { name, kind, path };
}

const LOG_FILE = /\/commitlog\/\d{20}$/;
const QUEUE_FILE = /\/consumequeue\/[^/]+\/\d+\/\d{20}$/;
const QUEUE_FOLDER = /\/consumequeue(\/[^/]+){0,2}$/;
const INDEX_FILE = /\/index\/\d{17}$/;

/** A state file is written by the same steps whatever it holds. */
function stateRows(what: string, file: string): PointRow[] {
  const path = (suffix: string): RegExp => new RegExp(`/${file.replace('.', '\\.')}${suffix}$`);
  return [
    row(`${what}: file made`, 'make', path('\\.tmp')),
    row(`${what}: emptied`, 'truncate', path('\\.tmp')),
    row(`${what}: written`, 'write', path('\\.tmp')),
    row(`${what}: synced`, 'sync', path('\\.tmp')),
    row(`${what}: former one kept`, 'rename', path('')),
    row(`${what}: put in place`, 'rename', path('\\.tmp')),
    row(`${what}: synced at a start`, 'sync', path('(\\.bak)?')),
  ];
}

/** What is noted on top of a table. */
function noteRows(what: string, file: string): PointRow[] {
  const path = new RegExp(`/${file.replace('.', '\\.')}(\\.tmp)?$`);
  return [row(`${what}: file made`, 'make', path), row(`${what}: emptied`, 'truncate', path), row(`${what}: written`, 'write', path)];
}

const rows: readonly PointRow[] = [
  row('store: folder made', 'makeFolder', /^\/store(\/(config|commitlog|index))?$/),
  row('store: folder synced', 'syncFolder', /^(\/store)?$|^\/$/),
  row('log: file made', 'make', LOG_FILE),
  row('log: file sized', 'truncate', LOG_FILE),
  row('log: written', 'write', LOG_FILE),
  row('log: synced', 'sync', LOG_FILE),
  row('log: file removed', 'remove', LOG_FILE),
  row('log: folder synced', 'syncFolder', /\/commitlog$/),
  row('queue: folder made', 'makeFolder', QUEUE_FOLDER),
  row('queue: file made', 'make', QUEUE_FILE),
  row('queue: file sized', 'truncate', QUEUE_FILE),
  row('queue: written', 'write', QUEUE_FILE),
  row('queue: synced', 'sync', QUEUE_FILE),
  row('queue: file removed', 'remove', QUEUE_FILE),
  row('queue: folder removed', 'remove', QUEUE_FOLDER),
  row('queue: folder synced', 'syncFolder', QUEUE_FOLDER),
  row('queue: all synced', 'syncTree', QUEUE_FOLDER),
  row('index: file made', 'make', INDEX_FILE),
  row('index: file sized', 'truncate', INDEX_FILE),
  row('index: written', 'write', INDEX_FILE),
  row('index: synced', 'sync', INDEX_FILE),
  row('index: file removed', 'remove', INDEX_FILE),
  row('index: folder synced', 'syncFolder', /\/index$/),
  row('checkpoint: file made', 'make', /\/checkpoint$/),
  row('checkpoint: file sized', 'truncate', /\/checkpoint$/),
  row('checkpoint: written', 'write', /\/checkpoint$/),
  row('checkpoint: synced', 'sync', /\/checkpoint$/),
  row('abort marker: made', 'make', /\/abort$/),
  row('abort marker: emptied', 'truncate', /\/abort$/),
  row('abort marker: written', 'write', /\/abort$/),
  row('abort marker: synced', 'sync', /\/abort$/),
  row('abort marker: removed', 'remove', /\/abort$/),
  row('state: folder synced', 'syncFolder', /\/config$/),
  ...stateRows('topics', 'topics.json'),
  ...stateRows('groups', 'subscriptionGroup.json'),
  ...stateRows('offsets', 'consumerOffset.json'),
  ...noteRows('offset notes', 'consumerOffset.journal'),
  row('offset notes: synced at a start', 'sync', /\/consumerOffset\.journal$/),
  ...stateRows('joins', 'groupJoins.json'),
  ...stateRows('resets', 'offsetResets.json'),
  ...stateRows('queue locks', 'queueLocks.json'),
  ...stateRows('removed topics', 'removedTopics.json'),
  ...stateRows('changed settings', 'changedSettings.json'),
  ...stateRows('delays', 'delayOffset.json'),
  ...noteRows('delay notes', 'delayOffset.journal'),
  row('delay notes: put in place', 'rename', /\/delayOffset\.journal\.tmp$/),
  ...stateRows('delay lists', 'delayLevels.json'),
];

export const faultPoints: readonly string[] = rows.map(({ name }) => name);

/** The point of an operation; null for one that changes nothing on the disk. */
export function pointOf(operation: Operation): string | null {
  if (!changing.has(operation.kind)) return null;
  const found = rows.find(({ kind, path }) => kind === operation.kind && path.test(operation.path));
  if (found === undefined) throw new Error(`no fault point has this name: ${operation.kind} ${operation.path}`);
  return found.name;
}

/** What a broker's files throw once its process is ended: nothing that it still does can reach the disk. */
export class ProcessEnded extends Error {}

/** Ends the process at the n-th passing of a point, or at the n-th change of the disk whatever it is. */
export class Killer implements Watch {
  ended = false;
  /** Where it ended. */
  endedAt = '';
  readonly #point: string | null;
  readonly #moment: Moment;
  #left: number;

  /** @param point null: any. @param number from 1 on. */
  constructor(point: string | null, moment: Moment, number: number) {
    this.#point = point;
    this.#moment = moment;
    this.#left = number;
  }

  before(operation: Operation): void {
    if (this.ended) throw new ProcessEnded(this.endedAt);
    this.#pass('before', operation);
  }

  after(operation: Operation): void {
    this.#pass('after', operation);
  }

  #pass(moment: 'before' | 'after', operation: Operation): void {
    const within = this.#moment === 'within' && operation.kind === 'write' && moment === 'before';
    if (moment !== this.#moment && !within) return;
    const point = pointOf(operation);
    if (point === null || (this.#point !== null && this.#point !== point) || --this.#left > 0) return;
    this.ended = true;
    this.endedAt = `${this.#moment} ${point} (${operation.kind} ${operation.path})`;
    if (within) throw new TornWrite(Math.ceil((operation.sizeBytes ?? 0) / 2), 'EIO');
    throw new ProcessEnded(this.endedAt);
  }
}

/** Counts how often each point was passed. */
export class PointTally implements Watch {
  readonly counts = new Map<string, number>();

  after(operation: Operation): void {
    const point = pointOf(operation);
    if (point !== null) this.counts.set(point, (this.counts.get(point) ?? 0) + 1);
  }
}
