// Checks that the reference page and the list of present values are complete.
import test from 'ava';
import { loadSettings } from '../../src/config/load.ts';
import { parseProperties } from '../../src/config/properties.ts';
import { specs } from '../../src/config/schema.ts';
import { settingsAsProperties, settingsPage } from '../../src/config/settings-page.ts';

test('settings page: every known name is in it once', (t) => {
  const page = settingsPage();
  const tables = [...page.matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1]);
  const without = page.slice(page.indexOf('### Known'), page.indexOf('### Older'));
  const lists = [...without.matchAll(/`(\w+)`/g)].map((match) => match[1]);
  t.deepEqual([...tables, ...lists].sort(), [...specs.keys()].sort());
  t.true(page.includes('| `listenPort` | `10911` | a whole number from 0 to 65535 |'));
});

test('settings page: the table has as many cells in each row', (t) => {
  for (const line of settingsPage().split('\n')) {
    if (line.startsWith('|')) t.is(line.replaceAll('\\|', '').split('|').length, 6, line);
  }
});

test('settings page: present values are read back as they are', (t) => {
  const { settings } = loadSettings({ sets: ['regionId=a=b', 'storePathRootDir=/data/ä', 'sendMessageThreadPoolNums=3'] });
  const lines = new Map(parseProperties(settingsAsProperties(settings)).map(({ name, value }) => [name, value]));
  t.is(lines.size, specs.size);
  t.is(lines.get('regionId'), 'a=b');
  t.is(lines.get('storePathRootDir'), settings.storePathRootDir);
  t.is(lines.get('sendMessageThreadPoolNums'), '3');
  t.is(lines.get('listenPort'), '10911');
});
