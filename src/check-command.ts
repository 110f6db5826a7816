// What the check command does: reads its line, sees that nobody runs on the store, checks it, prints the report, gives the exit code.
import { readArguments, usageError } from './arguments.ts';
import { errorText } from './base/errors.ts';
import { checkReportLines } from './check-report.ts';
import { loadSettings } from './config/load.ts';
import type { Settings } from './config/settings.ts';
import { writtenBelow } from './store/abort-marker.ts';
import { type CheckReport, checkStore } from './store/check/check-store.ts';
import { runningPlace } from './store/files/folder-identity.ts';
import { NodeFiles } from './store/files/node-files.ts';
import { refuseUsedStore } from './store/store-lock.ts';

export const CheckExits = { sound: 0, damaged: 1, notChecked: 2 } as const;

export const checkHelp = `Usage: ringmq check [STORE] [-c FILE] [--set NAME=VALUE]... [--json]
       node dist/check.js, with the same

  STORE               the store's root folder, of RingMQ or of Apache's broker; else storePathRootDir counts
  -c, --config FILE   the broker's .properties file
  --set NAME=VALUE    one setting, above the file; the sizes must be those that the store was made with:
                      mappedFileSizeCommitLog, mappedFileSizeConsumeQueue, maxHashSlotNum, maxIndexNum
  --json              the report as JSON
  -h, --help          this text

The broker must be stopped. Nothing is changed. Exit code: 0 sound, 1 damaged, 2 could not be checked.
`;

export interface CheckStreams {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

interface CheckLine {
  readonly settings: Settings;
  readonly json: boolean;
}

/** The exit code; all that goes wrong is one line. */
export async function runCheck(args: readonly string[], streams: CheckStreams): Promise<number> {
  try {
    const line = parseCheckLine(args);
    if (line === null) {
      streams.out(checkHelp);
      return CheckExits.sound;
    }
    const report = await checkStopped(line.settings, streams.err);
    const root = line.settings.storePathRootDir;
    streams.out(line.json ? `${JSON.stringify({ store: root, ...report }, null, 2)}\n` : `${checkReportLines(root, report).join('\n')}\n`);
    return report.counts.damage > 0 ? CheckExits.damaged : CheckExits.sound;
  } catch (error) {
    streams.err(`ringmq check: ${errorText(error)}\n`);
    return CheckExits.notChecked;
  }
}

/** Null for a wish for help. Throws RingmqError `config` with what is allowed. */
function parseCheckLine(args: readonly string[]): CheckLine | null {
  const options = {
    config: { type: 'string', short: 'c' },
    set: { type: 'string', multiple: true },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  } as const;
  const { values, positionals } = readArguments({ args: [...args], allowPositionals: true, options });
  if (values.help === true) return null;
  if (positionals.length > 1) throw usageError(`one store at a time seen=${positionals.join(' ')}`);
  const sets = [...(values.set ?? []), ...positionals.map((root) => `storePathRootDir=${root}`)];
  const file = values.config === undefined ? {} : { file: values.config };
  return { settings: loadSettings({ env: process.env, sets, ...file }).settings, json: values.json === true };
}

/** Refused where a broker runs on the store, also where one was started meanwhile: what was read then means nothing. */
async function checkStopped(settings: Settings, tell: (text: string) => void): Promise<CheckReport> {
  await refuseUsedStore(settings.storePathRootDir);
  const onProgress = (position: number, end: number): void => tell(`checking the log: position ${position} of ${end}\n`);
  const files = new NodeFiles();
  const root = settings.storePathRootDir;
  const written = writtenBelow(files, root, runningPlace(root)) >= 0;
  const report = checkStore(files, settings, { onProgress, written });
  await refuseUsedStore(settings.storePathRootDir);
  return report;
}
