// Stores that a kill or retention left behind move between our broker and Apache's: nothing acknowledged is lost, offsets stay right.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ApacheBroker, ApacheNameServer } from './apache.mjs';
import { Child, run, tail } from './children.mjs';
import { check, loadgen, tempFolder } from './places.mjs';
import { during, generate, generatorArgs, queueCount, readBack, send, small, topic } from './stores.mjs';
import { call } from './wire.mjs';

const codes = { maxOffset: 30, minOffset: 31 };
const UNIT_SIZE = 20;
const FILLER_SIZE = 0x7fffffff;

/** Sends until the broker is killed in the middle of it; what was acknowledged is in the file. */
async function sendUntilKilled(broker, file) {
  await broker.start();
  const shape = generatorArgs('send', broker.broker, '60');
  const child = new Child(process.execPath, [loadgen, ...shape, '--expect-kill', '--save', file]);
  await child.printed(/# sending/, 20_000);
  // Enough for what is deleted later, however fast the machine is.
  const until = Date.now() + 50_000;
  while (logFiles(broker.store).length < 8 && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 50));
  await broker.kill();
  const { code, signal } = await child.finished(60_000);
  if (code !== 0) throw new Error(`the load generator ended with ${code ?? signal}: ${tail(child.output)}`);
  const { acknowledged } = JSON.parse(child.output.trim().split('\n').at(-1));
  if (acknowledged < 100) throw new Error(`only ${acknowledged} messages were acknowledged before the kill`);
  return `${acknowledged} messages acknowledged`;
}

/** Our checker on a store that nobody runs on; it fails where there is damage. */
async function checked(store) {
  const sets = Object.entries(small).flatMap(([name, value]) => ['--set', `${name}=${value}`]);
  const output = await run(process.execPath, [check, store, ...sets], 60_000);
  return output.trim().split('\n').at(-1);
}

const logFiles = (store) => readdirSync(join(store, 'commitlog')).sort();

/** As retention does it: the oldest log files go, queues and index stay as they are. Returns where the log begins now. */
function dropLogFiles(store, count) {
  const names = logFiles(store);
  if (names.length < count + 2) throw new Error(`${names.length} log files are too few to delete ${count}`);
  for (const name of names.slice(0, count)) rmSync(join(store, 'commitlog', name));
  return Number(names[count]);
}

/** Of each queue the files all of whose messages are gone; the last one stays. Retention does this a little later than the former. */
function dropQueueFiles(store, logBegin) {
  for (let queueId = 0; queueId < queueCount; queueId++) {
    const folder = join(store, 'consumequeue', topic, String(queueId));
    for (const name of readdirSync(folder).sort().slice(0, -1)) {
      const units = readFileSync(join(folder, name));
      if (Number(units.readBigInt64BE(units.length - UNIT_SIZE)) >= logBegin) break;
      rmSync(join(folder, name));
    }
  }
}

/** Bounds of each queue as its files give them: the first message that the log still has, and the end. */
function boundsInFiles(store, logBegin) {
  return Array.from({ length: queueCount }, (_, queueId) => {
    const folder = join(store, 'consumequeue', topic, String(queueId));
    let min = -1;
    let max = 0;
    for (const name of readdirSync(folder).sort()) {
      const units = readFileSync(join(folder, name));
      for (let at = 0; at < units.length; at += UNIT_SIZE) {
        const size = units.readInt32BE(at + 8);
        if (size === 0) break;
        const offset = (Number(name) + at) / UNIT_SIZE;
        if (min < 0 && size !== FILLER_SIZE && Number(units.readBigInt64BE(at)) >= logBegin) min = offset;
        max = offset + 1;
      }
    }
    return { queueId, min, max };
  });
}

async function offsetOf(broker, code, queueId) {
  const answer = await call(broker, code, { topic, queueId: String(queueId) });
  if (answer.code !== 0) throw new Error(`an offset was answered ${answer.code} ${answer.remark}`);
  return Number(answer.fields.offset);
}

async function sameBounds(broker, expected) {
  for (const { queueId, min, max } of expected) {
    if (min <= 0) throw new Error(`queue ${queueId} lost no message, so nothing is seen here`);
    const seen = { min: await offsetOf(broker, codes.minOffset, queueId), max: await offsetOf(broker, codes.maxOffset, queueId) };
    if (seen.min !== min || seen.max !== max) {
      throw new Error(`queue ${queueId} is ${seen.min} to ${seen.max} for the broker, ${min} to ${max} in its files`);
    }
  }
}

/** Log files go; the broker begins where the log does, serves all that is left, and goes on. */
async function serveRest(broker, store, count, file) {
  const logBegin = dropLogFiles(store, count);
  // Apache's broker looks for the min offset in the first file of a queue only; ours has to find it wherever it is.
  if (broker instanceof ApacheBroker) dropQueueFiles(store, logBegin);
  const bounds = boundsInFiles(store, logBegin);
  return await during(broker, async (address) => {
    await sameBounds(address, bounds);
    const { messages } = await generate('consume', address, [], ['--seconds', '30']);
    await send(address, file, ['--no-create']);
    return `min offsets ${bounds.map(({ min }) => min).join(', ')}; ${messages} messages read; ${await readBack(address, file)}`;
  });
}

/** `from` is killed under load, `to` takes its store over; then log files go twice, and each opens what the other left. */
async function survive(tally, from, to, title, folder) {
  const { store } = from;
  const killed = join(folder, 'killed');
  const steps = [
    [`${from.name} is killed under load`, () => sendUntilKilled(from, killed)],
    ['the checker finds no damage', () => checked(store)],
    [`${to.name} serves all that was acknowledged`, () => during(to, (address) => readBack(address, killed))],
    ['the checker finds no damage', () => checked(store)],
    [`${from.name} opens it without its oldest log files`, () => serveRest(from, store, 2, join(folder, 'second'))],
    ['the checker finds no damage', () => checked(store)],
    [`${to.name} opens it without further log files`, () => serveRest(to, store, 1, join(folder, 'third'))],
    ['the checker finds no damage', () => checked(store)],
  ];
  for (const [name, step] of steps) if (!(await tally.check(`killed stores: ${title}: ${name}`, step))) return;
}

export async function checkKilledStores(Ours, tally) {
  console.log('\n== stores survive kills and retention ==');
  const nameServer = new ApacheNameServer(tempFolder('namesrv'));
  try {
    const up = await tally.check("killed stores: Apache's name server starts", () => nameServer.start());
    for (const title of up ? ['ours to theirs', 'theirs to ours'] : []) {
      const folder = tempFolder('killed');
      const store = join(folder, 'store');
      const ours = new Ours({ folder: join(folder, 'ours'), store, settings: small });
      const theirs = new ApacheBroker({ folder: join(folder, 'theirs'), store, settings: small, namesrv: nameServer.address });
      const [from, to] = title.startsWith('ours') ? [ours, theirs] : [theirs, ours];
      await survive(tally, from, to, title, folder);
    }
  } finally {
    await nameServer.stop();
  }
}
