// Ordered groups in a thousand random lives against the model of what they are promised.
import { testGroups } from './groups-world.ts';

testGroups(true, 'build/test/sim/groups-ordered.test.js');
