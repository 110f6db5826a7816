// The one door to pino: structured lines on stderr, written synchronously so that a dying thread loses none.
import pino from 'pino';

export interface Log {
  debug(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
  /** The same log with `scope` as the name of the actor that writes. */
  scoped(scope: string): Log;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

function wrap(logger: pino.Logger): Log {
  return {
    debug: (message, fields) => logger.debug(fields ?? {}, message),
    info: (message, fields) => logger.info(fields ?? {}, message),
    warn: (message, fields) => logger.warn(fields ?? {}, message),
    error: (message, fields) => logger.error(fields ?? {}, message),
    scoped: (scope) => wrap(logger.child({ scope })),
  };
}

export function createLog(level: LogLevel, scope: string): Log {
  const destination = pino.destination({ dest: 2, sync: true });
  return wrap(pino({ level, base: { scope }, timestamp: pino.stdTimeFunctions.isoTime }, destination));
}

const nothing = (): void => {};

/** Drops everything; the log of tests that do not look at it. */
export const silentLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing, scoped: () => silentLog };
