// Brokers that are killed under load, again and again over the same store: what was acknowledged is there, once, in order, without gaps.
//
// CRASH_ROUNDS sets how many kills there are in all (200), CRASH_SEED what they choose.
import test from 'ava';
import { Lane } from './lane.ts';

const ROUNDS = Number(process.env['CRASH_ROUNDS'] ?? 200);
const SEED = Number(process.env['CRASH_SEED'] ?? 1);
const ROUND_LIMIT_MS = 20_000;

/** Side by side, as each waits half of its time for processes. One thread starts soonest; the other layouts are what people run. */
const lanes = [
  { name: 'a', share: 0.45, sets: { flushDiskType: 'ASYNC_FLUSH', actorThreads: 'inline', messageIndexEnable: 'false' } },
  { name: 's', share: 0.45, sets: { flushDiskType: 'SYNC_FLUSH', actorThreads: 'inline' } },
  { name: 't', share: 0.1, sets: { flushDiskType: 'ASYNC_FLUSH' } },
] as const;

test(`crash: ${ROUNDS} brokers killed under load lose, double and move nothing that they acknowledged`, async (t) => {
  t.timeout(ROUNDS * ROUND_LIMIT_MS);
  const ends = await Promise.all(
    lanes.map(async ({ name, share, sets }, i) => {
      const lane = new Lane(t, name, SEED * 1_000 + i, sets);
      const rounds = Math.max(1, Math.ceil(ROUNDS * share));
      for (let round = 0; round < rounds; round++) {
        await lane.round(round);
        if (lane.ledger.faults.length > 0) break;
      }
      if (lane.ledger.faults.length === 0) await lane.finish();
      t.deepEqual(lane.ledger.faults, [], `lane ${name} seed=${SEED} store=${lane.store}`);
      return lane;
    }),
  );
  const killCount = ends.reduce((sum, lane) => sum + lane.killCount, 0);
  const ackedCount = ends.reduce((sum, lane) => sum + lane.ledger.ackedCount, 0);
  t.log(`${killCount} kills, ${ackedCount} messages acknowledged`);
  t.true(killCount >= ROUNDS);
  t.true(ackedCount > ROUNDS);
});
