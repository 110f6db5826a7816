// What the status command does: reads its line, asks a broker twice, and gives the tables.
import { readArguments, usageError } from './arguments.ts';
import { ErrorCodes, RingmqError } from './base/errors.ts';
import { StatusClient } from './status-client.ts';
import { compareFigures, reportLines } from './status-report.ts';

const DEFAULT_PORT = 10911;

export const statusHelp = `Usage: node dist/status.js [HOST:PORT] [--every SECONDS] [--once]

  HOST:PORT        the broker's address; 127.0.0.1:${DEFAULT_PORT} where none is given
  --every SECONDS  time between two looks, such as 1, 0.5s or 500ms; 1 where none is given
  --once           one table, then the end; without it, one after the other until Ctrl-C
  -h, --help       this text
`;

export interface StatusOptions {
  readonly host: string;
  readonly port: number;
  readonly everyMs: number;
  readonly once: boolean;
}

/** Null for a wish for help. Throws RingmqError `config` with what is allowed. */
export function parseStatusLine(args: readonly string[]): StatusOptions | null {
  const options = { every: { type: 'string' }, once: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const;
  const { values, positionals } = readArguments({ args: [...args], allowPositionals: true, options });
  if (values.help === true) return null;
  if (positionals.length > 1) throw usageError(`one broker at a time seen=${positionals.join(' ')}`);
  const address = /^(?:(.*):)?(\d{1,5})$/.exec(positionals[0] ?? String(DEFAULT_PORT));
  if (address === null || Number(address[2]) > 65_535) throw usageError(`"${positionals[0]}" is not HOST:PORT`);
  const every = /^(\d+(?:\.\d+)?)(ms|s)?$/.exec(values.every ?? '1');
  const everyMs = every === null ? 0 : Number(every[1]) * (every[2] === 'ms' ? 1 : 1000);
  if (!(everyMs >= 1)) throw usageError(`--every "${values.every}" is no time such as 1, 0.5s or 500ms`);
  const host = (address[1] ?? '').replace(/^\[(.*)\]$/, '$1');
  return { host: host === '' ? '127.0.0.1' : host, port: Number(address[2]), everyMs, once: values.once === true };
}

/** @param print is given each table; ends after the first with `once`, else only by an error. */
export async function watchBroker(options: StatusOptions, print: (text: string) => void): Promise<void> {
  const client = new StatusClient(options.host, options.port);
  try {
    let before = await client.ask();
    for (;;) {
      await pause(options.everyMs);
      const after = await client.ask();
      const report = compareFigures(before, after);
      if (report === null)
        throw new RingmqError(ErrorCodes.malformed, 'this broker does not tell what its actors do: it is no RingMQ, or an older one');
      print(`${reportLines(report).join('\n')}\n`);
      if (options.once) return;
      print('\n');
      before = after;
    }
  } finally {
    await client.close();
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
