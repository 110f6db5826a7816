// npm run test:interop: stock clients, Apache's name server and Apache's store against our broker; --all runs the whole kit.
//
// Two lanes at once, each with brokers of its own, since most scenarios wait: stores, name server and Java in one, everything else in the other.
// What the second one's kits print comes when they end.
import { parseArgs } from 'node:util';
import { ApacheBroker } from './apache.mjs';
import { killAll } from './children.mjs';
import { checkKilledStores } from './killed-stores.mjs';
import { checkRows, runKit } from './kit.mjs';
import { checkNameServer } from './name-server.mjs';
import { all, apacheRule, fast, killed } from './parts.mjs';
import { prerequisites, tempFolder } from './places.mjs';
import { offerRestarts } from './restarts.mjs';
import { RingMQ } from './ringmq.mjs';
import { checkStores } from './stores.mjs';
import { seconds, Tally } from './tally.mjs';

const { values: given } = parseArgs({
  options: {
    all: { type: 'boolean', default: false },
    /** Parts by name: `Java 5.5.0 JSON`, `Go`, `Node`, `rows`, `name server`, `stores`, `killed stores`. */
    part: { type: 'string', default: '' },
    /** Scenarios by name, instead of those that are due. */
    only: { type: 'string' },
    parallel: { type: 'string', default: '4' },
    /** `apache` runs everything against Apache's broker: a check of these scripts. */
    system: { type: 'string', default: 'ringmq' },
  },
});
const Ours = given.system === 'apache' ? ApacheBroker : RingMQ;
const options = { parallel: Number(given.parallel), limitMs: given.all ? 1_800_000 : 600_000 };
const chosen = (name) => new RegExp(given.part, 'i').test(name);

/** Where nothing of the tools is there, there is nothing to run; half of them in CI is a mistake, not a choice. */
function ready() {
  const { missing, some } = prerequisites();
  if (missing.length === 0) return true;
  console.log(`SKIP interop: ${missing.join(', ')} not found`);
  const required = process.env.CI === 'true' && some;
  console.log(required ? '0 passed, 1 failed, 0 skipped' : '0 passed, 0 failed, 1 skipped');
  process.exitCode = required ? 1 : 0;
  return false;
}

async function runKits(tally, wanted, settings, { kills = false, echo = false } = {}) {
  const parts = wanted.filter((part) => chosen(part.name));
  if (parts.length === 0) return;
  const folder = tempFolder('kit');
  const system = new Ours({ folder, settings });
  const up = await tally.check(`${system.name}: starts`, async () => {
    await system.start();
    return `broker=${system.broker} namesrv=${system.namesrv}`;
  });
  if (!up) return;
  const restarts = await offerRestarts(system, folder, kills);
  try {
    for (const part of parts) {
      await runKit({ ...part, only: given.only ?? part.only }, system, restarts, tally, { ...options, echo });
    }
  } finally {
    restarts.close();
    await tally.check(`${system.name}: stops in good order`, () => system.stop());
  }
}

const isJava = (part) => part.client === 'java';
const parts = given.all ? all : fast;

async function firstLane(tally) {
  if (!given.all && chosen('stores')) await checkStores(Ours, tally);
  if (!given.all && chosen('killed stores')) await checkKilledStores(Ours, tally);
  if (!given.all && chosen('name server')) await checkNameServer(Ours, tally, { ...options, echo: true });
  await runKits(tally, parts.filter(isJava), {}, { echo: true });
}

async function secondLane(tally) {
  const others = parts.filter((part) => !isJava(part));
  await runKits(tally, others, {});
  await runKits(tally, killed, {}, { kills: true });
  await runKits(tally, apacheRule.parts, apacheRule.settings);
}

async function main() {
  const start = performance.now();
  const tally = new Tally();
  if (chosen('rows')) await checkRows(tally);
  await Promise.all([firstLane(tally), secondLane(tally)]);
  console.log(`\ninterop: ${seconds(start)} s`);
  console.log(tally.line);
  // Not by itself: whatever a failed check has left open must not keep a finished run waiting.
  killAll();
  process.exit(tally.ok ? 0 : 1);
}

if (ready()) await main();
