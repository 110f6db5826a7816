// Checks how the settings come together, and the one line that each wrong one is refused with.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { RingmqError } from '../../src/base/errors.ts';
import { changeSettings, type LoadOptions, loadSettings } from '../../src/config/load.ts';

function file(t: ExecutionContext, content: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'ringmq-config-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'broker.conf');
  writeFileSync(path, content);
  return path;
}

/** The one line that a wrong setting shows. */
function refusal(t: ExecutionContext, options: LoadOptions): string {
  const error = t.throws(() => loadSettings(options), { instanceOf: RingmqError });
  t.is(error?.code, 'config');
  t.false(error?.message.includes('\n'));
  return error?.message ?? '';
}

test('load: defaults are those of one machine', (t) => {
  const { settings, warnings } = loadSettings();
  t.deepEqual(warnings, []);
  t.is(settings.listenPort, 10911);
  t.is(settings.vipListenPort, 10909);
  t.is(settings.haListenPort, 10912);
  t.is(settings.namesrvListenPort, 9876);
  t.true(settings.embeddedNamesrv);
  t.is(settings.bindAddress, '127.0.0.1');
  t.is(settings.brokerIP1, '127.0.0.1');
  t.is(settings.storePathRootDir, resolve('store'));
  t.is(settings.storePathCommitLog, join(resolve('store'), 'commitlog'));
  t.is(settings.mappedFileSizeCommitLog, 1024 ** 3);
  t.is(settings.flushDiskType, 'ASYNC_FLUSH');
  t.is(settings.messageDelayLevel.split(' ').length, 18);
  t.deepEqual(structuredClone(settings), settings);
});

test('load: the kit of stock clients is started with these', (t) => {
  const sets = [
    'brokerClusterName=DefaultCluster',
    'brokerName=broker-x',
    'brokerId=0',
    'brokerIP1=127.0.0.1',
    'autoCreateTopicEnable=true',
    'enablePropertyFilter=true',
    'recallMessageEnable=true',
    'transactionTimeOut=2000',
    'transactionCheckInterval=2000',
    'waitTimeMillsInSendQueue=10000',
    'bindAddress=127.0.0.1',
    'listenPort=20911',
    'haListenPort=20912',
    'storePathCommitLog=/srv/log',
    'flushDiskType=SYNC_FLUSH',
    'brokerRole=ASYNC_MASTER',
  ];
  const { settings, warnings } = loadSettings({ sets, namesrvAddr: '127.0.0.1:9876;127.0.0.2:9876' });
  t.deepEqual(warnings, []);
  t.true(settings.enablePropertyFilter);
  t.is(settings.transactionCheckInterval, 2000);
  t.is(settings.storePathCommitLog, '/srv/log');
  t.is(settings.vipListenPort, 20909);
  t.is(settings.namesrvAddr, '127.0.0.1:9876;127.0.0.2:9876');
  t.false(settings.embeddedNamesrv);
});

test('load: file, environment, -n and --set win in this order', (t) => {
  const path = file(t, '# a comment\nlistenPort = 1000\nbrokerName=from-file\nregionId:file\nnamesrvAddr=a:1\n');
  const env = { RINGMQ_BROKER_NAME: 'from-env', RINGMQ_regionId: 'env', RINGMQ_NAMESRV_ADDR: 'b:2', HOME: '/x' };
  const { settings } = loadSettings({ file: path, env, namesrvAddr: 'c:3', sets: ['regionId=set', 'regionId=last'] });
  t.is(settings.listenPort, 1000);
  t.is(settings.brokerName, 'from-env');
  t.is(settings.namesrvAddr, 'c:3');
  t.is(settings.regionId, 'last');
  t.deepEqual(settings.given, { listenPort: '1000', brokerName: 'from-env', regionId: 'last', namesrvAddr: 'c:3' });
});

test('load: an unknown setting is refused with the nearest known one', (t) => {
  t.is(refusal(t, { sets: ['listnPort=1'] }), 'unknown setting "listnPort" (--set): did you mean "listenPort"?');
  t.is(refusal(t, { file: file(t, '\nbrokername=x\n') }), 'unknown setting "brokername" (broker.conf line 2): did you mean "brokerName"?');
  t.is(refusal(t, { sets: ['zzzzzzzzzzzz=1'] }), 'unknown setting "zzzzzzzzzzzz" (--set)');
  t.regex(refusal(t, { sets: ['__proto__=1'] }), /^unknown setting "__proto__"/);
  t.is(refusal(t, { sets: ['listenPort'] }), '--set "listenPort" must be name=value');
});

