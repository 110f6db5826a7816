#!/usr/bin/env node
// Checks the store of a stopped broker, ours or Apache's, and says what it found: the command `ringmq check` on its own.
import { runCheck } from './check-command.ts';

process.exitCode = await runCheck(process.argv.slice(2), {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
});
