// The flags that a sender gives its message: none of them hides it, or shifts what comes behind it, also when all is read again.
import test from 'ava';
import { RequestCodes, ResponseCodes } from '../../src/protocol/codes.ts';
import { readQueue } from './ledger.ts';
import { SimBroker } from './sim-broker.ts';
import { bodyOf, nameOf, type SimClient, sendFields } from './sim-client.ts';

const COMPRESSED = 1;
const PREPARED = 4;
const COMMITTED = 8;
const ROLLED_BACK = 12;

/** In the order of sending, with the offset that each was acknowledged with. */
function sendAll(client: SimClient): string[] {
  const sent: string[] = [];
  for (const sysFlag of [0, PREPARED, COMMITTED, ROLLED_BACK, COMPRESSED | PREPARED, -1, 0]) {
    const name = `m${sent.length}`;
    const answer = client.ask(RequestCodes.SEND_MESSAGE_V2, { ...sendFields('Orders', 0, name), f: sysFlag }, bodyOf(name, 10));
    sent.push(`${name}@${answer.code === ResponseCodes.SUCCESS ? answer.ext['queueOffset'] : answer.remark}`);
  }
  return sent;
}

function readAll(sim: SimBroker): string[] {
  return [...readQueue(sim.client(), 'Orders', 0)].map((record) => `${nameOf(record)}@${record.queueOffset}`);
}

test('sys flags: a message that calls itself prepared or rolled back is seen like any other, before and after a rebuild', async (t) => {
  const sim = await SimBroker.start(1);
  const client = sim.client();
  const sent = sendAll(client);
  t.deepEqual(
    sent,
    Array.from({ length: 7 }, (_, i) => `m${i}@${i}`),
  );
  t.deepEqual(readAll(sim), sent);
  const files = sim.kill();
  files.remove('/store/consumequeue');
  const next = await SimBroker.start(2, { files, clock: sim.clock });
  t.deepEqual(readAll(next), sent);
  t.is(next.client().askSend('Orders', 0, 'm7').ext['queueOffset'], '7');
  next.assertHealthy();
});
