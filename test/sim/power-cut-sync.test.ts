// Power cuts of a broker that syncs before it answers: nothing acknowledged is lost, whatever the disk forgets, over many lives of one store.
import { PowerCuts } from './power-cuts.ts';
import { testSeeds } from './seeds.ts';

testSeeds('power cut: SYNC_FLUSH loses no acknowledged message', 'build/test/sim/power-cut-sync.test.js', 500, async (seed) => {
  await new PowerCuts(seed, { flush: 'SYNC_FLUSH' }).run();
});
