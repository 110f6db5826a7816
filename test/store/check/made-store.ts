// Makes whole small stores for the checker (log, queues, index, offsets, checkpoint), damages them on purpose, and lets it look at them.
import { javaHash, writeI32 } from '../../../src/base/bytes.ts';
import { silentLog } from '../../../src/base/log.ts';
import { type CheckOptions, type CheckReport, type CheckSettings, checkStore } from '../../../src/store/check/check-store.ts';
import { Checkpoint } from '../../../src/store/checkpoint.ts';
import { ConsumeQueues } from '../../../src/store/consume-queues.ts';
import type { FileStat, Files, OpenMode } from '../../../src/store/files/files.ts';
import { MemoryFiles } from '../../../src/store/files/memory-files.ts';
import { IndexFiles } from '../../../src/store/index-files.ts';
import { OffsetsFile } from '../../../src/store/offsets-file.ts';
import { UNIT_SIZE, writeUnit } from '../../../src/store/queue-unit.ts';
import { segmentName } from '../../../src/store/segment-row.ts';
import { TopicsFile } from '../../../src/store/topics-file.ts';
import { LogMaker, type MadeRecord } from '../records.ts';

export const SEGMENT = 4_096;
export const UNITS_PER_FILE = 10;
export const QUEUE_FILE = UNITS_PER_FILE * UNIT_SIZE;
export const SLOTS = 7;
export const ENTRIES = 20;

export const madeSettings = {
  storePathRootDir: '/store',
  storePathCommitLog: '/store/commitlog',
  mappedFileSizeCommitLog: SEGMENT,
  mappedFileSizeConsumeQueue: QUEUE_FILE,
  maxHashSlotNum: SLOTS,
  maxIndexNum: ENTRIES,
  messageDelayLevel: '1s 5s 10s',
} as const;

/** A checker that writes fails its test. */
export class ReadOnlyFiles implements Files {
  readonly #inner: Files;

  constructor(inner: Files) {
    this.#inner = inner;
  }

  open(path: string, mode: OpenMode): number {
    if (mode !== 'read') throw new Error(`opened for writing: ${path}`);
    return this.#inner.open(path, mode);
  }

  close(fd: number): void {
    this.#inner.close(fd);
  }

  read(fd: number, into: Uint8Array, at: number, size: number, position: number): number {
    return this.#inner.read(fd, into, at, size, position);
  }

  stat(path: string): FileStat | null {
    return this.#inner.stat(path);
  }

  list(path: string): string[] {
    return this.#inner.list(path);
  }

  write = refuse('write');
  truncate = refuse('truncate');
  sync = refuse('sync');
  syncFolder = refuse('syncFolder');
  makeFolder = refuse('makeFolder');
  rename = refuse('rename');
  remove = refuse('remove');
}

function refuse(what: string): () => never {
  return () => {
    throw new Error(`the checker called ${what}`);
  };
}

export interface Sent {
  readonly position: number;
  readonly size: number;
  readonly topic: string;
  readonly queueId: number;
  readonly queueOffset: number;
  readonly storeTimeMs: number;
  readonly tagsCode: number;
  readonly keys: readonly string[];
}

export class MadeStore {
  readonly files: MemoryFiles;
  readonly log: LogMaker;
  readonly queues: ConsumeQueues;
  readonly index: IndexFiles;
  readonly sent: Sent[] = [];
  readonly #keys = new Map<string, number>();
  dispatched = 0;

  constructor(position = 0) {
    this.files = new MemoryFiles();
    for (const folder of ['consumequeue', 'index', 'config']) this.files.makeFolder(`/store/${folder}`);
    this.log = new LogMaker(this.files, '/store/commitlog', SEGMENT, position);
    this.queues = new ConsumeQueues(this.files, '/store/consumequeue', QUEUE_FILE);
    this.index = IndexFiles.open(this.files, '/store/index', SLOTS, ENTRIES);
  }

  send(topic: string, queueId: number, more: Partial<MadeRecord> = {}): Sent {
    const n = this.sent.length;
    const given = { storeTimeMs: 1_000 + n * 700, bodySize: 20 + ((n * 37) % 300), ...more };
    const properties = more.properties ?? { TAGS: `Tag${n % 4}`, KEYS: `k${n} both`, UNIQ_KEY: `U${n}` };
    this.log.append(topic, queueId, { ...given, properties });
    const made = this.log.records.at(-1) as (typeof this.log.records)[number];
    const tag = properties['TAGS'] ?? '';
    const keys = [properties['UNIQ_KEY'] ?? '', ...(properties['KEYS'] ?? '').split(' ')].filter((key) => key !== '');
    const sent = { ...made, tagsCode: javaHash(tag), keys: keys.map((key) => `${topic}#${key}`) };
    this.sent.push(sent);
    return sent;
  }

  /** Six queues in three topics, twelve messages in each. */
  fill(count = 72): this {
    for (let i = 0; i < count; i++) this.send(`T${i % 3}`, i % 2);
    return this;
  }

  /** The next so many messages get their units and index entries. */
  dispatch(count = Number.POSITIVE_INFINITY): this {
    for (; count > 0 && this.dispatched < this.sent.length; count--) this.dispatchOne(this.sent[this.dispatched++] as Sent);
    this.queues.flushAll();
    this.index.flush();
    return this;
  }

