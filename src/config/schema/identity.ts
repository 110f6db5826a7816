// Settings: who this broker is, where it listens, and where it registers.
import { choice, flag, integer, name, text } from '../spec.ts';

const ADDRESS_LIST = /^$|^[^\s:;]+:\d{1,5}(;[^\s:;]+:\d{1,5})*;?$/;
const HOST = /^$|^[^\s:;,]+$|^[0-9a-fA-F:.]+$/;

export const identitySettings = {
  brokerClusterName: name('DefaultCluster', 'Cluster that the broker belongs to'),
  brokerName: name('broker-a', 'Name that a master and its slaves share'),
  brokerId: integer(0, '', '0 for a master, the number of a slave otherwise', { max: 2 ** 31 - 1 }),
  brokerRole: choice(['ASYNC_MASTER', 'SYNC_MASTER', 'SLAVE'], 'ASYNC_MASTER', 'Whether a master waits for its slaves, or a slave'),
  brokerPermission: integer(6, '', 'What the broker lets clients do: 4 reads, 2 writes, 6 both', { max: 7 }),
  brokerIP1: text('', 'Address that clients are told', {
    pattern: HOST,
    allowed: 'a host name or address without port',
    derived: "bindAddress, or the host's first address where that is a wildcard",
  }),
  brokerIP2: text('', 'Address that slaves are told', {
    pattern: HOST,
    allowed: 'a host name or address without port',
    derived: 'brokerIP1',
  }),
  regionId: text('DefaultRegion', 'Region noted in stored messages'),
} as const;

export const networkSettings = {
  bindAddress: text('127.0.0.1', 'Address that all ports are bound to; 0.0.0.0 for all', {
    pattern: /^[^\s;,]+$/,
    allowed: 'an address or host name without port',
  }),
  listenPort: integer(10911, '', 'Port for clients; 0 picks a free one. A name server on its own takes it for its own port', {
    max: 65535,
  }),
  vipListenPort: integer(-1, '', 'Second port, for old clients with the VIP channel on; -1 for none', {
    min: -1,
    max: 65535,
    derived: 'listenPort - 2, or none where listenPort is 0',
  }),
  haListenPort: integer(0, '', 'Port for slaves; 0 or less for the default', { min: -1, max: 65535, derived: 'listenPort + 1' }),
  serverChannelMaxIdleTimeSeconds: integer(120, 's', 'Silent connections are closed after this long', { min: 1, max: 86400 }),
  connectionCountMax: integer(20_000, '', 'Most connections of clients at once', { min: 1, max: 1_000_000 }),
  namesrvAddr: text('', 'Name servers to register with: host:port;host:port', {
    pattern: ADDRESS_LIST,
    allowed: 'host:port, several separated by ";"',
  }),
  embeddedNamesrv: flag(false, 'Run a name server in this process'),
  namesrvListenPort: integer(9876, '', 'Port of the name server in this process; 0 picks a free one', { max: 65535 }),
  registerNameServerPeriod: integer(30_000, 'ms', 'Registration is repeated this often', { min: 100, max: 60_000 }),
  registerBrokerTimeoutMills: integer(24_000, 'ms', 'A registration waits this long for an answer', { min: 1 }),
  forceRegister: flag(true, 'Send the whole registration each time, and not only where a name server says that it lacks it'),
  compressedRegister: flag(false, 'Registrations are sent in the compressed form'),
} as const;
