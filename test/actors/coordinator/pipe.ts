// One direction of mail between a test and the actor under test.

import { Outbox } from '../../../src/actors/outbox.ts';
import { allocateRegion } from '../../../src/base/arena.ts';
import { Doorbell, doorbellMemorySize } from '../../../src/runtime/doorbell.ts';
import { RingReader, RingWriter, ringMemorySize } from '../../../src/runtime/ring.ts';

export interface Pipe {
  readonly outbox: Outbox;
  readonly reader: RingReader;
}

/** Tells when mail became visible to its reader. */
class LoudBell extends Doorbell {
  readonly #onRing: () => void;

  constructor(onRing: () => void) {
    super(new SharedArrayBuffer(doorbellMemorySize(1)), 0);
    this.#onRing = onRing;
  }

  override ring(): void {
    this.#onRing();
  }
}

export function pipe(capacity: number, onRing: () => void = () => {}): Pipe {
  const memory = allocateRegion(ringMemorySize(capacity));
  return { outbox: new Outbox(new RingWriter(memory), new LoudBell(onRing)), reader: new RingReader(memory) };
}
