// 25 and 26: a tool changes settings while the broker runs, and the changes outlive it.
import test from 'ava';
import { RequestCodes } from '../../../src/protocol/codes.ts';
import { MemoryFiles } from '../../../src/store/files/memory-files.ts';
import { Bench } from './bench.ts';
import type { Answer, Client } from './client.ts';

function change(admin: Client, text: string): Answer {
  return admin.ask(RequestCodes.UPDATE_BROKER_CONFIG, {}, Buffer.from(text));
}

function shown(admin: Client, name: string): string | undefined {
  const text = admin.ask(RequestCodes.GET_BROKER_CONFIG).body.toString();
  return text
    .split('\n')
    .find((line) => line.startsWith(`${name}=`))
    ?.slice(name.length + 1);
}

test('settings: a change is seen at once, all others stay, and the version moves', (t) => {
  const bench = new Bench();
  const admin = bench.connect();
  const before = admin.ask(RequestCodes.GET_BROKER_CONFIG);
  const answer = change(admin, 'fileReservedTime=48\n');
  t.is(answer.code, 0);
  const after = admin.ask(RequestCodes.GET_BROKER_CONFIG);
  t.is(after.body.toString().replace('fileReservedTime=48', 'fileReservedTime=72'), before.body.toString());
  t.true(after.body.toString().includes('fileReservedTime=48'));
  t.deepEqual(answer.ext, {});
  t.not(after.ext['version'], before.ext['version']);
});

test('settings: what is unknown, malformed, forbidden or fixed is refused with words, and nothing of it is done', (t) => {
  const bench = new Bench();
  const admin = bench.connect();
  const refused = (text: string, code: number, words: RegExp): void => {
    const answer = change(admin, text);
    t.is(answer.code, code, text);
    t.regex(answer.remark ?? '', words);
  };
  refused('', 1, /no setting/);
  refused('noSuchSetting=1', 1, /unknown setting "noSuchSetting"/);
  refused('fileReservedTime=soon', 1, /fileReservedTime="soon" must be a whole number/);
  refused('fileReservedTime=48\nnoSuchSetting=1', 1, /unknown/);
  refused('brokerConfigPath=elsewhere', 16, /black list/);
  refused('kvConfigPath=elsewhere', 16, /black list/);
  refused('mappedFileSizeCommitLog=4096', 1, /at a start only/);
  refused('diskSpaceWarningLevelRatio=95', 1, /from 35 to 90/);
  t.is(shown(admin, 'fileReservedTime'), '72');
  t.is(change(admin, 'mappedFileSizeCommitLog=1073741824').code, 0, 'it is so already');
});

test('settings: a change outlives the broker, until the configuration says something else', (t) => {
  const files = new MemoryFiles();
  const first = new Bench({ files });
  t.is(change(first.connect(), 'fileReservedTime=48\ndeleteWhen=03').code, 0);
  const second = new Bench({ files });
  t.is(shown(second.connect(), 'fileReservedTime'), '48');
  t.is(shown(second.connect(), 'deleteWhen'), '03');
  t.true(second.logged.some(({ message, fields }) => message.includes('not as configured') && fields['name'] === 'fileReservedTime'));
  const third = new Bench({ files, sets: ['fileReservedTime=24'] });
  t.is(shown(third.connect(), 'fileReservedTime'), '24');
  t.is(shown(third.connect(), 'deleteWhen'), '03');
  const fourth = new Bench({ files });
  t.is(shown(fourth.connect(), 'fileReservedTime'), '72', 'the old change is forgotten');
});

test('settings: set back to what is configured, nothing is kept', (t) => {
  const files = new MemoryFiles();
  const admin = new Bench({ files }).connect();
  change(admin, 'fileReservedTime=48');
  change(admin, 'fileReservedTime=72');
  t.is(shown(new Bench({ files, sets: ['fileReservedTime=24'] }).connect(), 'fileReservedTime'), '24');
});

test('settings: automatic creation is switched off and on while the broker runs', (t) => {
  const bench = new Bench();
  const admin = bench.connect();
  change(admin, 'autoCreateSubscriptionGroup=false');
  t.is(admin.ask(RequestCodes.GET_SUBSCRIPTIONGROUP_CONFIG, { group: 'G' }).code, 26);
  change(admin, 'autoCreateSubscriptionGroup=true');
  t.is(admin.ask(RequestCodes.GET_SUBSCRIPTIONGROUP_CONFIG, { group: 'G' }).code, 0);
});