  dispatchOne(sent: Sent): void {
    this.queueOf(sent.topic, sent.queueId).append(sent.queueOffset, sent.position, sent.size, sent.tagsCode);
    for (const key of sent.keys) this.index.insert(key, sent.position, sent.storeTimeMs);
  }

  queueOf(topic: string, queueId: number): ReturnType<ConsumeQueues['open']> {
    const name = `${topic}/${queueId}`;
    let key = this.#keys.get(name);
    if (key === undefined) {
      key = this.#keys.size;
      this.#keys.set(name, key);
      this.queues.open(key, topic, queueId);
    }
    return this.queues.get(key) as ReturnType<ConsumeQueues['open']>;
  }

  /** As a clean stop leaves it: files of the future gone, the checkpoint at the newest message. */
  stop(): this {
    this.queues.flushAll();
    this.queues.close();
    this.index.close();
    this.log.files.close(this.log.position);
    const last = this.sent.at(-1);
    const checkpoint = new Checkpoint(this.files, '/store');
    if (last !== undefined) {
      checkpoint.setLogTime(last.storeTimeMs);
      checkpoint.setQueueTime(last.storeTimeMs, last.position);
    }
    checkpoint.close();
    this.saveOffsets({ 'T0@g': { 0: 5, 1: 12 }, 'T1@g': { 0: 0 } });
    const topics = new Map([...new Set(this.sent.map(({ topic }) => topic))].map((topic) => [topic, { readQueueNums: 2 }]));
    new TopicsFile(this.files, '/store/config', silentLog).save({ dataVersion: null, topics });
    return this;
  }

  /** Twice, so that there is a backup. */
  saveOffsets(rows: Record<string, Record<number, number>>): void {
    const file = new OffsetsFile(this.files, '/store/config', silentLog);
    const map = new Map(
      Object.entries(rows).map(([key, offsets]) => [key, new Map(Object.entries(offsets).map(([id, offset]) => [Number(id), offset]))]),
    );
    for (let i = 0; i < 2; i++) file.save({ dataVersion: null, rows: map });
  }

  check(): CheckReport {
    return this.checkWith(madeSettings);
  }

  checkWith(settings: CheckSettings, options: CheckOptions = {}): CheckReport {
    const before = this.files.openCount;
    const report = checkStore(new ReadOnlyFiles(this.files), settings, options);
    if (this.files.openCount !== before) throw new Error('the checker left files open');
    return report;
  }

  /** Overwrites bytes of a file that is there. */
  poke(path: string, at: number, bytes: Uint8Array): void {
    const fd = this.files.open(path, 'write');
    this.files.write(fd, bytes, 0, bytes.length, at);
    this.files.close(fd);
  }

  peek(path: string, at: number, size: number): Uint8Array {
    const bytes = new Uint8Array(size);
    const fd = this.files.open(path, 'read');
    this.files.read(fd, bytes, 0, size, at);
    this.files.close(fd);
    return bytes;
  }

  /** Turns all bits of a byte of the log. */
  flip(position: number): void {
    const path = logPath(position);
    const [byte = 0] = this.peek(path, position % SEGMENT, 1);
    this.poke(path, position % SEGMENT, Uint8Array.from([byte ^ 0xff]));
  }

  pokeLog(position: number, bytes: Uint8Array): void {
    this.poke(logPath(position), position % SEGMENT, bytes);
  }

  pokeUnit(topic: string, queueId: number, offset: number, position: number, size: number, tagsCode: number): void {
    const unit = new Uint8Array(UNIT_SIZE);
    writeUnit(unit, 0, position, size, tagsCode);
    this.pokeUnitBytes(topic, queueId, offset, unit);
  }

  pokeUnitBytes(topic: string, queueId: number, offset: number, unit: Uint8Array): void {
    this.poke(unitPath(topic, queueId, offset), (offset % UNITS_PER_FILE) * UNIT_SIZE, unit);
  }

  unitBytes(topic: string, queueId: number, offset: number): Uint8Array {
    return this.peek(unitPath(topic, queueId, offset), (offset % UNITS_PER_FILE) * UNIT_SIZE, UNIT_SIZE);
  }

  of(topic: string, queueId: number, queueOffset: number): Sent {
    const found = this.sent.find((each) => each.topic === topic && each.queueId === queueId && each.queueOffset === queueOffset);
    if (found === undefined) throw new Error(`no message ${topic}/${queueId} ${queueOffset}`);
    return found;
  }

  indexPath(file: number): string {
    return `/store/index/${this.files.list('/store/index').at(file)}`;
  }

  pokeI32(path: string, at: number, value: number): void {
    const bytes = new Uint8Array(4);
    writeI32(bytes, 0, value);
    this.poke(path, at, bytes);
  }
}

export function logPath(position: number): string {
  return `/store/commitlog/${segmentName(position - (position % SEGMENT))}`;
}

export function unitPath(topic: string, queueId: number, offset: number): string {
  const file = Math.floor(offset / UNITS_PER_FILE) * QUEUE_FILE;
  return `/store/consumequeue/${topic}/${queueId}/${segmentName(file)}`;
}

/** Findings as short lines: severity, kind, place, and how many where there are more. */
export function lines(report: CheckReport): string[] {
  return report.findings.map(
    ({ severity, kind, where, count }) => `${severity} ${kind}${where === '' ? '' : ` ${where}`}${count === 1 ? '' : ` x${count}`}`,
  );
}

export function sound(count?: number): MadeStore {
  return new MadeStore().fill(count).dispatch().stop();
}
