// The state files of the folder config: each must be readable, and committed offsets must lie where their queues are.
import { errorText } from '../../base/errors.ts';
import { type JsonObject, parseLenient } from '../../base/lenient-json.ts';
import { SystemTopics } from '../../message/names.ts';
import type { Files } from '../files/files.ts';
import { removedPositionsOf } from '../removed-topics-file.ts';
import { isJsonObject, numbersOf, objectsOf, parseState } from '../state-json.ts';
import type { CheckContext } from './check-context.ts';
import { Sights } from './findings.ts';
import type { QueuesCheck } from './queues-check.ts';

const TOPICS = 'topics.json';
const OFFSETS = 'consumerOffset.json';
const DELAYS = 'delayOffset.json';
const REMOVED = 'removedTopics.json';

/** By name: the table without which a file would be taken for an empty one; null where any object will do. */
const stateFiles: Readonly<Record<string, string | null>> = {
  [TOPICS]: 'topicConfigTable',
  [OFFSETS]: 'offsetTable',
  [DELAYS]: 'offsetTable',
  'subscriptionGroup.json': 'subscriptionGroupTable',
  'groupJoins.json': 'joins',
  'offsetResets.json': 'resets',
  'queueLocks.json': 'owners',
  'changedSettings.json': 'changes',
  [REMOVED]: 'removed',
  'consumerFilter.json': null,
  'consumerOrderInfo.json': null,
  'messageRequestMode.json': null,
  'topicQueueMapping.json': null,
  timermetrics: null,
  transactionMetrics: null,
};

/** The topics of topics.json, or of its backup; null where neither can be read. */
export function configuredTopics(files: Files, root: string): ReadonlySet<string> | null {
  const path = `${root}/config/${TOPICS}`;
  for (const each of [path, `${path}.bak`]) {
    const state = read(files, each, stateFiles[TOPICS] ?? null);
    if (isJsonObject(state)) return new Set(objectsOf(state['topicConfigTable']).keys());
  }
  return null;
}

/** Where the log ended when a topic was removed, from removedTopics.json or its backup; empty where neither can be read. */
export function removedTopics(files: Files, root: string): ReadonlyMap<string, number> {
  const path = `${root}/config/${REMOVED}`;
  for (const each of [path, `${path}.bak`]) {
    const state = read(files, each, stateFiles[REMOVED] ?? null);
    if (isJsonObject(state)) return removedPositionsOf(state);
  }
  return new Map();
}

export class StateCheck {
  readonly #context: CheckContext;
  readonly #folder: string;
  readonly #queues: QueuesCheck;

  constructor(context: CheckContext, queues: QueuesCheck) {
    this.#context = context;
    this.#folder = `${context.settings.storePathRootDir}/config`;
    this.#queues = queues;
  }

  /** After the walk over the log, which tells where the queues begin and end. */
  run(): void {
    const states = new Map<string, JsonObject>();
    for (const [name, table] of Object.entries(stateFiles)) {
      const state = this.#load(`${this.#folder}/${name}`, table);
      if (state !== null) states.set(name, state);
    }
    const topics = states.get(TOPICS);
    if (topics !== undefined) this.#checkTopics(new Set(objectsOf(topics['topicConfigTable']).keys()));
    this.#checkOffsets(states.get(OFFSETS) ?? {});
    this.#checkDelays(states.get(DELAYS) ?? {});
  }

  #checkTopics(known: ReadonlySet<string>): void {
    const sights = new Sights();
    for (const topic of this.#queues.topics) {
      if (!known.has(topic))
        sights.add('topicUnknown', () => ({ position: 0, where: `topic=${topic}`, seen: 'queues', expected: 'its configuration' }));
    }
    sights.report(this.#context.findings, `${this.#folder}/${TOPICS}`, () => 'note');
  }

  #checkOffsets(state: JsonObject): void {
    const sights = new Sights();
    for (const [key, offsets] of objectsOf(state['offsetTable'])) {
      // A group may not hold the sign, a topic neither.
      const topic = key.slice(0, key.indexOf('@'));
      for (const [queueId, offset] of numbersOf(offsets)) this.#judge(sights, topic, queueId, offset, `${key} queueId=${queueId}`);
    }
    this.#report(sights, OFFSETS);
  }

  #checkDelays(state: JsonObject): void {
    const sights = new Sights();
    for (const [level, offset] of numbersOf(state['offsetTable'])) {
      this.#judge(sights, SystemTopics.schedule, level - 1, offset, `level=${level}`);
    }
    this.#report(sights, DELAYS);
  }

  #judge(sights: Sights, topic: string, queueId: number, offset: number, where: string): void {
    const { min, max } = this.#queues.boundsOf(topic, queueId) ?? { min: 0, max: 0 };
    const sight = () => ({ position: 0, where, seen: `offset=${offset}`, expected: `${min} to ${max}` });
    if (offset < 0) sights.add('offsetNegative', sight);
    else if (offset > max) sights.add('offsetAbove', sight);
    else if (offset < min) sights.add('offsetBelow', sight);
  }

  #report(sights: Sights, name: string): void {
    sights.report(this.#context.findings, `${this.#folder}/${name}`, (kind) => (kind === 'offsetNegative' ? 'damage' : 'note'));
  }

  /** What a start would read; null where there is nothing, or nothing that can be read. */
  #load(path: string, table: string | null): JsonObject | null {
    const { files } = this.#context;
    const main = read(files, path, table);
    const backup = read(files, `${path}.bak`, table);
    if (isJsonObject(main)) {
      if (typeof backup === 'string') this.#tell('stateBackup', 'note', `${path}.bak`, backup, 'a whole state');
      return main;
    }
    if (main !== null) {
      const usable = isJsonObject(backup);
      const expected = usable ? 'a whole state; the next start takes the backup, which is older' : 'a whole state, here or in the backup';
      this.#tell('stateTorn', usable ? 'repairable' : 'damage', path, main, expected);
      return usable ? backup : null;
    }
    const unfinished = read(files, `${path}.tmp`, table);
    for (const [other, found] of [[`${path}.tmp`, unfinished] as const, [`${path}.bak`, backup] as const]) {
      if (!isJsonObject(found)) continue;
      this.#tell('stateMissing', 'repairable', path, `only ${other}`, 'the file under its own name');
      return found;
    }
    if (typeof backup === 'string') this.#tell('stateTorn', 'damage', `${path}.bak`, backup, 'a whole state, here or in the file itself');
    return null;
  }

  #tell(
    kind: 'stateTorn' | 'stateMissing' | 'stateBackup',
    severity: 'damage' | 'repairable' | 'note',
    path: string,
    seen: string,
    expected: string,
  ): void {
    this.#context.findings.add({ severity, kind, path, where: '', seen, expected });
  }
}

/** The state; a text that says what is wrong with it; null where there is no file, or a backup that was made of nothing. */
function read(files: Files, path: string, table: string | null): JsonObject | string | null {
  const stat = files.stat(path);
  if (stat === null || stat.isDirectory || (stat.sizeBytes === 0 && path.endsWith('.bak'))) return null;
  const bytes = Buffer.alloc(stat.sizeBytes);
  const fd = files.open(path, 'read');
  try {
    files.read(fd, bytes, 0, bytes.length, 0);
  } finally {
    files.close(fd);
  }
  try {
    const text = bytes.toString('utf8');
    if (table !== null) return parseState(text, table);
    const value = parseLenient(text);
    return isJsonObject(value) ? value : 'no object';
  } catch (error) {
    return errorText(error);
  }
}
