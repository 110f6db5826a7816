// The check command: what it prints, its exit codes, that it refuses a store in use, and that it changes nothing.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { checkHelp, runCheck } from '../src/check-command.ts';
import { startBroker } from '../src/index.ts';
import { NodeFiles } from '../src/store/files/node-files.ts';
import { lockStore } from '../src/store/store-lock.ts';
import { WireClient } from './system/wire-client.ts';

const sizes = ['mappedFileSizeCommitLog=65536', 'mappedFileSizeConsumeQueue=1000', 'maxHashSlotNum=100', 'maxIndexNum=400'];
const sizeArgs = sizes.flatMap((size) => ['--set', size]);

function folder(t: ExecutionContext): string {
  const path = mkdtempSync(join(tmpdir(), 'ringmq-check-'));
  t.teardown(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A store of a broker that was stopped cleanly. */
async function makeStore(t: ExecutionContext): Promise<string> {
  const root = join(folder(t), 'store');
  const broker = await startBroker({ store: root, settings: Object.fromEntries(sizes.map((size) => size.split('=') as [string, string])) });
  const client = await WireClient.for(t, broker.port);
  for (let i = 0; i < 20; i++) t.is((await client.send('checked', `message ${i}`)).code, 0);
  await broker.close();
  return root;
}

interface Run {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function run(...args: string[]): Promise<Run> {
  let out = '';
  let err = '';
  const code = await runCheck(args, {
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
  });
  return { code, out, err };
}

function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] as number) ^ 0xff;
  writeFileSync(path, bytes);
}

/** All files with their times and contents. */
function picture(root: string): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const stat = statSync(join(root, name));
      return `${name} ${stat.mtimeMs} ${stat.isFile() ? readFileSync(join(root, name)).toString('base64') : ''}`;
    });
}

test('check command: a sound store gives 0, a damaged one 1 with the place, and neither is changed', async (t) => {
  const root = await makeStore(t);
  const before = picture(root);
  const sound = await run(root, ...sizeArgs);
  t.deepEqual({ code: sound.code, err: sound.err }, { code: 0, err: '' });
  t.regex(
    sound.out,
    /^store \S+, cleanly stopped\nlog 0 to \d+: 20 records; \d+ queues; 1 index files: \d+ entries\n\nThe store is sound: /,
  );
  t.deepEqual(picture(root), before);
  flip(join(root, 'commitlog', '0'.repeat(20)), 90);
  const damaged = await run(root, ...sizeArgs);
  t.is(damaged.code, 1);
  t.regex(damaged.out, /DAMAGE {2}recordDamaged: .*\n {2}\S+commitlog\/0{20} position=0: badBodyCrc;.*, not a sound record\n/);
  t.regex(damaged.out, /\nThe store is damaged: 1 damaged, 0 repaired by the next start, 0 notes\.\n$/);
  const json = JSON.parse((await run(root, '--json', ...sizeArgs)).out) as { store: string; findings: { kind: string }[] };
  t.is(json.store, root);
  t.deepEqual(
    json.findings.map(({ kind }) => kind),
    ['recordDamaged'],
  );
});

test('check command: what cannot be checked gives 2 and one line that says why', async (t) => {
  const root = await makeStore(t);
  const cases: [readonly string[], RegExp][] = [
    [[join(root, 'nowhere')], /^ringmq check: there is no store in this folder.*nowhere\n$/],
    [[root], /mappedFileSizeCommitLog.*sizeBytes=65536 sizeBytesSet=1073741824\n$/],
    [[root, 'another'], /one store at a time.*--help/],
    [[root, '--frobnicate'], /frobnicate.*--help/],
    [[root, '--set', 'mappedFileSizeCommitLog=ten'], /must be/],
  ];
  for (const [args, says] of cases) {
    const { code, out, err } = await run(...args);
    t.is(code, 2, args.join(' '));
    t.is(out, '');
    t.regex(err, says);
  }
  const help = await run('--help');
  t.deepEqual(help, { code: 0, out: checkHelp, err: '' });
});

test('check command: a store in use is refused with the process that has it, and its lock is not touched', async (t) => {
  const root = await makeStore(t);
  const lock = await lockStore(new NodeFiles(), root);
  const before = picture(root);
  const refused = await run(root, ...sizeArgs);
  t.is(refused.code, 2);
  t.regex(refused.err, new RegExp(`a broker runs on this store: stop it first storePathRootDir=${root}( pid=${process.pid})?\n$`));
  t.deepEqual(picture(root), before);
  await lock.release();
  t.is((await run(root, ...sizeArgs)).code, 0);
});

test('check command: settings of the broker’s own file give folder and sizes', async (t) => {
  const root = await makeStore(t);
  const file = join(folder(t), 'broker.conf');
  writeFileSync(file, `${[`storePathRootDir=${root}`, ...sizes].join('\n')}\n`);
  const { code, out } = await run('-c', file);
  t.is(code, 0);
  t.true(out.startsWith(`store ${root}, cleanly stopped\n`));
});

test('check command: both programs offer it', async (t) => {
  const root = await makeStore(t);
  for (const program of [['main.js', 'check'], ['check.js']]) {
    const [name = '', ...args] = program;
    const path = fileURLToPath(new URL(`../src/${name}`, import.meta.url));
    const child = spawn(process.execPath, [path, ...args, root, ...sizeArgs], { stdio: ['ignore', 'pipe', 'inherit'] });
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      out += part;
    });
    const [code] = (await once(child, 'close')) as [number];
    t.is(code, 0, name);
    t.regex(out, /The store is sound/);
  }
});
