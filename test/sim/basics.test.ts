// The simulation itself: the same seed gives the same run to the last byte, another seed another order.
import test from 'ava';
import { RequestCodes } from '../../src/protocol/codes.ts';
import { SimBroker } from './sim-broker.ts';
import { nameOf, recordsOf } from './sim-client.ts';

test('sim: a broker starts, takes a message, gives it back, and stops in order', async (t) => {
  const sim = await SimBroker.start(1);
  const client = sim.client();
  const sent = client.askSend('Orders', 1, 'm1');
  t.is(sent.code, 0, sent.remark);
  t.is(sent.ext['queueOffset'], '0');
  t.is(client.askNumber(RequestCodes.GET_MAX_OFFSET, 'Orders', 1), 1);
  const pulled = client.askPull('Orders', 1, 'readers');
  t.is(pulled.code, 0);
  t.deepEqual(recordsOf(pulled).map(nameOf), ['m1']);
  await sim.stop();
  sim.assertHealthy();
  t.deepEqual(sim.fatal, []);
});
