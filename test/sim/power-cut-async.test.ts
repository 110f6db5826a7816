// Power cuts of a broker that answers before it syncs: what is lost is a suffix of the log behind its synced position, nothing between.
import { PowerCuts } from './power-cuts.ts';
import { testSeeds } from './seeds.ts';

testSeeds('power cut: ASYNC_FLUSH loses a suffix of the log', 'build/test/sim/power-cut-async.test.js', 500, async (seed) => {
  await new PowerCuts(seed, { flush: 'ASYNC_FLUSH' }).run();
});
