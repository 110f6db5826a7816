// THE table: which actors there are, which threads host them, which rings connect them, and how large each ring is and why.
import { assert, present } from './base/assert.ts';
import { ErrorCodes, RingmqError } from './base/errors.ts';

export const ActorKinds = [
  'ingress',
  'commit-log',
  'dispatch',
  'indexer',
  'flusher',
  'cleaner',
  'scheduler',
  'coordinator',
  'name-server',
] as const;
export type ActorKind = (typeof ActorKinds)[number];

/** Actors of these kinds own sockets, so their thread runs an event loop; all others can be parked in `Atomics.wait`. */
export const reactiveKinds: ReadonlySet<ActorKind> = new Set(['ingress', 'name-server']);

/** Sockets open last: by then the log and its followers run, and the directory of topics and groups lies in the mail of ingress. */
export const startOrder: readonly ActorKind[] = [
  'flusher',
  'commit-log',
  'dispatch',
  'indexer',
  'cleaner',
  'scheduler',
  'name-server',
  'coordinator',
  'ingress',
];
/**
 * Writers first: when a stage stops, everything that could still reach it has stopped before. The scheduler sends nothing once the broker is
 * stopping, and writes down what was delivered when that is synced.
 */
export const stopOrder: readonly ActorKind[] = [
  'ingress',
  'cleaner',
  'commit-log',
  'dispatch',
  'indexer',
  'flusher',
  'scheduler',
  'coordinator',
  'name-server',
];

export interface ActorSpec {
  readonly name: string;
  readonly kind: ActorKind;
  readonly index: number;
  readonly thread: number;
}

export interface ThreadSpec {
  readonly name: string;
  /** Runs an event loop; else it parks in Atomics.wait. */
  readonly reactive: boolean;
  readonly actors: readonly string[];
}

export interface RingSpec {
  readonly from: string;
  readonly to: string;
  /** The system lane is drained before the data lane. */
  readonly lane: 'system' | 'data';
  readonly capacityBytes: number;
}

export interface Topology {
  readonly actors: readonly ActorSpec[];
  readonly threads: readonly ThreadSpec[];
  readonly rings: readonly RingSpec[];
  readonly positionCount: number;
  readonly queueCountMax: number;
  readonly windowSizeBytes: number;
  /** For the answers that an ingress has under way; what does not fit is allocated elsewhere. */
  readonly outputSizeBytes: number;
  /** For what an ingress reads from the log's files. */
  readonly blocksSizeBytes: number;
  readonly schedulerBlocksSizeBytes: number;
  readonly feedEntryCount: number;
}

export interface TopologyOptions {
  readonly ingressCount: number;
  readonly dispatchCount: number;
  readonly embeddedNamesrv: boolean;
  /** `auto`, `inline`, or `thread=kind,kind;thread=kind…`: every kind once. */
  readonly actorThreads: string;
  readonly coreCount: number;
  readonly appendRingSizeBytes: number;
  readonly requestRingSizeBytes: number;
  readonly tailWindowSizeBytes: number;
  readonly feedEntryCount: number;
  readonly queueCountMax: number;
}

/** Appends an ingress may have in hand: its pending table; one ack of 24 + 8 bytes each must fit into the ack ring. */
export const PENDING_SEND_COUNT_MAX = 32 * 1024;
/** Pulls an ingress may have asked for and not answered; held ones count while they are held. */
export const PENDING_PULL_COUNT_MAX = 128 * 1024;

/** Due messages that the scheduler may have on their way to the log. */
export const SCHEDULER_APPEND_COUNT_MAX = 2 * 1024;

const KIB = 1024;
const MIB = 1024 * KIB;

/** As many chunks of answers as a pool keeps. */
const OUTPUT_SIZE = 8 * MIB;
/**
 * Sixty-four blocks of an ingress: readers that catch up go through the log side by side, and each block serves all that are near. A pull of 32
 * messages of one queue among four hundred spans as many blocks. The scheduler goes through the log once.
 */
const BLOCKS_SIZE = 16 * MIB;
const SCHEDULER_BLOCKS_SIZE = 4 * MIB;

interface Edge {
  readonly from: ActorKind;
  readonly to: ActorKind;
  readonly lane: 'system' | 'data';
  readonly capacityBytes: (o: TopologyOptions) => number;
}

