// One pull against one queue: which messages it gets, and where the next pull begins.
import { readI32, readI64 } from '../../base/bytes.ts';
import type { Settings } from '../../config/settings.ts';
import type { SharedNumbers } from '../../runtime/shared-numbers.ts';
import { type ConsumeQueue, UNIT_SIZE } from '../../store/consume-queue.ts';
import { isFiller } from '../../store/queue-unit.ts';
import { Positions } from '../context.ts';
import { type PullStatus, PullStatuses } from '../messages.ts';

/** Units fetched at a time: a whole answer where everything matches. */
const UNITS_PER_READ = 32;

/** The results of the last run lie in its fields until the next. */
export class PullScan {
  readonly positions: Float64Array;
  readonly sizes: Int32Array;
  spanCount = 0;
  nextOffset = 0;
  minOffset = 0;
  maxOffset = 0;
  readonly #units = new Uint8Array(UNITS_PER_READ * UNIT_SIZE);
  readonly #shared: SharedNumbers;
  readonly #countMax: number;
  readonly #sizeMax: number;
  readonly #examinedMax: number;
  #bytes = 0;

  constructor(settings: Settings, shared: SharedNumbers) {
    this.#shared = shared;
    this.#countMax = settings.maxTransferCountOnMessageInMemory;
    this.#sizeMax = settings.maxTransferBytesOnMessageInMemory;
    this.#examinedMax = Math.floor(settings.maxFilterMessageSize / UNIT_SIZE);
    this.positions = new Float64Array(this.#countMax);
    this.sizes = new Int32Array(this.#countMax);
  }

  unknown(): PullStatus {
    this.spanCount = this.nextOffset = this.minOffset = this.maxOffset = 0;
    return PullStatuses.unknownQueue;
  }

  run(queue: ConsumeQueue, offset: number, maxCount: number, codes: readonly number[] | null): PullStatus {
    this.spanCount = 0;
    this.#bytes = 0;
    const logMin = this.#shared.get(Positions.logMin);
    queue.raiseMin(logMin);
    this.minOffset = queue.offsetMin;
    this.maxOffset = queue.offsetMax;
    if (this.maxOffset === 0) {
      this.nextOffset = 0;
      return PullStatuses.empty;
    }
    if (offset < this.minOffset) {
      this.nextOffset = this.minOffset;
      return PullStatuses.belowStart;
    }
    if (offset >= this.maxOffset) {
      this.nextOffset = this.maxOffset;
      return offset === this.maxOffset ? PullStatuses.atEnd : PullStatuses.beyondEnd;
    }
    this.nextOffset = offset;
    this.#scanFrom(queue, offset, logMin, Math.min(Math.max(1, maxCount), this.#countMax), codes);
    return this.spanCount > 0 ? PullStatuses.found : PullStatuses.noMatch;
  }

  #scanFrom(queue: ConsumeQueue, offset: number, logMin: number, wanted: number, codes: readonly number[] | null): void {
    const end = Math.min(this.maxOffset, offset + Math.max(this.#examinedMax, wanted));
    while (this.nextOffset < end) {
      const asked = Math.min(UNITS_PER_READ, end - this.nextOffset, codes === null ? wanted - this.spanCount : UNITS_PER_READ);
      const count = queue.readUnits(this.nextOffset, asked, this.#units, 0);
      if (count <= 0) return;
      for (let i = 0; i < count; i++) {
        if (!this.#take(i * UNIT_SIZE, logMin, codes)) return;
        this.nextOffset++;
        if (this.spanCount === wanted) return;
      }
    }
  }

  /** False when the answer is full before this unit. */
  #take(at: number, logMin: number, codes: readonly number[] | null): boolean {
    const units = this.#units;
    const position = readI64(units, at);
    const size = readI32(units, at + 8);
    if (position < logMin || isFiller(units, at)) return true; // deleted by retention, or never there
    // An address into Apache's extension files hides the code: the client filters by the tag itself.
    if (codes !== null && !codes.includes(readI32(units, at + 16)) && readI32(units, at + 12) >= -1) return true;
    if (this.spanCount > 0 && this.#bytes + size > this.#sizeMax) return false;
    this.positions[this.spanCount] = position;
    this.sizes[this.spanCount] = size;
    this.spanCount++;
    this.#bytes += size;
    return true;
  }
}
