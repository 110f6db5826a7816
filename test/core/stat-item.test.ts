// Windows of a figure: a minute, an hour and a day, by samples of a clock that the test moves.
import test from 'ava';
import { STAT_SAMPLE_MS, StatItem } from '../../src/core/stat-item.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

class Sampled {
  readonly item = new StatItem();
  #nowMs = 1_000_000;

  /** So much at each sample, for so long. */
  run(forMs: number, value: number, events = 1): void {
    for (let passedMs = 0; passedMs < forMs; passedMs += STAT_SAMPLE_MS) {
      if (value > 0) this.item.add(value, events);
      this.#nowMs += STAT_SAMPLE_MS;
      this.item.sample(this.#nowMs);
    }
  }
}

test('stat item: nothing is known before the first sample', (t) => {
  const item = new StatItem();
  item.add(5, 1);
  t.deepEqual(item.minute, { sum: 0, tps: 0, avgpt: 0 });
  t.false(item.isIdle);
});

test('stat item: what came before the first sample came within its ten seconds', (t) => {
  const item = new StatItem();
  item.add(20, 4);
  item.sample(50_000);
  t.deepEqual(item.minute, { sum: 20, tps: 2, avgpt: 5 });
  t.deepEqual(item.hour, item.minute);
  t.deepEqual(item.day, item.minute);
});

test('stat item: a minute spans six samples, and what is older leaves it', (t) => {
  const sampled = new Sampled();
  sampled.run(10 * MINUTE_MS, 30);
  t.deepEqual(sampled.item.minute, { sum: 180, tps: 3, avgpt: 30 });
  sampled.run(30_000, 0);
  t.deepEqual(sampled.item.minute, { sum: 90, tps: 1.5, avgpt: 30 });
  sampled.run(30_000, 0);
  t.deepEqual(sampled.item.minute, { sum: 0, tps: 0, avgpt: 0 });
});

test('stat item: an hour and a day reach back to their oldest sample and up to now', (t) => {
  const sampled = new Sampled();
  sampled.run(30 * HOUR_MS, 10, 2);
  const perHour = (HOUR_MS / STAT_SAMPLE_MS) * 10;
  const { hour, day } = sampled.item;
  // The oldest sample may lie up to one period before an hour or a day ago.
  t.true(hour.sum >= perHour && hour.sum <= perHour * (70 / 60));
  t.true(day.sum >= 24 * perHour && day.sum <= 25 * perHour);
  t.is(Math.round(hour.tps * 1000), 1000);
  t.is(hour.avgpt, 5);
  t.false(sampled.item.isIdle);
  sampled.run(26 * HOUR_MS, 0);
  t.true(sampled.item.isIdle);
  t.is(sampled.item.day.sum, 0);
});