const edges: readonly Edge[] = [
  // One record of maxMessageSize + 64 KiB must fit into half the ring. Full: the socket is paused; drained without conditions
  // as long as the ack ring has room, see the next row.
  { from: 'ingress', to: 'commit-log', lane: 'data', capacityBytes: (o) => o.appendRingSizeBytes },
  // PENDING_SEND_COUNT_MAX acks of 32 bytes, so the commit log never waits for an ingress. Drained without conditions.
  { from: 'commit-log', to: 'ingress', lane: 'data', capacityBytes: () => PENDING_SEND_COUNT_MAX * 32 },
  // A pull is 40 bytes plus 4 a tag. Full: the socket is paused. Dispatch leaves a pull in here while its answer ring is full.
  { from: 'ingress', to: 'dispatch', lane: 'data', capacityBytes: () => 1 * MIB },
  // An answer is 48 bytes plus 12 a message, at most 32 messages. Drained without conditions.
  { from: 'dispatch', to: 'ingress', lane: 'data', capacityBytes: () => 2 * MIB },
  { from: 'ingress', to: 'indexer', lane: 'data', capacityBytes: () => 64 * KIB },
  { from: 'indexer', to: 'ingress', lane: 'data', capacityBytes: () => 256 * KIB },
  // Frames in parts of 64 KiB. Full: the socket is paused. The coordinator takes no new ones while an answer waits for room.
  { from: 'ingress', to: 'coordinator', lane: 'system', capacityBytes: (o) => o.requestRingSizeBytes },
  // Drained without conditions, so the coordinator's waiting answers always move on.
  { from: 'coordinator', to: 'ingress', lane: 'system', capacityBytes: (o) => o.requestRingSizeBytes },
  // Queues made and removed. Drained without conditions.
  { from: 'coordinator', to: 'dispatch', lane: 'system', capacityBytes: () => 1 * MIB },
  // One record must fit into half the ring, as from an ingress. Full: due messages wait in their queues. What the commit log does with it
  // depends on the row after it only, and nobody waits for the scheduler: no circle.
  { from: 'scheduler', to: 'commit-log', lane: 'data', capacityBytes: (o) => o.appendRingSizeBytes },
  // SCHEDULER_APPEND_COUNT_MAX acks of 32 bytes, fourfold: those of a predecessor may still come. Drained without conditions.
  { from: 'commit-log', to: 'scheduler', lane: 'data', capacityBytes: () => 4 * SCHEDULER_APPEND_COUNT_MAX * 32 },
  // One pull of 40 bytes a line is open; lines are at most 100 levels times a few lists. Full: asked in a later cycle.
  { from: 'scheduler', to: 'dispatch', lane: 'data', capacityBytes: () => 64 * KIB },
  // An answer is 48 bytes plus 12 a message, at most 32 messages. Drained without conditions.
  { from: 'dispatch', to: 'scheduler', lane: 'data', capacityBytes: () => 256 * KIB },
  // A word after a restart; topics. Both are drained without conditions.
  { from: 'scheduler', to: 'coordinator', lane: 'system', capacityBytes: () => 4 * KIB },
  { from: 'coordinator', to: 'scheduler', lane: 'system', capacityBytes: () => 1 * MIB },
  // One question of 12 bytes is open at a time. Both are drained without conditions.
  { from: 'cleaner', to: 'dispatch', lane: 'system', capacityBytes: () => 4 * KIB },
  // Its answer, and some 50 bytes for each queue that begins: those that find no room are left out.
  { from: 'dispatch', to: 'cleaner', lane: 'system', capacityBytes: () => 256 * KIB },
];

/** Which kinds share a thread where nobody says otherwise. */
export function autoThreads(coreCount: number): string {
  // A hop between threads costs 10-34 us, a second busy thread needs a core of its own: on small machines the hot path is one thread.
  if (coreCount <= 3) return 'io=ingress,commit-log,dispatch;meta=coordinator,indexer,cleaner,scheduler,name-server;disk=flusher';
  if (coreCount <= 7)
    return 'io=ingress;log=commit-log;queues=dispatch;meta=coordinator,indexer,cleaner,scheduler,name-server;disk=flusher';
  // Measuring the disks must not wait for deleting: the cleaner never shares a thread with the flusher.
  return 'io=ingress;log=commit-log;queues=dispatch;meta=coordinator,scheduler;index=indexer,cleaner;names=name-server;disk=flusher';
}

