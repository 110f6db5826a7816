// A power cut takes sectors out of the middle of the last record: whichever it is, the record is not taken for a whole one.
import test from 'ava';
import { silentLog } from '../../src/base/log.ts';
import { markRunning } from '../../src/store/abort-marker.ts';
import { checkStore } from '../../src/store/check/check-store.ts';
import { recoverStore } from '../../src/store/recovery.ts';
import { worldSettings as settings, World } from './world.ts';

const SECTOR_SIZE = 512;

test('recovery: a record that lacks any of its sectors is cut, one that has all is kept', (t) => {
  for (let shift = 0; shift < 12; shift++) {
    for (let lost = -1; lost < 8; lost++) {
      const world = new World();
      world.log.append('Orders', 0, { bodySize: 1 + shift * 47 });
      const position = world.log.append('Orders', 0, { bodySize: 300, properties: { a: 'x'.repeat(1_500), b: 'y'.repeat(400) } });
      const end = world.log.position;
      const sector = Math.floor(position / SECTOR_SIZE) + lost;
      const from = Math.max(sector * SECTOR_SIZE, position);
      const to = Math.min((sector + 1) * SECTOR_SIZE, end);
      markRunning(world.files, '/store', 1);
      const takes = lost >= 0 && from < to;
      if (takes) world.files.write(world.log.files.segments.fdFor(position), new Uint8Array(to - from), 0, to - from, from);
      const { counts, findings } = checkStore(world.files, { ...settings, maxHashSlotNum: 10, maxIndexNum: 40, messageDelayLevel: '1s' });
      t.is(counts.damage, 0);
      t.is(
        findings.some(({ kind, where }) => kind === 'logTorn' && where === `position=${position}`),
        takes,
        `the checker, shift ${shift}, sector ${lost}`,
      );
      const found = recoverStore(world.files, settings, silentLog);
      t.is(found.positionMax, takes ? position : end, `shift ${shift}, sector ${lost}`);
    }
  }
});
