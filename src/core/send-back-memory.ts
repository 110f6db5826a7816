// Which tries of which messages were sent back already: two clients with one id, or a sweep and a slow handler, send the same one twice.

/** The oldest are forgotten beyond it: their messages may then come twice, as they may with any broker. */
const SEND_BACK_COUNT_MAX = 65_536;

export class SendBackMemory {
  /** Key -> steady time up to which the stored copy still waits; Infinity while the log has not answered. */
  readonly #untilMs = new Map<string, number>();
  readonly #countMax: number;

  constructor(countMax = SEND_BACK_COUNT_MAX) {
    this.#countMax = countMax;
  }

  get size(): number {
    return this.#untilMs.size;
  }

  /** `stored`: a copy is sure to come, another would come besides. `underWay`: whether there will be one is not known yet. */
  look(group: string, position: number, steadyMs: number): 'new' | 'underWay' | 'stored' {
    const key = keyOf(group, position);
    const untilMs = this.#untilMs.get(key);
    if (untilMs === undefined) return 'new';
    if (untilMs === Number.POSITIVE_INFINITY) return 'underWay';
    if (steadyMs < untilMs) return 'stored';
    // Its copy was given out: whatever fails now is another try, or the message was read again after a reset.
    this.#untilMs.delete(key);
    return 'new';
  }

  begin(group: string, position: number): void {
    this.#untilMs.set(keyOf(group, position), Number.POSITIVE_INFINITY);
  }

  /** @param untilMs not later than the copy can be given out; anything in the past where none was stored. */
  end(group: string, position: number, untilMs: number, steadyMs: number): void {
    const key = keyOf(group, position);
    this.#untilMs.delete(key);
    if (untilMs <= steadyMs) return;
    this.#untilMs.set(key, untilMs);
    for (const [oldest, until] of this.#untilMs) {
      if (until === Number.POSITIVE_INFINITY) continue;
      if (this.#untilMs.size <= this.#countMax && until > steadyMs) break;
      this.#untilMs.delete(oldest);
    }
  }
}

function keyOf(group: string, position: number): string {
  return `${position} ${group}`;
}
