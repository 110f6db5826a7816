// A whole broker on a limited disk, its log lines kept, and a reader of all that it has.
import type { ExecutionContext } from 'ava';
import { FakeClock } from '../../src/base/clock.ts';
import type { Log } from '../../src/base/log.ts';
import { ResponseCodes } from '../../src/protocol/codes.ts';
import { LimitedDisk } from './limited-disk.ts';
import { SimBroker, type SimOptions } from './sim-broker.ts';
import { nameOf, recordsOf, type SimClient } from './sim-client.ts';

export interface Rig {
  readonly sim: SimBroker;
  readonly disk: LimitedDisk;
  readonly clock: FakeClock;
  readonly lines: string[];
}

function noteLog(lines: string[]): Log {
  const at =
    (level: string) =>
    (message: string): void => {
      lines.push(`${level}: ${message}`);
    };
  const log: Log = { debug: () => {}, info: at('info'), warn: at('warn'), error: at('error'), scoped: () => log };
  return log;
}

export async function start(seed: number, options: SimOptions & { folder?: string } = {}): Promise<Rig> {
  const clock = options.clock ?? new FakeClock();
  const disk = (options.files as LimitedDisk | undefined) ?? new LimitedDisk(clock, options.folder);
  const lines: string[] = [];
  return { sim: await SimBroker.start(seed, { log: noteLog(lines), ...options, files: disk, clock }), disk, clock, lines };
}

export function read(t: ExecutionContext, client: SimClient, queueId = 0): string[] {
  const names: string[] = [];
  for (let offset = 0; ; ) {
    const answer = client.askPull('Orders', queueId, 'readers', { offset });
    if (answer.code !== ResponseCodes.SUCCESS) {
      t.is(answer.code, ResponseCodes.PULL_NOT_FOUND);
      return names;
    }
    names.push(...recordsOf(answer).map(nameOf));
    offset = Number(answer.ext['nextBeginOffset']);
  }
}
