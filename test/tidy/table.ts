// The house rules as tables: who may import whom, which file is the door to a package, where a banned call has its place.

/** Folders under src; 'root' stands for the files directly in src, which compose all the others; topology.ts is a table that actors read too. */
export const layers: Readonly<Record<string, readonly string[]>> = {
  base: [],
  protocol: ['base'],
  message: ['base'],
  core: ['base', 'protocol', 'message'],
  store: ['base', 'message'],
  runtime: ['base'],
  actors: ['base', 'protocol', 'message', 'core', 'store', 'runtime', 'config', 'topology'],
  topology: ['base'],
  nameserver: ['base', 'protocol', 'core', 'runtime'],
  config: ['base'],
  client: ['base', 'protocol', 'message'],
  console: ['base', 'client'],
  cli: ['base', 'client'],
  root: [
    'base',
    'protocol',
    'message',
    'core',
    'store',
    'runtime',
    'actors',
    'nameserver',
    'config',
    'client',
    'console',
    'cli',
    'topology',
  ],
};

/** Each folder in src/actors is an actor, and so are these where one file is enough; other files there are what actors share. */
export const actorFiles =
  /^src\/actors\/(ingress|commit-log|dispatch|indexer|scheduler|filter|flusher|coordinator|replicator|name-server)\.ts$/;

/** Layers that only decide: no file, socket, clock or thread of the platform. */
export const pureLayers: readonly string[] = ['protocol', 'message', 'core'];
export const impureModules =
  /^node:(fs|net|tls|dgram|http|https|http2|os|child_process|cluster|worker_threads|timers|perf_hooks|process|readline)(\/|$)/;

/** Doors that are decided; any other package may have one importer too, whichever it is. */
export const doors: Readonly<Record<string, string>> = {
  nanoid: 'src/base/id.ts',
  pino: 'src/base/log.ts',
};

/** Modules of the platform with few doors: the files that may open them, and names that open nothing. */
export const platformDoors: readonly { readonly module: RegExp; readonly places: RegExp; readonly harmless: RegExp }[] = [
  { module: /^node:fs(\/|$)/, places: /^src\/(store\/files\/|config\/|[^/]+\.ts$)/, harmless: /^$/ },
  { module: /^node:net$/, places: /^src\/(runtime|client)\/|^src\/store\/store-lock\.ts$/, harmless: /^isIP/ },
  { module: /^node:worker_threads$/, places: /^src\/(runtime\/|[^/]+\.ts$)/, harmless: /^$/ },
];

/** Where the program starts: what none of these reaches is not part of it. */
export const entries: readonly string[] = [
  'src/main.ts',
  'src/namesrv.ts',
  'src/status.ts',
  'src/check.ts',
  'src/index.ts',
  'src/thread.ts',
];

const programs = /^src\/(main|namesrv)\.ts$/;
const runners = /^src\/[^/]+\.ts$|^src\/runtime\/.*(runner|supervisor|control|transport)[^/]*\.ts$/;

/** Calls of the platform, as they are written, and the files of src that may make them. */
export const callPlaces: readonly { readonly call: RegExp; readonly places: RegExp; readonly instead: string }[] = [
  { call: /^Date\.now$/, places: /^src\/base\/clock\.ts$/, instead: 'take a Clock' },
  { call: /^performance\.now$/, places: /^src\/base\/clock\.ts$/, instead: 'take a Clock' },
  { call: /^new Date\(\)$/, places: /^src\/base\/clock\.ts$/, instead: 'take a Clock' },
  { call: /^Math\.random$/, places: /^src\/base\/random\.ts$/, instead: 'take a Random' },
  { call: /^(globalThis\.)?(setTimeout|setInterval|setImmediate)$/, places: runners, instead: 'let the runner wait' },
  { call: /^console\.\w+$/, places: programs, instead: 'take a Log' },
  { call: /^process\.exit$/, places: programs, instead: 'return or throw, the entry decides' },
];

export const maxFileLines = 300;
export const maxFunctionLines = 70;

/** Files of src that only tests reach, each with its reason; everything else must be reached from where the program starts. */
export const reachedByTests: readonly { readonly files: RegExp; readonly reason: string }[] = [
  {
    files: /^src\/runtime\/(memory-[a-z]+|sim-runner)\.ts$/,
    reason: 'the deterministic runner and its network, for tests of the whole broker',
  },
  {
    files:
      /^src\/protocol\/(bodies\/(assignment|batch-ack)|commands\/(check-transaction|consume-directly|consumer-running-info|consumer-status|end-transaction|pop-ack|pop-message|push-reply|recall-message|reset-offset))\.ts$/,
    reason: 'commands of later issues, held against what stock clients and brokers sent',
  },
];
