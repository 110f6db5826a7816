// The one door to pino: structured lines on stderr, written synchronously so that a dying thread loses none.
import { createRequire } from 'node:module';
import type pino from 'pino';

export interface Log {
  debug(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
  /** The same log with `scope` as the name of the actor that writes. */
  scoped(scope: string): Log;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

const ranks: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 };

/** Children are made of the root, so that a line has one scope and not those of all its makers. */
class LazyLog implements Log {
  readonly #root: () => pino.Logger;
  readonly #level: LogLevel;
  readonly #scope: string;
  #logger: pino.Logger | null = null;

  constructor(root: () => pino.Logger, level: LogLevel, scope: string) {
    this.#root = root;
    this.#level = level;
    this.#scope = scope;
  }

  debug(message: string, fields?: Record<string, unknown>): void {
    this.#at('debug')?.debug(fields ?? {}, message);
  }

  info(message: string, fields?: Record<string, unknown>): void {
    this.#at('info')?.info(fields ?? {}, message);
  }

  warn(message: string, fields?: Record<string, unknown>): void {
    this.#at('warn')?.warn(fields ?? {}, message);
  }

  error(message: string, fields?: Record<string, unknown>): void {
    this.#at('error')?.error(fields ?? {}, message);
  }

  scoped(inner: string): Log {
    return new LazyLog(this.#root, this.#level, inner);
  }

  #at(level: Exclude<LogLevel, 'silent'>): pino.Logger | null {
    if (ranks[level] < ranks[this.#level]) return null;
    this.#logger ??= this.#root().child({ scope: this.#scope });
    return this.#logger;
  }
}

/** The library is loaded with the first line: most threads never write one, and loading it took each 25 to 80 ms of its start. */
export function createLog(level: LogLevel, scope: string): Log {
  let root: pino.Logger | null = null;
  const make = (): pino.Logger => {
    const load = createRequire(import.meta.url)('pino') as typeof pino;
    const destination = load.destination({ dest: 2, sync: true });
    return load({ level, base: null, timestamp: load.stdTimeFunctions.isoTime }, destination);
  };
  return new LazyLog(
    () => {
      root ??= make();
      return root;
    },
    level,
    scope,
  );
}

const nothing = (): void => {};

/** Drops everything; the log of tests that do not look at it. */
export const silentLog: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing, scoped: () => silentLog };
