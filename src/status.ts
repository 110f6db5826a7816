#!/usr/bin/env node
// Shows which actor of a running broker is the bottleneck: asks it twice, and says what each of its actors did in between.
import { errorText, RingmqError } from './base/errors.ts';
import { parseStatusLine, statusHelp, watchBroker } from './status-watch.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

async function main(): Promise<void> {
  const options = parseStatusLine(process.argv.slice(2));
  if (options === null) process.stdout.write(statusHelp);
  else await watchBroker(options, (text) => void process.stdout.write(text));
}

main().catch((error) => {
  process.stderr.write(`ringmq-status: ${errorText(error)}\n`);
  process.exitCode = error instanceof RingmqError && error.code === 'config' ? EXIT_USAGE : EXIT_FAILED;
});
