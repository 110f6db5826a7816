// The library: a broker inside the caller's process.
import { createLog, type LogLevel, silentLog } from './base/log.ts';
import { Broker } from './broker.ts';
import { loadSettings } from './config/load.ts';

export { type ErrorCode, ErrorCodes, RingmqError } from './base/errors.ts';

export interface StartOptions {
  /** Nothing touches the disk; everything is gone after close. Default false. */
  readonly memory?: boolean;
  /** Port for clients; 0 (the default) picks a free one. */
  readonly port?: number;
  /** Port of the name server in this process; 0 (the default) picks a free one. Without effect with `namesrvAddr`. */
  readonly namesrvPort?: number;
  /** `host:port;host:port` of name servers elsewhere; by default one runs in this process. */
  readonly namesrvAddr?: string;
  /** Folder of the store; needed without `memory`. */
  readonly store?: string;
  /** Any other setting by its RocketMQ name; `actorThreads: 'auto'` runs the actors on worker threads. */
  readonly settings?: Readonly<Record<string, string | number | boolean>>;
  /** Default `silent`. */
  readonly logLevel?: LogLevel;
}

export interface RunningBroker {
  readonly host: string;
  readonly port: number;
  /** `host:port` for the clients' name server address. */
  readonly namesrvAddr: string;
  /** Answers what is under way, writes everything, closes all handles. */
  close(): Promise<void>;
}

/**
 * Starts a broker in this process, on this thread unless `settings.actorThreads` says otherwise.
 * Resolves when messages are accepted; throws RingmqError `config`, `store` or `address`.
 */
export async function startBroker(options: StartOptions = {}): Promise<RunningBroker> {
  const logLevel = options.logLevel ?? 'silent';
  const sets: Record<string, string | number | boolean> = {
    listenPort: options.port ?? 0,
    namesrvListenPort: options.namesrvPort ?? 0,
    actorThreads: 'inline',
    logLevel,
    ...(options.store === undefined ? {} : { storePathRootDir: options.store }),
    ...options.settings,
  };
  const { settings } = loadSettings({
    sets: Object.entries(sets).map(([name, value]) => `${name}=${value}`),
    ...(options.namesrvAddr === undefined ? {} : { namesrvAddr: options.namesrvAddr }),
  });
  const log = logLevel === 'silent' ? silentLog : createLog(logLevel, 'broker');
  const broker = await Broker.start({ settings, log, memory: options.memory ?? false });
  const { address, namesrvAddress } = broker;
  return {
    host: address.host,
    port: address.port,
    namesrvAddr: namesrvAddress === null ? settings.namesrvAddr : `${namesrvAddress.host}:${namesrvAddress.port}`,
    close: () => broker.close(),
  };
}
