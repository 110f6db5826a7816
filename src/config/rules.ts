// Rules over several settings: defaults that depend on others, sizes that must fit together, ports that must differ.
import { networkInterfaces } from 'node:os';
import { join, resolve } from 'node:path';
import type { Draft, SettingName } from './settings.ts';

/** Bytes that a record may have on top of its body. */
const RECORD_OVERHEAD_MAX = 65_536;

export interface RuleContext {
  readonly draft: Draft;
  given(name: SettingName): boolean;
  /** Refuses the start over one setting; `must` follows "must be". */
  fail(name: SettingName, must: string): never;
  warn(text: string): void;
}

/** The first address of this host that others can reach; the loopback address where there is none. */
function hostAddress(): string {
  for (const entries of Object.values(networkInterfaces())) {
    for (const entry of entries ?? []) if (entry.family === 'IPv4' && !entry.internal) return entry.address;
  }
  return '127.0.0.1';
}

function deriveAddresses({ draft, given }: RuleContext): void {
  const wildcard = draft.bindAddress === '0.0.0.0' || draft.bindAddress === '::';
  if (draft.brokerIP1 === '') draft.brokerIP1 = wildcard ? hostAddress() : draft.bindAddress;
  if (draft.brokerIP2 === '') draft.brokerIP2 = draft.brokerIP1;
  if (!given('vipListenPort')) draft.vipListenPort = draft.listenPort > 2 ? draft.listenPort - 2 : -1;
  if (draft.haListenPort <= 0) draft.haListenPort = draft.listenPort === 0 || draft.listenPort === 65_535 ? 0 : draft.listenPort + 1;
  if (!given('embeddedNamesrv')) draft.embeddedNamesrv = draft.namesrvAddr === '';
}

function derivePaths({ draft }: RuleContext): void {
  draft.storePathRootDir = resolve(draft.storePathRootDir === '' ? './store' : draft.storePathRootDir);
  if (draft.storePathCommitLog === '') draft.storePathCommitLog = join(draft.storePathRootDir, 'commitlog');
  if (draft.kvConfigPath === '') draft.kvConfigPath = join(draft.storePathRootDir, 'namesrv', 'kvConfig.json');
  if (draft.configStorePath === '') draft.configStorePath = join(draft.storePathRootDir, 'namesrv', 'namesrv.properties');
}

function checkPorts({ draft, fail }: RuleContext): void {
  const used = new Map<number, SettingName>();
  const names: SettingName[] = ['listenPort', 'vipListenPort', 'haListenPort'];
  if (draft.embeddedNamesrv) names.push('namesrvListenPort');
  for (const name of names) {
    const port = draft[name] as number;
    if (port <= 0) continue;
    const other = used.get(port);
    if (other !== undefined) fail(name, `a port other than that of ${other}`);
    used.set(port, name);
  }
  for (const address of draft.namesrvAddr.split(';')) {
    const port = Number(address.slice(address.lastIndexOf(':') + 1));
    if (address !== '' && (port < 1 || port > 65_535)) fail('namesrvAddr', 'host:port with ports from 1 to 65535');
  }
}

function checkRole(context: RuleContext): void {
  const { draft, fail, warn } = context;
  if (draft.brokerRole === 'SLAVE') {
    if (draft.brokerId === 0) fail('brokerId', 'at least 1 on a SLAVE');
  } else if (draft.brokerId !== 0) {
    warn(`brokerId=${draft.brokerId} is ignored: a master has brokerId 0 (brokerRole=${draft.brokerRole})`);
    draft.brokerId = 0;
  }
  if (draft.inSyncReplicas > draft.totalReplicas) fail('inSyncReplicas', `at most totalReplicas (${draft.totalReplicas})`);
  if (draft.minInSyncReplicas > draft.inSyncReplicas) fail('minInSyncReplicas', `at most inSyncReplicas (${draft.inSyncReplicas})`);
  if (draft.brokerRole === 'SYNC_MASTER' && draft.inSyncReplicas === 1) {
    warn('brokerRole=SYNC_MASTER waits for nobody while inSyncReplicas is 1: set totalReplicas=2 and inSyncReplicas=2');
  }
}

function multiple({ draft, fail }: RuleContext, name: SettingName, unit: number): void {
  const value = draft[name] as number;
  if (value % unit !== 0) fail(name, `a multiple of ${unit}, such as ${Math.ceil(value / unit) * unit}`);
}

function powerOfTwo({ draft, fail }: RuleContext, name: SettingName): void {
  const value = draft[name] as number;
  if (2 ** Math.round(Math.log2(value)) !== value) fail(name, `a power of two, such as ${2 ** Math.ceil(Math.log2(value))}`);
}

function checkSizes(context: RuleContext): void {
  const { draft, fail } = context;
  multiple(context, 'mappedFileSizeConsumeQueue', 20);
  multiple(context, 'mapperFileSizeBatchConsumeQueue', 46);
  for (const name of ['tailWindowSizeBytes', 'appendRingSizeBytes', 'requestRingSizeBytes', 'feedEntryCount'] as const)
    powerOfTwo(context, name);
  const recordMax = draft.maxMessageSize + RECORD_OVERHEAD_MAX;
  const window = 2 ** Math.ceil(Math.log2(4 * recordMax));
  if (draft.tailWindowSizeBytes < 4 * recordMax) {
    fail('tailWindowSizeBytes', `at least ${window}: four times the largest record (maxMessageSize + ${RECORD_OVERHEAD_MAX})`);
  }
  const ring = 2 ** Math.ceil(Math.log2(2 * recordMax));
  if (draft.appendRingSizeBytes < 2 * recordMax) {
    fail('appendRingSizeBytes', `at least ${ring}: twice the largest record (maxMessageSize + ${RECORD_OVERHEAD_MAX})`);
  }
  if (draft.totalMemoryMaxBytes < draft.connectionMemoryMaxBytes) {
    fail('totalMemoryMaxBytes', `at least connectionMemoryMaxBytes (${draft.connectionMemoryMaxBytes})`);
  }
}

function clampDisk({ draft, warn }: RuleContext): void {
  const limits = { diskSpaceCleanForciblyRatio: [30, 85], diskSpaceWarningLevelRatio: [35, 90] } as const;
  for (const name of ['diskSpaceCleanForciblyRatio', 'diskSpaceWarningLevelRatio'] as const) {
    const [low, high] = limits[name];
    const value = Math.min(high, Math.max(low, draft[name]));
    if (value !== draft[name]) warn(`${name}=${draft[name]} is outside ${low} to ${high}: ${value} is used`);
    draft[name] = value;
  }
}

function checkDelays({ draft, fail }: RuleContext): void {
  const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };
  const levels = draft.messageDelayLevel.trim().split(/\s+/);
  if (levels.length > 100) fail('messageDelayLevel', 'at most 100 delays');
  for (const level of levels) {
    const seconds = Number(level.slice(0, -1)) * (unitSeconds[level.slice(-1)] ?? 0);
    if (seconds < 1 || seconds > 3650 * 86_400) fail('messageDelayLevel', `delays from 1s to 3650d, not "${level}"`);
  }
  draft.messageDelayLevel = levels.join(' ');
}

/** Completes and checks a draft; throws through `fail` at the first rule that does not hold. */
export function applyRules(context: RuleContext): void {
  deriveAddresses(context);
  derivePaths(context);
  checkPorts(context);
  checkRole(context);
  checkSizes(context);
  clampDisk(context);
  checkDelays(context);
}
