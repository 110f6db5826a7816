// The topic of message traces: there from the start where that is asked for, and written by stock clients like any other.
import test from 'ava';
import { RequestCodes } from '../../src/protocol/codes.ts';
import { SimBroker } from './sim-broker.ts';
import { nameOf, recordsOf } from './sim-client.ts';

const TRACES = 'RMQ_SYS_TRACE_TOPIC';

test('trace: the topic is made at the start, once it is switched on, with one queue', async (t) => {
  for (const traceTopicEnable of [true, false]) {
    const sim = await SimBroker.start(1, { settings: { traceTopicEnable } });
    const config = sim.client().ask(RequestCodes.GET_TOPIC_CONFIG, { topic: TRACES });
    t.is(config.code, traceTopicEnable ? 0 : 17);
    if (traceTopicEnable) t.like(JSON.parse(config.body.toString()), { readQueueNums: 1, writeQueueNums: 1, perm: 6 });
    sim.assertHealthy();
  }
});

test('trace: clients store traces there, switched on or not, and sends say whether they may be traced', async (t) => {
  for (const [traceTopicEnable, traceOn] of [
    [true, true],
    [false, false],
  ] as const) {
    const sim = await SimBroker.start(2, { settings: { traceTopicEnable, traceOn } });
    const client = sim.client();
    const answer = client.askSend(TRACES, 0, 'trace1');
    t.is(answer.code, 0, answer.remark);
    t.like(answer.ext, { TRACE_ON: String(traceOn), MSG_REGION: 'DefaultRegion' });
    t.deepEqual(recordsOf(client.askPull(TRACES, 0, 'readers')).map(nameOf), ['trace1']);
    sim.assertHealthy();
  }
});
