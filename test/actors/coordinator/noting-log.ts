// A log that keeps its lines, for tests of what was told.
import type { Log } from '../../../src/base/log.ts';

export interface LoggedLine {
  readonly level: string;
  readonly message: string;
  readonly fields: Record<string, unknown>;
}

export function notingLog(lines: LoggedLine[]): Log {
  const at =
    (level: string) =>
    (message: string, fields: Record<string, unknown> = {}): void => {
      lines.push({ level, message, fields });
    };
  const log: Log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), scoped: () => log };
  return log;
}
