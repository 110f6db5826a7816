// Starts processes, keeps what they print, and sees to it that none of them outlives this one.
import { spawn } from 'node:child_process';

const running = new Set();

export class Child {
  output = '';
  #listeners = new Set();

  /** @param options spawn's, and `echo`: pass the output through as it comes. */
  constructor(command, args, options = {}) {
    const { echo = false, ...rest } = options;
    // A group of its own, so that what a script starts is stopped with it.
    this.process = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true, ...rest });
    this.name = `${command} ${args[0] ?? ''}`.trim();
    running.add(this);
    const take = (chunk, to) => {
      this.output += chunk;
      if (echo) to.write(chunk);
      for (const each of this.#listeners) each();
    };
    this.process.stdout.setEncoding('utf8').on('data', (chunk) => take(chunk, process.stdout));
    this.process.stderr.setEncoding('utf8').on('data', (chunk) => take(chunk, process.stderr));
    this.ended = new Promise((resolve) => {
      this.process.on('error', (error) => {
        this.output += `${error.message}\n`;
        resolve({ code: null, signal: 'spawn' });
      });
      this.process.on('close', (code, signal) => resolve({ code, signal }));
    });
    this.ended.then((end) => {
      this.end = end;
      running.delete(this);
      for (const each of this.#listeners) each();
    });
  }

  kill(signal) {
    try {
      process.kill(-this.process.pid, signal);
    } catch {
      // it has ended already
    }
  }

  /** The match of a pattern in the output, once it is there. */
  async printed(pattern, limitMs) {
    const until = Date.now() + limitMs;
    for (;;) {
      const found = pattern.exec(this.output);
      if (found !== null) return found;
      if (this.end !== undefined) throw new Error(`${this.name} ended with ${this.end.code ?? this.end.signal}: ${tail(this.output)}`);
      if (Date.now() > until) throw new Error(`${this.name} did not print ${pattern} within ${limitMs / 1000} s: ${tail(this.output)}`);
      await this.#news(until - Date.now());
    }
  }

  /** Waits for the end by itself; beyond the limit it is killed. */
  async finished(limitMs) {
    const timer = setTimeout(() => this.kill('SIGKILL'), limitMs);
    const end = await this.ended;
    clearTimeout(timer);
    return end;
  }

  async stop(limitMs = 30_000) {
    this.process.kill('SIGTERM');
    const end = await this.finished(limitMs);
    this.kill('SIGKILL'); // what it may have left behind in its group
    return end;
  }

  #news(limitMs) {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#listeners.delete(done);
        resolve();
      };
      const timer = setTimeout(done, Math.max(1, limitMs));
      this.#listeners.add(done);
    });
  }
}

/** Runs to the end; throws where the exit code is not 0. */
export async function run(command, args, limitMs, options) {
  const child = new Child(command, args, options);
  const { code, signal } = await child.finished(limitMs);
  if (code !== 0) throw new Error(`${child.name} ended with ${code ?? signal}: ${tail(child.output)}`);
  return child.output;
}

export const tail = (text) => text.trim().split('\n').slice(-4).join(' | ').slice(-600);

/** The last resort; whoever starts a process stops it in good order first. */
export const killAll = () => {
  for (const child of running) child.kill('SIGKILL');
};
process.on('exit', killAll);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    killAll();
    process.exit(1);
  });
}
