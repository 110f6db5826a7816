// A commit log on its own, with real rings, window, feed and files: what the append and pull benchmarks play on.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadActorClasses } from '../src/actor-classes.ts';
import type { Boot } from '../src/actors/context.ts';
import { keyFlags } from '../src/actors/key-flags.ts';
import { Messages, RECORD_HEAD_SIZE, RecordFlags } from '../src/actors/messages.ts';
import { Assembly } from '../src/assembly.ts';
import type { Region } from '../src/base/arena.ts';
import { present } from '../src/base/assert.ts';
import { systemClock } from '../src/base/clock.ts';
import { silentLog } from '../src/base/log.ts';
import { systemRandom } from '../src/base/random.ts';
import { loadSettings } from '../src/config/load.ts';
import type { Settings } from '../src/config/settings.ts';
import { indexKeyHash, tagKeyHash, topicKeyHash } from '../src/message/index-key.ts';
import type { Actor } from '../src/runtime/actor.ts';
import { FeedReader } from '../src/runtime/feed.ts';
import { RingReader, RingWriter } from '../src/runtime/ring.ts';
import { allocateMemory, type SharedMemory } from '../src/shared-memory.ts';
import type { Files } from '../src/store/files/files.ts';
import { MemoryFiles } from '../src/store/files/memory-files.ts';
import { NodeFiles } from '../src/store/files/node-files.ts';
import { ActorKinds, layOut, type Topology } from '../src/topology.ts';
import { propertiesText } from './frames.ts';
import { RecordWriting } from './record.ts';

const classes = await loadActorClasses(ActorKinds);

export const QUEUE_COUNT = 8;
const APPEND_HEAD_SIZE = 12;
const ACKS_PER_DRAIN = 32_768;

/** Digits of the unique key that count the records: keys that are all alike would meet in one place of the index. */
const COUNTED_DIGITS = 8;

const unused = (): never => {
  throw new Error('no sockets here');
};

export class Stage {
  readonly settings: Settings;
  readonly files: Files;
  readonly memory: SharedMemory;
  readonly assembly: Assembly;
  readonly recordSize: number;
  /** Acknowledged, and what the feed has shown. */
  ackCount = 0;
  readonly feed: FeedReader;
  readonly #topology: Topology;
  readonly #folder: string | null;
  readonly #log: Actor;
  readonly #appends: RingWriter;
  readonly #acks: RingReader;
  readonly #writing: RecordWriting;
  /** The records get their flags and hashes, and each its own unique key. */
  readonly #keyed: boolean;
  readonly #topicHash: number;
  #sent = 0;

