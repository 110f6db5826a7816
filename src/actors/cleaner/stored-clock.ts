// The clock by which files age, kept across starts: a restart in a wrong future must not make it true.
import { errorText } from '../../base/errors.ts';
import { AgeClock } from '../../core/age-clock.ts';
import { patienceMs } from '../../core/retention.ts';
import { FileTextStore } from '../../store/file-text-store.ts';
import { storeFolders } from '../../store/store-folders.ts';
import type { ActorContext } from '../context.ts';

const SAVE_MS = 600_000;
/** A clock that is so far behind is worth a line. */
const LAG_TOLD_MS = 3_600_000;

export class StoredClock {
  readonly #context: ActorContext;
  readonly #store: FileTextStore;
  #clock: AgeClock;
  #nextSaveMs = 0;
  #savedMs = 0;

  constructor(context: ActorContext) {
    const { files, settings, clock } = context;
    this.#context = context;
    this.#store = new FileTextStore(files, `${storeFolders(settings.storePathRootDir).config}/ageClock.json`);
    this.#clock = new AgeClock(clock.wallMs(), clock.steadyMs(), 0);
  }

  get valueMs(): number {
    return this.#clock.valueMs;
  }

  /** Goes on where the last process stopped; else where the store was last written, if not in the future. @param mtimesMs of the log's files. */
  start(mtimesMs: readonly number[]): void {
    const { clock, settings, log } = this.#context;
    const wallMs = clock.wallMs();
    const newestMs = Math.max(...mtimesMs.filter((mtimeMs) => mtimeMs <= wallMs), Number.NEGATIVE_INFINITY);
    const startMs = this.#load() ?? (newestMs === Number.NEGATIVE_INFINITY ? wallMs : newestMs);
    this.#savedMs = startMs;
    this.#nextSaveMs = clock.steadyMs() + SAVE_MS;
    this.#clock = new AgeClock(startMs, clock.steadyMs(), patienceMs(settings));
    this.#clock.advance(wallMs, clock.steadyMs());
    const lagMs = this.#clock.lagMs(wallMs);
    if (lagMs >= LAG_TOLD_MS)
      log.info(
        'the store was last in use some time ago, or the clock was set: its files age at twice the speed until that is made up for',
        {
          hours: Math.round(lagMs / LAG_TOLD_MS),
        },
      );
  }

  advance(): void {
    const { clock } = this.#context;
    const nowMs = clock.steadyMs();
    this.#clock.advance(clock.wallMs(), nowMs);
    if (nowMs < this.#nextSaveMs) return;
    this.#nextSaveMs = nowMs + SAVE_MS;
    this.save();
  }

  save(): void {
    const valueMs = Math.floor(this.#clock.valueMs);
    if (valueMs === this.#savedMs) return;
    try {
      this.#store.save(`{"ageClockMs":${valueMs}}\n`);
      this.#savedMs = valueMs;
    } catch (error) {
      this.#context.log.debug('the age clock could not be saved', { error: errorText(error) });
    }
  }

  /** null where there is none, or none that can be read. */
  #load(): number | null {
    try {
      const text = this.#store.load();
      const value: unknown = text === null ? null : (JSON.parse(text) as { ageClockMs?: unknown }).ageClockMs;
      return typeof value === 'number' && Number.isSafeInteger(value) ? value : null;
    } catch {
      return null;
    }
  }
}
