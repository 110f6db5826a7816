// How much two figures had grown to when this day and the one before began, by local time.

export interface Totals {
  readonly puts: number;
  readonly gets: number;
}

export const noTotals: Totals = { puts: 0, gets: 0 };

export class DayTotals {
  #day: string;
  #yesterdayMorning = noTotals;
  #todayMorning = noTotals;

  constructor(wallMs: number) {
    this.#day = dayOf(wallMs);
  }

  /** What they are at the first look of a day counts for its beginning. A clock that goes back a little into yesterday starts no new day. */
  note(wallMs: number, totals: Totals): void {
    const day = dayOf(wallMs);
    if (day <= this.#day) return;
    this.#day = day;
    this.#yesterdayMorning = this.#todayMorning;
    this.#todayMorning = totals;
  }

  get yesterdayMorning(): Totals {
    return this.#yesterdayMorning;
  }

  get todayMorning(): Totals {
    return this.#todayMorning;
  }
}

/** Texts of days sort like the days. */
function dayOf(wallMs: number): string {
  const date = new Date(wallMs);
  const two = (number: number): string => String(number).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
