// One figure that only grows, with samples that show how much it grew in the last minute, hour and day.

/** How much a figure has grown within a time: in all, each second, and at each event. */
export interface StatWindow {
  readonly sum: number;
  readonly tps: number;
  readonly avgpt: number;
}

interface WindowRule {
  /** ms between two samples. */
  readonly periodMs: number;
  /** The first and the last of them span the window. */
  readonly sampleCount: number;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** How often figures are sampled. */
export const STAT_SAMPLE_MS = 10 * SECOND_MS;

const rules = {
  minute: { periodMs: STAT_SAMPLE_MS, sampleCount: 7 },
  hour: { periodMs: 10 * MINUTE_MS, sampleCount: 7 },
  day: { periodMs: HOUR_MS, sampleCount: 25 },
} as const satisfies Record<string, WindowRule>;

interface Sample {
  readonly atMs: number;
  readonly value: number;
  readonly events: number;
}

const noGrowth: StatWindow = { sum: 0, tps: 0, avgpt: 0 };

class Samples {
  readonly #rule: WindowRule;
  readonly #samples: Sample[] = [];

  constructor(rule: WindowRule) {
    this.#rule = rule;
  }

  /** Takes one where a period has passed. The first stands before one of nothing: what there is came within that period. */
  note(sample: Sample): void {
    const { periodMs, sampleCount } = this.#rule;
    const last = this.#samples.at(-1);
    if (last === undefined) this.#samples.push({ atMs: sample.atMs - STAT_SAMPLE_MS, value: 0, events: 0 });
    else if (sample.atMs - last.atMs < periodMs) return;
    this.#samples.push(sample);
    if (this.#samples.length > sampleCount) this.#samples.shift();
  }

  /** From the oldest sample to the newest one of all. */
  growth(newest: Sample | null): StatWindow {
    const oldest = this.#samples[0];
    if (oldest === undefined || newest === null || newest.atMs <= oldest.atMs) return noGrowth;
    const sum = newest.value - oldest.value;
    const events = newest.events - oldest.events;
    return { sum, tps: (sum * SECOND_MS) / (newest.atMs - oldest.atMs), avgpt: events > 0 ? sum / events : 0 };
  }
}

export class StatItem {
  #value = 0;
  #events = 0;
  #newest: Sample | null = null;
  readonly #minute = new Samples(rules.minute);
  readonly #hour = new Samples(rules.hour);
  readonly #day = new Samples(rules.day);

  get value(): number {
    return this.#value;
  }

  add(value: number, events: number): void {
    this.#value += value;
    this.#events += events;
  }

  /** To be called every `STAT_SAMPLE_MS`. @param nowMs of a clock that never goes back. */
  sample(nowMs: number): void {
    const sample = { atMs: nowMs, value: this.#value, events: this.#events };
    this.#newest = sample;
    this.#minute.note(sample);
    this.#hour.note(sample);
    this.#day.note(sample);
  }

  get minute(): StatWindow {
    return this.#minute.growth(this.#newest);
  }

  get hour(): StatWindow {
    return this.#hour.growth(this.#newest);
  }

  get day(): StatWindow {
    return this.#day.growth(this.#newest);
  }

  /** Nothing came within a day. */
  get isIdle(): boolean {
    return this.#newest !== null && this.day.sum === 0;
  }
}
