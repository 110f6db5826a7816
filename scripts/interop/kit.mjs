// Runs one part of the conformance kit (a client, a dialect, a choice of scenarios) against a broker and adds up its sum.
import { join } from 'node:path';
import { Child, run } from './children.mjs';
import { kits } from './places.mjs';
import { unknown } from './scenarios.mjs';
import { seconds, sumOf } from './tally.mjs';

/** @param part client, only, and for Java also version, dialect */
export async function runKit(part, system, restarts, tally, { parallel, limitMs, echo }) {
  if (echo) console.log(`\n== kit: ${part.name} ==`);
  const start = performance.now();
  const args = ['--namesrv', system.namesrv, '--only', part.only, '--restart', restarts.command];
  const env = { ...process.env };
  if (part.client === 'java') {
    args.push('--parallel', String(parallel));
    Object.assign(env, { CLIENT_VERSION: part.version, SERIALIZE: part.dialect });
  }
  const child = new Child(join(kits, part.client, 'run'), args, { echo, env });
  const { code, signal } = await child.finished(limitMs);
  if (!echo) console.log(`\n== kit: ${part.name} ==\n${child.output}`);
  child.kill('SIGKILL');
  const sum = sumOf(child.output);
  if (sum !== undefined) tally.add(sum);
  await tally.check(`kit: ${part.name} runs to its end, the broker lives on`, async () => {
    if (sum === undefined) throw new Error(`no sum, the run ended with ${code ?? signal} after ${seconds(start)} s`);
    if (sum.passed + sum.failed === 0) throw new Error('nothing ran');
    if (!system.running) throw new Error('the broker is gone');
  });
  if (!system.running) await system.start();
}

/** The Go and the Node kit list their names: each must have its row in our table. */
export async function checkRows(tally) {
  for (const client of ['go', 'node']) {
    await tally.check(`kit: every scenario of ${client} has its row`, async () => {
      const listed = await run(join(kits, client, 'run'), ['--list'], 300_000);
      const lost = unknown(
        client,
        listed.split('\n').filter((name) => /^[a-z0-9-]+$/.test(name)),
      );
      if (lost.length > 0) throw new Error(`scripts/interop/scenarios.mjs does not know ${lost.join(', ')}`);
    });
  }
}
