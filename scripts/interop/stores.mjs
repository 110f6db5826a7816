// A store moves between our broker and Apache's, in both directions, each stopped in good order: every message is served.
import { join } from 'node:path';
import { ApacheBroker } from './apache.mjs';
import { run } from './children.mjs';
import { loadgen, tempFolder } from './places.mjs';
import { call } from './wire.mjs';

/** Many small files, so that a run of seconds crosses the edges of some; the same for both sides. */
export const small = { mappedFileSizeCommitLog: 1_048_576, mappedFileSizeConsumeQueue: 4_000 };
export const topic = 'moving';
export const queueCount = 4;
const group = 'perf_verify'; // the group in which the load generator reads back
const commit = { consumerGroup: group, topic, queueId: 1 };
const codes = { queryOffset: 14, updateOffset: 15, createGroup: 200 };

export function generatorArgs(mode, broker, seconds) {
  const shape = ['--topic', topic, '--queues', String(queueCount), '--size', '2000', '--conns', '2', '--inflight', '8'];
  return [mode, '--broker', broker, ...shape, '--seconds', seconds, '--warmup', '0'];
}

export async function generate(mode, broker, file, more = []) {
  const output = await run(process.execPath, [loadgen, ...generatorArgs(mode, broker, '1'), ...file, ...more], 120_000);
  return JSON.parse(output.trim().split('\n').at(-1));
}

export async function send(broker, file, more) {
  const report = await generate('send', broker, ['--verify', '--save', file], more);
  return `${report.verify.acked} messages`;
}

export async function readBack(broker, file) {
  const report = await generate('verify', broker, ['--load', file]);
  return `${report.verify.readBack} messages read back`;
}

/** Only a group that is configured may commit; its configuration moves along. */
async function createGroup(broker) {
  const config = { groupName: group, consumeEnable: true, consumeBroadcastEnable: true, retryQueueNums: 1, retryMaxTimes: 16, brokerId: 0 };
  const answer = await call(broker, codes.createGroup, {}, JSON.stringify(config));
  if (answer.code !== 0) throw new Error(`creating a group was answered ${answer.code} ${answer.remark}`);
}

async function commitOffset(broker, offset) {
  const answer = await call(broker, codes.updateOffset, { ...commit, commitOffset: String(offset) });
  if (answer.code !== 0) throw new Error(`a commit was answered ${answer.code} ${answer.remark}`);
}

async function committed(broker, offset) {
  const answer = await call(broker, codes.queryOffset, commit);
  const seen = answer.fields?.offset;
  if (answer.code !== 0 || Number(seen) !== offset) throw new Error(`committed offset ${seen} (code ${answer.code}), not ${offset}`);
}

/** Runs steps on a started broker and stops it in any case; a failed stop fails the check as well. */
export async function during(broker, steps) {
  let seen;
  try {
    await broker.start();
    seen = await steps(broker.broker);
  } catch (error) {
    await broker.stop().catch(() => {});
    throw error;
  }
  await broker.stop();
  return seen;
}

/** One way and back: `from` writes, `to` serves that and writes more, `from` serves what was added. */
async function move(tally, from, to, title, folder) {
  const first = join(folder, 'first');
  const second = join(folder, 'second');
  const written = await tally.check(`stores: ${title}: ${from.name} writes`, () =>
    during(from, async (broker) => {
      const seen = await send(broker, first, []);
      await createGroup(broker);
      await commitOffset(broker, 7);
      return seen;
    }),
  );
  if (!written) return;
  const taken = await tally.check(`stores: ${title}: ${to.name} serves it and goes on`, () =>
    during(to, async (broker) => {
      const seen = await readBack(broker, first);
      await committed(broker, 7);
      await commitOffset(broker, 9);
      return `${seen}, then ${await send(broker, second, ['--no-create'])}`;
    }),
  );
  if (!taken) return;
  await tally.check(`stores: ${title}: ${from.name} takes it back`, () =>
    during(from, async (broker) => {
      await committed(broker, 9);
      return await readBack(broker, second);
    }),
  );
}

export async function checkStores(Ours, tally) {
  console.log('\n== stores move ==');
  for (const title of ['ours to theirs', 'theirs to ours']) {
    const folder = tempFolder('stores');
    const store = join(folder, 'store');
    const ours = new Ours({ folder: join(folder, 'ours'), store, settings: small });
    const theirs = new ApacheBroker({ folder: join(folder, 'theirs'), store, settings: small });
    const [from, to] = title.startsWith('ours') ? [ours, theirs] : [theirs, ours];
    await move(tally, from, to, title, folder);
  }
}
