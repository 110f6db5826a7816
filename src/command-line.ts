// The command line of both programs: `[-c FILE] [-n HOST:PORT;…] [--set NAME=VALUE]… [--help] [--version]`.
import { readArguments } from './arguments.ts';
import { type Loaded, type LoadOptions, loadSettings } from './config/load.ts';

export interface CommandLine {
  readonly help: boolean;
  readonly version: boolean;
  readonly settings: boolean;
  readonly options: LoadOptions;
}

export function parseCommandLine(args: readonly string[], role: 'broker' | 'nameServer'): CommandLine {
  const { values } = readArguments({
    args: [...args],
    strict: true,
    options: {
      config: { type: 'string', short: 'c' },
      namesrvAddr: { type: 'string', short: 'n' },
      set: { type: 'string', multiple: true },
      help: { type: 'boolean', short: 'h' },
      version: { type: 'boolean', short: 'v' },
      settings: { type: 'boolean' },
    },
  });
  return {
    help: values.help ?? false,
    version: values.version ?? false,
    settings: values.settings ?? false,
    options: {
      role,
      env: process.env,
      sets: values.set ?? [],
      ...(values.config === undefined ? {} : { file: values.config }),
      ...(values.namesrvAddr === undefined ? {} : { namesrvAddr: values.namesrvAddr }),
    },
  };
}

export function loadFor(line: CommandLine): Loaded {
  return loadSettings(line.options);
}

const CHECK_HELP = `
       node dist/main.js check STORE    checks the store of a stopped broker; check --help tells more
`;

export function helpText(program: string): string {
  return `Usage: node dist/${program} [-c FILE] [-n HOST:PORT[;HOST:PORT]] [--set NAME=VALUE]...

  -c, --config FILE       settings in a .properties file, with RocketMQ's names
  -n, --namesrvAddr LIST  name servers to register with; without it one runs in this process
  --set NAME=VALUE        one setting, above the file; may be repeated
  --settings              all settings with defaults and meanings, as Markdown
  -h, --help              this text
  -v, --version           the version
${program === 'main.js' ? CHECK_HELP : ''}`;
}
