// Settings that only RingMQ has: actors, rings, memory and the log.
import { actorCount, choice, flag, integer, text } from '../spec.ts';

const MIB = 1024 * 1024;

export const runtimeSettings = {
  ingressCount: actorCount('auto', 'Actors that own the sockets'),
  dispatchCount: actorCount('auto', 'Actors that keep the queues and waiting pulls'),
  actorThreads: text('auto', 'Which actors share a thread'),
  tailWindowSizeBytes: integer(64 * MIB, 'bytes', 'Newest part of the log that is kept in memory', { min: MIB, max: 1024 * MIB }),
  feedEntryCount: integer(65_536, '', 'Records that a follower of the log may be behind before it re-reads', {
    min: 1024,
    max: 16_777_216,
  }),
  appendRingSizeBytes: integer(16 * MIB, 'bytes', 'Ring of each ingress to the commit log', { min: 65_536, max: 1024 * MIB }),
  requestRingSizeBytes: integer(4 * MIB, 'bytes', 'Ring of each ingress to each of the other actors', { min: 262_144, max: 256 * MIB }),
  connectionMemoryMaxBytes: integer(32 * MIB, 'bytes', 'Unsent answers of one connection; above it is not read from', { min: 65_536 }),
  totalMemoryMaxBytes: integer(512 * MIB, 'bytes', 'Unsent answers of all connections', { min: MIB }),
  enableDetailStat: flag(true, 'Traffic is counted by queue as well'),
  statItemCountMax: integer(50_000, '', 'Figures of traffic kept at once, by topic, group and queue; further ones are not counted', {
    min: 100,
    max: 10_000_000,
  }),
  logLevel: choice(['debug', 'info', 'warn', 'error', 'silent'], 'info', 'Least grave lines that are logged'),
} as const;
