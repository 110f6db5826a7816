// All memory that threads share, allocated once from the topology; every thread builds its own views over it.
import { ARENA_SIZE_MAX, Arena, allocateRegions, type Region } from './base/arena.ts';
import { present } from './base/assert.ts';
import { ErrorCodes, RingmqError } from './base/errors.ts';
import { LIVE_MEMORY_SIZE } from './config/live.ts';
import { countersMemorySize } from './runtime/counters.ts';
import { doorbellMemorySize } from './runtime/doorbell.ts';
import { feedMemorySize } from './runtime/feed.ts';
import { ringMemorySize } from './runtime/ring.ts';
import { sharedNumbersMemorySize } from './runtime/shared-numbers.ts';
import { windowMemorySize } from './runtime/tail-window.ts';
import type { Topology } from './topology.ts';

/** What one read of a socket brings at most. */
const READ_BUFFER_SIZE = 256 * 1024;

export interface SharedMemory {
  /** In the order of topology.rings; they, the window, reads and outputs lie in one arena. */
  readonly rings: readonly Region[];
  readonly window: Region;
  /** One a thread: where its sockets read into. */
  readonly reads: readonly Region[];
  /** One an actor: where an ingress collects its answers; empty for others. */
  readonly outputs: readonly Region[];
  /** One an actor: where an ingress and the scheduler keep what they read from the log's files; empty for others. */
  readonly blocks: readonly Region[];
  /** One bell a thread. */
  readonly bells: SharedArrayBuffer;
  /** One count of control calls under way a thread. */
  readonly control: SharedArrayBuffer;
  readonly positions: SharedArrayBuffer;
  readonly queueEnds: SharedArrayBuffer;
  readonly queueBegins: SharedArrayBuffer;
  readonly queueReads: SharedArrayBuffer;
  readonly queueBytes: SharedArrayBuffer;
  /** Settings changed while running: see config/live.ts. */
  readonly live: SharedArrayBuffer;
  readonly feed: SharedArrayBuffer;
  readonly counters: SharedArrayBuffer;
}

/** Untouched pages cost nothing: the system gives them when they are first written. */
export function allocateMemory(topology: Topology): SharedMemory {
  const memory = (sizeBytes: number): SharedArrayBuffer => new SharedArrayBuffer(sizeBytes);
  return {
    ...allocateArena(topology),
    bells: memory(doorbellMemorySize(topology.threads.length)),
    control: memory(4 * topology.threads.length),
    positions: memory(sharedNumbersMemorySize(topology.positionCount)),
    queueEnds: memory(sharedNumbersMemorySize(topology.queueCountMax)),
    queueBegins: memory(sharedNumbersMemorySize(topology.queueCountMax)),
    queueReads: memory(sharedNumbersMemorySize(topology.queueCountMax)),
    queueBytes: memory(Float64Array.BYTES_PER_ELEMENT * topology.queueCountMax),
    live: memory(LIVE_MEMORY_SIZE),
    feed: memory(feedMemorySize(topology.feedEntryCount)),
    counters: memory(countersMemorySize(topology.actors.length)),
  };
}

/** Where the sockets of a thread read into; another array for each call. */
export function readBufferOf(memory: SharedMemory, threadIndex: number): Buffer {
  const region = present(memory.reads[threadIndex], 'read buffer');
  return Buffer.from(Arena.of(region.memory).buffer, region.at, region.size);
}

function blocksSizeOf(topology: Topology, kind: string): number {
  if (kind === 'ingress') return topology.blocksSizeBytes;
  return kind === 'scheduler' ? topology.schedulerBlocksSizeBytes : 0;
}

function allocateArena(topology: Topology): Pick<SharedMemory, 'rings' | 'window' | 'reads' | 'outputs' | 'blocks'> {
  const sizes = [
    topology.rings.map((ring) => ringMemorySize(ring.capacityBytes)),
    [windowMemorySize(topology.windowSizeBytes)],
    topology.threads.map((thread) => (thread.reactive ? READ_BUFFER_SIZE : 0)),
    topology.actors.map((actor) => (actor.kind === 'ingress' ? topology.outputSizeBytes : 0)),
    topology.actors.map(({ kind }) => blocksSizeOf(topology, kind)),
  ] as const;
  const total = sizes.flat().reduce((sum, size) => sum + size, 0);
  if (total > ARENA_SIZE_MAX - (1 << 20))
    throw new RingmqError(
      ErrorCodes.config,
      'the settings ask for more shared memory than can be addressed: make the tail window, the append ring or the number of ingress actors smaller',
      {
        bytes: total,
        allowed: ARENA_SIZE_MAX - (1 << 20),
      },
    );
  const regions = allocateRegions(sizes.flat());
  const [rings = [], [window] = [], reads = [], outputs = [], blocks = []] = sizes.map((part) => regions.splice(0, part.length));
  return { rings, window: present(window, 'window'), reads, outputs, blocks };
}
