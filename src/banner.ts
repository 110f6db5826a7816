// What a start says: where it listens, what it advertises, where it stores, what an acknowledgement means, and who runs where.
import type { Broker } from './broker.ts';
import type { Settings } from './config/settings.ts';
import { retentionText } from './core/retention.ts';
import { VERSION } from './version.ts';

export function bannerLines(broker: Broker): string[] {
  const { settings, topology, address, namesrvAddress } = broker;
  const vip = broker.vipPort > 0 ? `, VIP port ${broker.vipPort}` : '';
  const lines = [
    `RingMQ ${VERSION}, Node ${process.version}`,
    `  broker      ${settings.brokerName} in ${settings.brokerClusterName}, listening on ${settings.bindAddress}:${address.port}${vip}`,
    `  advertises  ${address.host}:${address.port}${advertiseNote(settings, address.host)}`,
    namesrvAddress === null
      ? `  name server ${settings.namesrvAddr} (elsewhere)`
      : `  name server ${settings.bindAddress}:${namesrvAddress.port} (in this process)${settings.namesrvAddr === '' ? '' : `, and ${settings.namesrvAddr}`}`,
    `  store       ${broker.inMemory ? 'in memory only' : settings.storePathRootDir}`,
    `  durability  ${durability(settings, broker.inMemory)}`,
    `  retention   ${retentionText(settings)}`,
  ];
  for (const thread of topology.threads) lines.push(`  thread      ${thread.name}: ${thread.actors.join(', ')}`);
  return lines;
}

/** The last line, printed when messages are accepted; scripts wait for it. */
export function readyLine(broker: Broker): string {
  const { address, namesrvAddress } = broker;
  const namesrv = namesrvAddress === null ? '-' : `${namesrvAddress.host}:${namesrvAddress.port}`;
  return `ready broker=${address.host}:${address.port} namesrv=${namesrv} pid=${process.pid}`;
}

function advertiseNote(settings: Settings, host: string): string {
  const loopback = host.startsWith('127.') || host === 'localhost';
  const boundToAll = settings.bindAddress === '0.0.0.0' || settings.bindAddress === '::';
  return loopback && boundToAll ? ' (only this machine reaches it: set brokerIP1 for clients elsewhere)' : '';
}

function durability(settings: Settings, inMemory: boolean): string {
  if (inMemory) return 'an acknowledged message lives as long as this process';
  if (settings.flushDiskType === 'SYNC_FLUSH') return 'SYNC_FLUSH: an acknowledged message is on stable storage, it survives a power cut';
  return `ASYNC_FLUSH: an acknowledged message is written to the operating system, it survives a crash of the process; stable storage follows within about ${settings.flushIntervalCommitLog} ms, or ${settings.flushCommitLogThoroughInterval} ms for the last few`;
}
