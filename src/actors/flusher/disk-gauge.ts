// Watches how full the disks are and says whether writes are refused. It has nothing to do with deleting, so it never waits for it.
import { type DiskState, judgeRetention, packDiskState, refusalText } from '../../core/retention.ts';
import type { ActorContext } from '../context.ts';
import { Positions } from '../context.ts';
import { measureDisks } from '../disk-use.ts';

const MEASURE_MS = 1_000;

export class DiskGauge {
  /** Steady time of the next look. */
  nextMs: number;
  readonly #context: ActorContext;
  readonly #ingresses: readonly string[];
  #refuses = 0;
  #warned = false;

  constructor(context: ActorContext) {
    this.#context = context;
    this.#ingresses = context.namesOf('ingress');
    this.nextMs = context.clock.steadyMs();
  }

  /** True where it was time for a look. */
  measure(nowMs: number): boolean {
    if (nowMs < this.nextMs) return false;
    this.nextMs = nowMs + MEASURE_MS;
    const { settings, positions } = this.#context;
    const use = measureDisks(this.#context);
    // No hour matters here: only what is refused is asked for.
    const { refuses } = judgeRetention(settings, use, -1);
    const state = { ...use, refuses };
    positions.set(Positions.diskState, packDiskState(state));
    this.#tell(state);
    return true;
  }

  #tell(state: DiskState): void {
    const { log, settings, files } = this.#context;
    if ((state.logPercent === null || state.queuePercent === null) && files.usage !== undefined && !this.#warned) {
      this.#warned = true;
      log.warn('how full a disk is cannot be found out: it neither refuses writes nor deletes anything', {
        log: state.logPercent ?? 'unknown',
        queues: state.queuePercent ?? 'unknown',
      });
    }
    if (state.refuses === this.#refuses) return;
    if (state.refuses !== 0) log.error(refusalText(state, settings), { log: state.logPercent, queues: state.queuePercent });
    else log.warn('there is room again: writes are taken', { log: state.logPercent, queues: state.queuePercent });
    this.#refuses = state.refuses;
    this.#context.ringBells(this.#ingresses);
  }
}
