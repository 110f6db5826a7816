// The programs as a user starts them: child processes on free ports with a folder of their own, killed and removed when the test ends.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';

const READY_LIMIT_MS = 40_000;
const EXIT_LIMIT_MS = 30_000;

export interface ProgramOptions {
  readonly sets?: Readonly<Record<string, string | number | boolean>>;
  readonly args?: readonly string[];
  readonly store?: string;
  /** Leaves out the free ports and the store: only `args` count. */
  readonly bare?: boolean;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A compiled file of src, by its name there. */
export function sourcePath(name: string): string {
  return fileURLToPath(new URL(`../../src/${name}`, import.meta.url));
}

export function folderFor(t: ExecutionContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'ringmq-system-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));
  return folder;
}

export function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
}

/** Small files, free ports, no second port: what a test's broker needs. */
export const smallSettings: Readonly<Record<string, string | number | boolean>> = {
  listenPort: 0,
  namesrvListenPort: 0,
  vipListenPort: -1,
  mappedFileSizeCommitLog: 16 * 1024 * 1024,
  mappedFileSizeConsumeQueue: 20_000,
  maxHashSlotNum: 1000,
  maxIndexNum: 4000,
};

export class Program {
  readonly child: ChildProcess;
  stdout = '';
  stderr = '';
  readonly exited: Promise<Exit>;
  readonly #changed: (() => void)[] = [];

  constructor(t: ExecutionContext, file: string, args: readonly string[]) {
    this.child = spawn(process.execPath, [sourcePath(file), ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => this.#add('stdout', text));
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => this.#add('stderr', text));
    this.exited = new Promise((resolve) => {
      this.child.once('close', (code, signal) => {
        resolve({ code, signal });
        this.#tell();
      });
    });
    t.teardown(async () => {
      this.child.kill('SIGKILL');
      await this.exited;
    });
  }

  get pid(): number {
    return this.child.pid ?? -1;
  }

  get running(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** The port behind `name=` in the ready line. */
  portOf(name: 'broker' | 'namesrv'): number {
    return Number(new RegExp(`^ready .*\\b${name}=[^ ]*:(\\d+)`, 'm').exec(this.stdout)?.[1]);
  }

  /** Waits for a text in stdout; throws with all output where the program ended or said something else for too long. */
  async until(pattern: RegExp, limitMs = READY_LIMIT_MS): Promise<void> {
    const timer = setTimeout(() => this.child.kill('SIGKILL'), limitMs);
    try {
      while (!pattern.test(this.stdout)) {
        if (!this.running) throw new Error(`ended before ${pattern}\nstdout: ${this.stdout}\nstderr: ${this.stderr}`);
        await new Promise<void>((resolve) => this.#changed.push(resolve));
      }
    } finally {
      clearTimeout(timer);
    }
  }

  async end(limitMs = EXIT_LIMIT_MS): Promise<Exit> {
    const timer = setTimeout(() => this.child.kill('SIGKILL'), limitMs);
    const exit = await this.exited;
    clearTimeout(timer);
    return exit;
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Exit> {
    this.child.kill(signal);
    return this.end();
  }

  #add(stream: 'stdout' | 'stderr', text: string): void {
    this[stream] += text;
    this.#tell();
  }

  #tell(): void {
    for (const tell of this.#changed.splice(0)) tell();
  }
}

export function brokerArgs(options: ProgramOptions, store: string): string[] {
  if (options.bare) return [...(options.args ?? [])];
  const sets = { ...smallSettings, storePathRootDir: store, ...options.sets };
  return [...Object.entries(sets).flatMap(([name, value]) => ['--set', `${name}=${value}`]), ...(options.args ?? [])];
}

/** Starts the broker's program without waiting for anything. */
export function spawnBroker(t: ExecutionContext, options: ProgramOptions = {}): Program {
  return new Program(t, 'main.js', brokerArgs(options, options.store ?? folderFor(t)));
}

/** Starts the broker's program and waits until it takes messages. */
export async function runBroker(t: ExecutionContext, options: ProgramOptions = {}): Promise<Program> {
  const program = spawnBroker(t, options);
  await program.until(/^ready .*\n/m);
  return program;
}