export function layOut(options: TopologyOptions): Topology {
  const counts: Record<ActorKind, number> = {
    ingress: options.ingressCount,
    'commit-log': 1,
    dispatch: options.dispatchCount,
    indexer: 1,
    flusher: 1,
    cleaner: 1,
    scheduler: 1,
    coordinator: 1,
    'name-server': options.embeddedNamesrv ? 1 : 0,
  };
  const plan = threadPlan(options);
  const actors: ActorSpec[] = [];
  const threads: { name: string; reactive: boolean; actors: string[] }[] = [];
  for (const [threadName, kinds] of plan) {
    // A thread that hosts a kind of which there are several is itself there several times; single kinds live in the first.
    const copies = Math.max(1, ...kinds.map((kind) => counts[kind]));
    for (let copy = 0; copy < copies; copy++) {
      const here = kinds.filter((kind) => copy < counts[kind]);
      if (here.length === 0) continue;
      const names = here.map((kind) => actorName(kind, copy));
      here.forEach((kind, i) => {
        actors.push({ name: names[i] as string, kind, index: copy, thread: threads.length });
      });
      threads.push({
        name: copies > 1 ? `${threadName}-${copy}` : threadName,
        reactive: here.some((kind) => reactiveKinds.has(kind)),
        actors: names,
      });
    }
  }
  const rings = edges
    .flatMap((edge) => ringsOf(edge, actors, options))
    .sort((a, b) => Number(a.lane === 'data') - Number(b.lane === 'data'));
  return {
    actors,
    threads,
    rings,
    // Four for each dispatcher: see Positions.
    positionCount: 16 + 4 * options.dispatchCount,
    queueCountMax: options.queueCountMax,
    windowSizeBytes: options.tailWindowSizeBytes,
    outputSizeBytes: OUTPUT_SIZE,
    blocksSizeBytes: BLOCKS_SIZE,
    schedulerBlocksSizeBytes: SCHEDULER_BLOCKS_SIZE,
    feedEntryCount: options.feedEntryCount,
  };
}

function ringsOf(edge: Edge, actors: readonly ActorSpec[], options: TopologyOptions): RingSpec[] {
  const senders = actors.filter((actor) => actor.kind === edge.from);
  const receivers = actors.filter((actor) => actor.kind === edge.to);
  return senders.flatMap((from) =>
    receivers.map((to) => ({ from: from.name, to: to.name, lane: edge.lane, capacityBytes: edge.capacityBytes(options) })),
  );
}

export function actorName(kind: ActorKind, index: number): string {
  return kind === 'ingress' || kind === 'dispatch' ? `${kind}-${index}` : kind;
}

const lateKinds: readonly (readonly [ActorKind, ActorKind])[] = [
  ['cleaner', 'indexer'],
  ['scheduler', 'coordinator'],
];

function threadPlan(options: TopologyOptions): [string, ActorKind[]][] {
  const text = options.actorThreads === 'auto' ? autoThreads(options.coreCount) : options.actorThreads;
  if (text === 'inline') return [['inline', [...ActorKinds]]];
  const seen = new Set<ActorKind>();
  const plan = text.split(';').map((part): [string, ActorKind[]] => {
    const [name, list] = part.split('=');
    if (!name || !list) throw badThreads(text, `"${part}" is not thread=kind,kind`);
    const kinds = list.split(',').map((kind) => {
      const known = ActorKinds.find((k) => k === kind.trim());
      if (known === undefined) throw badThreads(text, `"${kind}" is no actor kind`);
      if (seen.has(known)) throw badThreads(text, `"${kind}" stands twice`);
      seen.add(known);
      return known;
    });
    return [name.trim(), kinds];
  });
  // They came later than the setting: who says nothing of them need not care where they are.
  for (const [kind, neighbour] of lateKinds) {
    if (seen.has(kind)) continue;
    plan.find(([, kinds]) => kinds.includes(neighbour))?.[1].push(kind);
    seen.add(kind);
  }
  const missing = ActorKinds.filter((kind) => !seen.has(kind));
  if (missing.length > 0) throw badThreads(text, `${missing.join(', ')} missing`);
  return plan;
}

function badThreads(text: string, why: string): RingmqError {
  return new RingmqError(ErrorCodes.config, `setting actorThreads: ${why}; every kind of ${ActorKinds.join(', ')} must stand once`, {
    actorThreads: text,
  });
}

export function specOf(topology: Topology, name: string): ActorSpec {
  return present(
    topology.actors.find((actor) => actor.name === name),
    `actor ${name}`,
  );
}

/** The no-deadlock proof in short: no drain that is "without conditions" may be missing from the table. */
export function assertTopology(topology: Topology): void {
  for (const ring of topology.rings) {
    assert((ring.capacityBytes & (ring.capacityBytes - 1)) === 0, `ring ${ring.from} -> ${ring.to} is a power of two`);
  }
}
