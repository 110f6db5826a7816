// Which connections of one ingress have been told of which reset: decides what becomes of a pull while its queue has one.

/** What an ingress must know of a reset. */
export interface ToldReset {
  readonly epoch: number;
  readonly offset: number;
  readonly kind: 'pull' | 'client';
  readonly state: 'open' | 'told' | 'known';
  readonly offline: boolean;
}

/**
 * tell: the pull is answered with the new offset. know: it is served, and shows that its connection knows. serve: it is served, and shows
 * nothing new.
 */
export type PullFate = 'tell' | 'know' | 'serve';

interface Telling {
  readonly told: Set<number>;
  readonly knowing: Set<number>;
}

export class ResetTellings {
  readonly #byEpoch = new Map<number, Telling>();

  get size(): number {
    return this.#byEpoch.size;
  }

  /** Judges a pull, and counts on it that it is treated so. */
  judge(reset: ToldReset, connectionId: number, offset: number): PullFate {
    const telling = this.#tellingOf(reset.epoch);
    if (telling.knowing.has(connectionId)) return 'serve';
    if (telling.told.delete(connectionId) || knows(reset, offset)) {
      telling.knowing.add(connectionId);
      return 'know';
    }
    if (reset.kind === 'client') return 'serve';
    telling.told.add(connectionId);
    // Somebody went on from the new offset and may have committed since: who begins now starts from there. But this pull may be a late one
    // of a member that has lost the queue; only whoever pulls again has seen an answer from after the reset.
    return reset.state === 'known' ? 'serve' : 'tell';
  }

  /** A pull that was under way before the reset is answered with its offset. */
  tell(epoch: number, connectionId: number): void {
    const { told, knowing } = this.#tellingOf(epoch);
    if (!knowing.has(connectionId)) told.add(connectionId);
  }

  /** Keeps only those that there still are. */
  keep(isThere: (epoch: number) => boolean): void {
    for (const epoch of this.#byEpoch.keys()) if (!isThere(epoch)) this.#byEpoch.delete(epoch);
  }

  forget(connectionId: number): void {
    for (const { told, knowing } of this.#byEpoch.values()) {
      told.delete(connectionId);
      knowing.delete(connectionId);
    }
  }

  #tellingOf(epoch: number): Telling {
    let telling = this.#byEpoch.get(epoch);
    if (telling === undefined) {
      telling = { told: new Set(), knowing: new Set() };
      this.#byEpoch.set(epoch, telling);
    }
    return telling;
  }
}

/** A connection that nobody told anything. */
function knows(reset: ToldReset, offset: number): boolean {
  if (offset !== reset.offset) return false;
  // A member that stood there by chance still has in hand what lies before: it has to be told as well.
  return reset.kind === 'client' || reset.offline || reset.state === 'told';
}
