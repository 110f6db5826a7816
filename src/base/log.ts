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

/** Children are made of the root, so that a line has one scope and not those of all its makers. */
function wrap(root: pino.Logger, scope: string): Log {
  const logger = root.child({ scope });
  return {
    debug: (message, fields) => logger.debug(fields ?? {}, message),
    info: (message, fields) => logger.info(fields ?? {}, message),
    warn: (message, fields) => logger.warn(fields ?? {}, message),
    error: (message, fields) => logger.error(fields ?? {}, message),
    scoped: (inner) => wrap(root, inner),
  };
}

export function createLog(level: LogLevel, scope: string): Log {
  const destination = pino.destination({ dest: 2, sync: true });
  return wrap(pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination), scope);
}

const nothing = (): void => {};

/** Drops everything; the log of tests that do not look at it. */
export const silentLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing, scoped: () => silentLog };