  /** @param onDisk files in a temporary folder; else in memory. @param properties of messages for an indexer. */
  constructor(onDisk: boolean, bodySize: number, windowSizeBytes = 64 * 1024 * 1024, properties: string | null = null) {
    this.#folder = onDisk ? mkdtempSync(join(tmpdir(), 'ringmq-bench-')) : null;
    const { settings } = loadSettings({ sets: [`storePathRootDir=${this.#folder ?? '/store'}`, 'maxQueueCount=4096'] });
    this.settings = settings;
    this.files = onDisk ? new NodeFiles() : new MemoryFiles();
    this.files.makeFolder(settings.storePathCommitLog);
    this.#topology = layOut({
      ingressCount: 1,
      dispatchCount: 1,
      embeddedNamesrv: false,
      actorThreads: 'inline',
      coreCount: 1,
      appendRingSizeBytes: settings.appendRingSizeBytes,
      requestRingSizeBytes: settings.requestRingSizeBytes,
      tailWindowSizeBytes: windowSizeBytes,
      feedEntryCount: settings.feedEntryCount,
      queueCountMax: 4096,
    });
    this.memory = allocateMemory(this.#topology);
    this.assembly = new Assembly(
      this.#topology,
      this.memory,
      {
        settings,
        clock: systemClock,
        random: systemRandom,
        log: silentLog,
        files: this.files,
        transport: { listen: unused, connect: unused },
        wake: () => {},
      },
      classes,
    );
    this.feed = new FeedReader(this.memory.feed);
    this.#appends = new RingWriter(this.#ring('ingress-0', 'commit-log'));
    this.#acks = new RingReader(this.#ring('commit-log', 'ingress-0'));
    this.#keyed = properties !== null;
    this.#writing = new RecordWriting(present(this.memory.outputs[0], 'output'), bodySize, properties ?? propertiesText);
    this.recordSize = this.#writing.measure();
    this.#topicHash = topicKeyHash(this.#writing.fields.topic, 0, this.#writing.fields.topic.length);
    this.#log = this.build('commit-log');
    void this.#log.start();
  }

  /** An actor beside the commit log. */
  build(name: string): Actor {
    return this.assembly.build(name, this.#boot());
  }

  get appendedPosition(): number {
    return this.#sent * this.recordSize;
  }

  /** Records into the ring, in groups, each followed by one cycle of the commit log; queues take turns. */
  append(count: number, perCycle: number): void {
    for (let done = 0; done < count; ) {
      const group = Math.min(perCycle, count - done);
      for (let i = 0; i < group; i++) this.#put();
      this.#appends.publish();
      this.#log.doWork();
      this.ackCount += this.#acks.drain({ onRecord: (_type, at) => this.#acks.words[(at >> 2) + 1] === 0 }, ACKS_PER_DRAIN);
      done += group;
    }
  }

  close(): void {
    void this.#log.stop();
    if (this.#folder !== null) rmSync(this.#folder, { recursive: true, force: true });
  }

  #put(): void {
    const ring = this.#appends;
    const writing = this.#writing;
    const key = this.#sent % QUEUE_COUNT;
    writing.fields.queueId = key;
    if (this.#keyed) this.#countKey();
    const at = ring.claim(APPEND_HEAD_SIZE + RECORD_HEAD_SIZE + ((this.recordSize + 3) & ~3));
    if (at < 0) throw new Error('the append ring is full although it is drained');
    writing.write(at + APPEND_HEAD_SIZE + RECORD_HEAD_SIZE);
    const word = at >> 2;
    const { words } = ring;
    words[word] = this.#sent & 0x7fffffff;
    words[word + 1] = key;
    words[word + 2] = 1;
    words[word + 3] = this.recordSize;
    words[word + 4] = 77;
    words[word + 5] = 0;
    words[word + 6] = 0;
    words[word + 7] = 0;
    if (this.#keyed) this.#putKeys(word);
    ring.commit(Messages.append);
    this.#sent++;
  }

  #putKeys(word: number): void {
    const { scan, properties } = this.#writing;
    const { words } = this.#appends;
    const flags = keyFlags(scan.uniqueKeyAt >= 0, scan.keysAt >= 0, scan.hasTag, 0);
    words[word + 5] = flags;
    if ((flags & RecordFlags.uniqueKeyHashed) !== 0)
      words[word + 6] = indexKeyHash(this.#topicHash, properties, scan.uniqueKeyAt, scan.uniqueKeyEnd);
    if ((flags & RecordFlags.tagHashed) !== 0) words[word + 7] = tagKeyHash(this.#topicHash, properties, scan.tagsAt, scan.tagsEnd);
  }

  /** The next record's unique key ends in its number. */
  #countKey(): void {
    const { scan, properties } = this.#writing;
    if (scan.uniqueKeyAt < 0) return;
    for (let i = 1, n = this.#sent; i <= COUNTED_DIGITS; i++, n = Math.floor(n / 10)) properties[scan.uniqueKeyEnd - i] = 0x30 + (n % 10);
  }

  #ring(from: string, to: string): Region {
    const index = this.#topology.rings.findIndex((ring) => ring.from === from && ring.to === to);
    return present(this.memory.rings[index], `ring ${from} -> ${to}`);
  }

  #boot(): Boot {
    return {
      queues: [],
      nextKey: QUEUE_COUNT,
      dispatchFrom: 0,
      storeTimeMsMax: 0,
      abnormal: false,
      written: false,
      indexedTimeMs: 0,
      runId: 'bench',
      delayLists: [],
      startedAtMs: systemClock.wallMs(),
    };
  }
}
