// Settings that change while the broker runs: seen by every reader at once, through the settings they already hold.
import test from 'ava';
import { LIVE_MEMORY_SIZE, liveFault, liveNames, liveSettings, setLive } from '../../src/config/live.ts';
import { loadSettings } from '../../src/config/load.ts';
import { specs } from '../../src/config/schema.ts';

const configured = loadSettings({ sets: ['fileReservedTime=10', 'deleteWhen=4;16'] }).settings;

test('live settings: two readers see a change and its end', (t) => {
  const words = new Int32Array(new SharedArrayBuffer(LIVE_MEMORY_SIZE));
  const one = liveSettings(configured, words);
  const other = liveSettings(configured, words);
  setLive(words, 'fileReservedTime', 0);
  t.is(one.fileReservedTime, 0);
  t.is(other.fileReservedTime, 0);
  setLive(words, 'fileReservedTime', undefined);
  t.is(one.fileReservedTime, 10);
});

test('live settings: numbers, switches and hours keep their kind', (t) => {
  const words = new Int32Array(new SharedArrayBuffer(LIVE_MEMORY_SIZE));
  const settings = liveSettings(configured, words);
  t.is(settings.deleteWhen, '4;16');
  setLive(words, 'deleteWhen', '0;23');
  t.is(settings.deleteWhen, '00;23');
  setLive(words, 'longPollingEnable', false);
  t.is(settings.longPollingEnable, false);
  setLive(words, 'longPollingEnable', true);
  t.is(settings.longPollingEnable, true);
  t.deepEqual(Object.keys(settings).sort(), Object.keys(configured).sort());
  t.is({ ...settings }.deleteWhen, '00;23');
});

test('live settings: every one of them can take its bounds, or says what it can take', (t) => {
  const words = new Int32Array(new SharedArrayBuffer(LIVE_MEMORY_SIZE));
  const settings = liveSettings(configured, words);
  for (const name of liveNames) {
    const spec = specs.get(name);
    if (typeof spec?.default !== 'number') continue;
    for (const value of [spec.min ?? 0, spec.max ?? 0, spec.default]) {
      const fault = liveFault(name, value);
      if (fault !== null) {
        t.regex(fault, new RegExp(`^${name}="\\d+" must be a whole number from \\d+ to \\d+ while the broker runs$`));
        continue;
      }
      setLive(words, name, value);
      t.is(settings[name], value, name);
    }
    t.is(liveFault(name, spec.default), null);
  }
});
