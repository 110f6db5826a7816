// Concurrent groups in a thousand random lives against the model of what they are promised.
import { testGroups } from './groups-world.ts';

testGroups(false, 'build/test/sim/groups-concurrent.test.js');