test('load: a wrong value is refused with what is allowed', (t) => {
  t.is(refusal(t, { sets: ['listenPort=abc'] }), 'listenPort="abc" must be a whole number from 0 to 65535 (--set)');
  t.is(refusal(t, { file: file(t, 'listenPort=65536') }), 'listenPort="65536" must be a whole number from 0 to 65535 (broker.conf line 1)');
  t.is(refusal(t, { sets: ['listenPort=1.5'] }), 'listenPort="1.5" must be a whole number from 0 to 65535 (--set)');
  t.is(refusal(t, { sets: ['autoCreateTopicEnable=yes'] }), 'autoCreateTopicEnable="yes" must be "true" or "false" (--set)');
  t.is(refusal(t, { sets: ['flushDiskType=SYNC'] }), 'flushDiskType="SYNC" must be "ASYNC_FLUSH" or "SYNC_FLUSH" (--set)');
  t.regex(refusal(t, { sets: ['brokerName=a b'] }), /^brokerName="a b" must be 1 to 100 of the characters/);
  t.regex(refusal(t, { namesrvAddr: 'host' }), /^namesrvAddr="host" must be host:port, .* \(-n\)$/);
  t.regex(refusal(t, { env: { RINGMQ_LISTEN_PORT: '' } }), /^listenPort="" must be .* \(environment RINGMQ_LISTEN_PORT\)$/);
  t.regex(refusal(t, { sets: ['ingressCount=0'] }), /^ingressCount="0" must be "auto"/);
  t.regex(refusal(t, { sets: ['sendMessageThreadPoolNums=many'] }), /must be a whole number/);
  t.regex(refusal(t, { sets: ['storeType=defaultRocksDB'] }), /^storeType="defaultRocksDB" must be "default"/);
  t.regex(refusal(t, { file: 'no/such/file' }), /^settings file cannot be read: ENOENT/);
});

test('load: sizes must satisfy the store', (t) => {
  t.is(
    refusal(t, { sets: ['mappedFileSizeConsumeQueue=6000001'] }),
    'mappedFileSizeConsumeQueue="6000001" must be a multiple of 20, such as 6000020 (--set)',
  );
  t.regex(refusal(t, { sets: ['mapperFileSizeBatchConsumeQueue=100'] }), /multiple of 46, such as 138/);
  t.regex(refusal(t, { sets: ['tailWindowSizeBytes=3000000'] }), /a power of two, such as 4194304/);
  t.regex(refusal(t, { sets: ['tailWindowSizeBytes=1048576'] }), /at least 33554432: four times the largest record/);
  t.regex(refusal(t, { sets: ['maxMessageSize=16000000'] }), /^appendRingSizeBytes="16777216" must be at least .* \(default\)$/);
  t.regex(refusal(t, { sets: ['totalMemoryMaxBytes=1048576'] }), /at least connectionMemoryMaxBytes/);
  t.notThrows(() =>
    loadSettings({ sets: ['mappedFileSizeCommitLog=65536', 'mappedFileSizeConsumeQueue=1000', 'mappedFileSizeTimerLog=4096'] }),
  );
  t.notThrows(() => loadSettings({ sets: ['maxMessageSize=4096', 'tailWindowSizeBytes=1048576', 'appendRingSizeBytes=262144'] }));
});

test('load: ports, roles and delays must fit together', (t) => {
  t.is(refusal(t, { sets: ['namesrvListenPort=10911'] }), 'namesrvListenPort="10911" must be a port other than that of listenPort (--set)');
  t.regex(refusal(t, { sets: ['namesrvAddr=h:70000'] }), /ports from 1 to 65535/);
  t.regex(refusal(t, { sets: ['brokerRole=SLAVE'] }), /^brokerId="0" must be at least 1 on a SLAVE/);
  t.regex(refusal(t, { sets: ['inSyncReplicas=2'] }), /at most totalReplicas \(1\)/);
  t.regex(refusal(t, { sets: ['messageDelayLevel=1s 5x'] }), /must be delays such as/);
  t.regex(refusal(t, { sets: ['messageDelayLevel=1s 99999999d'] }), /not "99999999d"/);
  t.regex(refusal(t, { sets: ['deleteWhen=24'] }), /hours from 00 to 23/);
  t.is(loadSettings({ sets: ['messageDelayLevel= 1s  5s '] }).settings.messageDelayLevel, '1s 5s');
});

