// All memory that threads share, allocated once from the topology; every thread builds its own views over it.
import { countersMemorySize } from './runtime/counters.ts';
import { doorbellMemorySize } from './runtime/doorbell.ts';
import { feedMemorySize } from './runtime/feed.ts';
import { ringMemorySize } from './runtime/ring.ts';
import { sharedNumbersMemorySize } from './runtime/shared-numbers.ts';
import { windowMemorySize } from './runtime/tail-window.ts';
import type { Topology } from './topology.ts';

export interface SharedMemory {
  /** In the order of topology.rings. */
  readonly rings: readonly SharedArrayBuffer[];
  /** One bell a thread. */
  readonly bells: SharedArrayBuffer;
  /** One count of control calls under way a thread. */
  readonly control: SharedArrayBuffer;
  readonly positions: SharedArrayBuffer;
  readonly queueEnds: SharedArrayBuffer;
  readonly queueBegins: SharedArrayBuffer;
  readonly feed: SharedArrayBuffer;
  readonly window: SharedArrayBuffer;
  readonly counters: SharedArrayBuffer;
}

/** Untouched pages cost nothing: the system gives them when they are first written. */
export function allocateMemory(topology: Topology): SharedMemory {
  const memory = (sizeBytes: number): SharedArrayBuffer => new SharedArrayBuffer(sizeBytes);
  return {
    rings: topology.rings.map((ring) => memory(ringMemorySize(ring.capacityBytes))),
    bells: memory(doorbellMemorySize(topology.threads.length)),
    control: memory(4 * topology.threads.length),
    positions: memory(sharedNumbersMemorySize(topology.positionCount)),
    queueEnds: memory(sharedNumbersMemorySize(topology.queueCountMax)),
    queueBegins: memory(sharedNumbersMemorySize(topology.queueCountMax)),
    feed: memory(feedMemorySize(topology.feedEntryCount)),
    window: memory(windowMemorySize(topology.windowSizeBytes)),
    counters: memory(countersMemorySize(topology.actors.length)),
  };
}
