// Checks routes and cluster lists in both dialects, against captured ones too.
import test from 'ava';
import { decodeClusterInfo, encodeClusterInfo } from '../../../src/protocol/bodies/cluster-info.ts';
import { decodeTopicRoute, encodeTopicRoute, type TopicRoute } from '../../../src/protocol/bodies/topic-route.ts';
import { cut, goldenAbsent, goldenClients, goldenFrames } from '../golden.ts';

const route: TopicRoute = {
  orderTopicConf: 'broker-a:4',
  queueDatas: [{ brokerName: 'broker-a', readQueueNums: 4, writeQueueNums: 3, perm: 6, topicSysFlag: 1 }],
  brokerDatas: [
    {
      cluster: 'C',
      brokerName: 'broker-a',
      brokerAddrs: new Map([
        [0, '127.0.0.1:1'],
        [1, '127.0.0.1:2'],
      ]),
      enableActingMaster: true,
      zoneName: 'z',
    },
  ],
  filterServerTable: new Map([['127.0.0.1:1', ['127.0.0.1:9']]]),
};

test('topic route: both dialects are read as they were written', (t) => {
  for (const dialect of ['strict', 'java'] as const) {
    t.deepEqual(decodeTopicRoute(encodeTopicRoute(route, dialect)), { ok: true, value: route });
  }
  t.notThrows(() => JSON.parse(encodeTopicRoute(route, 'strict').toString()));
  t.true(encodeTopicRoute(route, 'java').toString().includes('{0:"127.0.0.1:1",1:"127.0.0.1:2"}'));
});

test('topic route: wrong bodies are faults', (t) => {
  for (const body of ['', '[]', '3', '{"queueDatas":[']) t.false(decodeTopicRoute(Buffer.from(body)).ok, body);
  const empty: TopicRoute = { queueDatas: [], brokerDatas: [], filterServerTable: new Map() };
  t.deepEqual(decodeTopicRoute(Buffer.from('{"queueDatas":null,"unknown":1}')), { ok: true, value: empty });
});

test("topic route: Apache's routes and cluster lists are read and written the same", (t) => {
  let count = 0;
  for (const client of goldenClients()) {
    const frames = goldenFrames(client);
    const byNumber = new Map(frames.map((frame) => [frame.n, frame]));
    for (const request of frames) {
      const answer = request.pair === undefined ? undefined : byNumber.get(request.pair);
      if ((request.flag & 1) !== 0 || answer === undefined || answer.code !== 0) continue;
      const { body } = cut(Buffer.from(answer.b64, 'base64'));
      if (request.code === 105) {
        const decoded = decodeTopicRoute(body);
        const dialect = request.version >= 401 ? 'strict' : 'java';
        t.is(decoded.ok ? encodeTopicRoute(decoded.value, dialect).toString() : decoded.fault, body.toString());
        count++;
      } else if (request.code === 106) {
        const decoded = decodeClusterInfo(body);
        t.is(decoded.ok ? encodeClusterInfo(decoded.value).toString() : decoded.fault, body.toString());
        count++;
      }
    }
  }
  if (goldenAbsent === undefined) t.true(count > 25, `count=${count}`);
  else t.log(goldenAbsent);
});