test('load: port 0 picks free ports and leaves the VIP port out', (t) => {
  const { settings } = loadSettings({ sets: ['listenPort=0', 'namesrvListenPort=0'] });
  t.is(settings.listenPort, 0);
  t.is(settings.vipListenPort, -1);
  t.is(settings.haListenPort, 0);
});

test('load: the VIP port can be moved and switched off', (t) => {
  t.is(loadSettings({ sets: ['vipListenPort=-1'] }).settings.vipListenPort, -1);
  t.is(loadSettings({ sets: ['vipListenPort=12345'] }).settings.vipListenPort, 12345);
});

test('load: embeddedNamesrv keeps a name server beside others', (t) => {
  t.true(loadSettings({ sets: ['embeddedNamesrv=true'], namesrvAddr: 'a:1' }).settings.embeddedNamesrv);
  t.false(loadSettings({ sets: ['embeddedNamesrv=false'] }).settings.embeddedNamesrv);
});

test('load: a name server on its own reads listenPort as its own', (t) => {
  const { settings } = loadSettings({ sets: ['listenPort=9999'], role: 'nameServer' });
  t.is(settings.namesrvListenPort, 9999);
  t.is(settings.listenPort, 10911);
});

test('load: older spellings count as the new ones', (t) => {
  const { settings, warnings } = loadSettings({
    sets: ['mapedFileSizeCommitLog=65536', 'mapedFileSizeConsumeQueue=1000', 'haSlaveFallbehindMax=99'],
  });
  t.is(settings.mappedFileSizeCommitLog, 65536);
  t.is(settings.mappedFileSizeConsumeQueue, 1000);
  t.is(settings.haMaxGapNotInSync, 99);
  t.deepEqual(warnings, []);
});

test('load: settings without effect are warned of, their defaults are not', (t) => {
  const { warnings } = loadSettings({
    sets: ['sendMessageThreadPoolNums=128', 'enableLmq=true', 'pullMessageThreadPoolNums=20', 'storePathIndex=/x'],
  });
  t.is(warnings.length, 3);
  t.regex(warnings[0] ?? '', /^sendMessageThreadPoolNums has no effect in RingMQ: Thread pools/);
  t.regex(warnings[1] ?? '', /^enableLmq belongs to a feature that RingMQ does not have yet/);
});

test('load: doubtful values are warned of and made good', (t) => {
  const { settings, warnings } = loadSettings({ sets: ['brokerId=3', 'diskSpaceWarningLevelRatio=95', 'brokerRole=SYNC_MASTER'] });
  t.is(settings.brokerId, 0);
  t.is(settings.diskSpaceWarningLevelRatio, 90);
  t.is(warnings.length, 3);
  t.deepEqual(loadSettings({ env: { RINGMQ_NO_SUCH: '1' } }).warnings, ['environment variable RINGMQ_NO_SUCH names no setting']);
});

test('load: a backslash that vanished from a path is warned of', (t) => {
  const { settings, warnings } = loadSettings({
    file: file(t, 'storePathRootDir=C:\\data\\store\nstorePathCommitLog=C:\\\\data\\\\log\n'),
  });
  t.is(warnings.length, 1);
  t.regex(warnings[0] ?? '', /^storePathRootDir was read as "C:datastore"/);
  t.is(settings.storePathCommitLog, 'C:\\data\\log');
});

test('load: a setting written twice is warned of, the last one counts', (t) => {
  const { settings, warnings } = loadSettings({ file: file(t, 'listenPort=1000\nlistenPort=2000\n') });
  t.is(settings.listenPort, 2000);
  t.deepEqual(warnings, ['listenPort is written twice: line 2 wins over line 1 (broker.conf)']);
});

test('load: changes while running are checked like the start', (t) => {
  const { settings } = loadSettings({ sets: ['fileReservedTime=48', 'regionId=x'] });
  const changed = changeSettings(settings, { fileReservedTime: '24' }).settings;
  t.is(changed.fileReservedTime, 24);
  t.is(changed.regionId, 'x');
  t.throws(() => changeSettings(settings, { fileReservedTime: 'long' }), { message: /fileReservedTime="long" must be .* \(change\)/ });
});
