#!/usr/bin/env node
// Starts the broker: settings in, banner out, signals to an ordered stop.
import { bannerLines, readyLine } from './banner.ts';
import { errorText, RingmqError } from './base/errors.ts';
import { createLog } from './base/log.ts';
import { Broker } from './broker.ts';
import { helpText, loadFor, parseCommandLine } from './command-line.ts';
import { settingsPage } from './config/settings-page.ts';
import { VERSION } from './version.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function refuse(error: unknown): never {
  process.stderr.write(`ringmq: ${errorText(error)}\n`);
  process.exit(error instanceof RingmqError && error.code === 'config' ? EXIT_USAGE : EXIT_FAILED);
}

function stopOnSignals(broker: Broker): void {
  let signals = 0;
  const onSignal = (): void => {
    signals++;
    if (signals > 1) process.exit(EXIT_FAILED);
    print('stopping');
    broker.close().then(
      () => {
        print('stopped');
        process.exit(0);
      },
      (error) => refuse(error),
    );
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}

/** Loaded when it is asked for: a start of the broker does not wait for it. */
async function check(args: readonly string[]): Promise<void> {
  const { runCheck } = await import('./check-command.ts');
  process.exitCode = await runCheck(args, {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
  });
}

async function main(): Promise<void> {
  if (process.argv[2] === 'check') return check(process.argv.slice(3));
  const line = parseCommandLine(process.argv.slice(2), 'broker');
  if (line.help) return print(helpText('main.js'));
  if (line.version) return print(VERSION);
  if (line.settings) return print(settingsPage());
  const { settings, warnings } = loadFor(line);
  for (const warning of warnings) process.stderr.write(`ringmq: warning: ${warning}\n`);
  const log = createLog(settings.logLevel, 'main');
  const broker = await Broker.start({ settings, log, onStopped: () => process.exit(EXIT_FAILED) });
  stopOnSignals(broker);
  for (const text of bannerLines(broker)) print(text);
  print(readyLine(broker));
}

main().catch(refuse);
