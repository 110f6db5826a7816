// Rates of three times, and totals of days.
import test from 'ava';
import { DayTotals } from '../../src/core/day-totals.ts';
import { RateWindow } from '../../src/core/rate-window.ts';

test('rate window: of 10 s, a minute and 10 minutes, as far back as there are samples', (t) => {
  const window = new RateWindow<'puts'>();
  t.deepEqual(window.rates('puts'), [0, 0, 0]);
  let puts = 0;
  window.note(0, { puts });
  t.deepEqual(window.rates('puts'), [0, 0, 0]);
  for (let i = 1; i <= 3; i++) {
    puts += 100;
    window.note(i * 10_000, { puts });
  }
  t.deepEqual(window.rates('puts'), [10, 10, 10]);
  for (let i = 4; i <= 6; i++) window.note(i * 10_000, { puts });
  t.deepEqual(window.rates('puts'), [0, 5, 5]);
  for (let i = 7; i <= 200; i++) {
    puts += 20;
    window.note(i * 10_000, { puts });
  }
  t.deepEqual(window.rates('puts'), [2, 2, 2]);
});

test('day totals: mornings move on with the days, by local time, and not with a clock that goes back', (t) => {
  const noon = (day: number): number => new Date(2026, 0, day, 12).getTime();
  const days = new DayTotals(noon(1));
  days.note(noon(1) + 60_000, { puts: 5, gets: 2 });
  t.deepEqual(days.todayMorning, { puts: 0, gets: 0 });
  days.note(new Date(2026, 0, 2, 0, 0, 1).getTime(), { puts: 9, gets: 3 });
  t.deepEqual(days.todayMorning, { puts: 9, gets: 3 });
  t.deepEqual(days.yesterdayMorning, { puts: 0, gets: 0 });
  days.note(noon(1), { puts: 10, gets: 3 });
  days.note(noon(2), { puts: 11, gets: 3 });
  t.deepEqual(days.todayMorning, { puts: 9, gets: 3 });
  days.note(noon(3), { puts: 20, gets: 8 });
  t.deepEqual(days.yesterdayMorning, { puts: 9, gets: 3 });
  t.deepEqual(days.todayMorning, { puts: 20, gets: 8 });
});
