// A send-back that was acknowledged is stored, wherever process or power ended; and one that was refused is not taken for done.
import test from 'ava';
import { decodeOffsetMessageId } from '../../src/message/message-id.ts';
import { RequestCodes, ResponseCodes } from '../../src/protocol/codes.ts';
import { MemoryFiles } from '../../src/store/files/memory-files.ts';
import { Killer, type Moment } from '../faults/fault-points.ts';
import { Failure } from '../faults/rules.ts';
import { WatchedFiles } from '../faults/watched-files.ts';
import { PowerCuts } from './power-cuts.ts';
import { askSendBack, queueOf, SCHEDULE } from './retry-rig.ts';
import { SimBroker } from './sim-broker.ts';
import { nameOf, recordsOf, type SimClient, sendFields } from './sim-client.ts';

const TOPIC = 'Failing';
/** By the message's name: what its consumer asks for. */
const levels: Readonly<Record<string, number>> = { later: 0, soon: 1, dead: -1, late: 18 };

/** Each message is sent, and sent back as soon as it is acknowledged; the names of those whose send-back is acknowledged go into `done`. */
function sendAllBack(run: PowerCuts, client: SimClient, done: Set<string>): void {
  for (const [name, delayLevel] of Object.entries(levels)) {
    client.send(RequestCodes.SEND_MESSAGE_V2, sendFields(TOPIC, 0, name), Buffer.from('x'), (sent) => {
      if (run.killer.ended || sent.code !== ResponseCodes.SUCCESS) return;
      const offset = decodeOffsetMessageId(sent.ext['msgId'] ?? '')?.position ?? -1;
      const fields = { group: 'G', offset, delayLevel, originTopic: TOPIC };
      client.send(RequestCodes.CONSUMER_SEND_MSG_BACK, fields, undefined, (answer) => {
        if (!run.killer.ended && answer.code === ResponseCodes.SUCCESS) done.add(name);
      });
    });
  }
}

/** Returns whether the process was ended at its n-th change of the disk after the start. */
async function endAt(number: number, moment: Moment, diskKept: boolean): Promise<{ ended: boolean; missing: string[]; early: number }> {
  const run = new PowerCuts(number, { flush: 'SYNC_FLUSH' });
  await run.tryStart();
  const killer = new Killer(null, moment, number);
  run.killer = killer;
  (run.running.files as WatchedFiles).watch(killer);
  const done = new Set<string>();
  sendAllBack(run, run.running.client(), done);
  run.step(100_000, run.clock.steadyMs() + 200);
  run.cut(diskKept);
  await run.begin(0);
  const client = run.running.client();
  const found = new Set([0, 2, 17].flatMap((queueId) => queueOf(client, SCHEDULE, queueId)).map(nameOf));
  for (const record of queueOf(client, '%DLQ%G')) found.add(nameOf(record));
  run.running.assertHealthy();
  return { ended: killer.ended, missing: [...done].filter((name) => !found.has(name)), early: queueOf(client, '%RETRY%G').length };
}

for (const moment of ['before', 'within', 'after'] as const) {
  test.serial(`send-back faults: acknowledged is stored, with the process ended at each change of the disk: ${moment}`, async (t) => {
    let number = 1;
    for (; number < 200; number++) {
      const { ended, missing, early } = await endAt(number, moment, number % 2 === 0);
      t.deepEqual(missing, [], `ended at change ${number}`);
      t.is(early, 0, `ended at change ${number}`);
      if (!ended) break;
    }
    t.true(number > 5, 'there were changes at which to end');
  });
}

test('send-back faults: a log that takes no more says so, and what was sent back is not taken for done (BR-24)', async (t) => {
  const failure = new Failure({ kinds: ['write'], path: /commitlog\/\d+$/ });
  failure.isOn = false;
  const sim = await SimBroker.start(4, { files: new WatchedFiles(new MemoryFiles(), failure) });
  const client = sim.client();
  client.askSend('Orders', 0, 'm0');
  const position = recordsOf(client.askPull('Orders', 0, 'lookers'))[0]?.position ?? -1;
  failure.isOn = true;
  for (let i = 0; i < 2; i++) {
    const answer = askSendBack(client, 'G', position, 1);
    t.is(answer.code, ResponseCodes.SYSTEM_ERROR);
    t.regex(answer.remark ?? '', /^SERVICE_NOT_AVAILABLE: /);
  }
  sim.assertHealthy();
});

test('send-back faults: with SYNC_FLUSH the answer waits for the disk, though the copy says WAIT=false', async (t) => {
  const sim = await SimBroker.start(5, { settings: { flushDiskType: 'SYNC_FLUSH', syncFlushTimeout: 5_000 } });
  const client = sim.client();
  client.askSend('Orders', 0, 'm0');
  const position = recordsOf(client.askPull('Orders', 0, 'lookers'))[0]?.position ?? -1;
  askSendBack(client, 'MADE', position, 1);
  sim.runner.starve('flusher');
  const opaque = client.send(RequestCodes.CONSUMER_SEND_MSG_BACK, { group: 'G', offset: position, delayLevel: 1 });
  sim.runner.runFor(4_000);
  t.false(client.answers.has(opaque));
  sim.runner.feed('flusher');
  t.is(client.await(opaque).code, 0);
  sim.runner.starve('flusher');
  const late = askSendBack(client, 'H', position, 1);
  t.is(late.code, ResponseCodes.SYSTEM_ERROR);
  t.regex(late.remark ?? '', /^FLUSH_DISK_TIMEOUT: .*syncFlushTimeout=5000ms/);
  sim.assertHealthy();
});
