// Everything that stock clients, tools and brokers asked Apache's name server, asked again of ours.
import test from 'ava';
import { present } from '../../src/base/assert.ts';
import { decodeTopicRoute } from '../../src/protocol/bodies/topic-route.ts';
import { cut, type GoldenFrame, goldenAbsent, goldenClients, goldenFrames, goldenProbes } from '../protocol/golden.ts';
import { decodeReply, type Reply, startServer, type TestServer } from './test-server.ts';
import type { TestClient } from './test-sockets.ts';

const REGISTER = 103;
const ROUTE = 105;

/** The registration of Apache's own broker. */
function registration(): Buffer {
  const frame = goldenFrames('broker-5.5.0').find((each) => each.code === REGISTER && each.dir === 'c2s');
  return Buffer.from(present(frame).b64, 'base64');
}

class Replay {
  readonly ns: TestServer;
  readonly #clients = new Map<string, TestClient>();

  constructor(ns: TestServer) {
    this.ns = ns;
  }

  send(conn: string, frame: Buffer): Reply[] {
    let client = this.#clients.get(conn);
    if (client === undefined || client.isClosed) {
      client = this.ns.sockets.client();
      this.#clients.set(conn, client);
    }
    client.send(frame);
    return client.frames().map(decodeReply);
  }

  /** Brings about the state in which Apache's server gave this answer. */
  prepare(request: GoldenFrame, answerCode: number, answer: Buffer | undefined): void {
    const { routes } = this.ns.server;
    if (routes.brokers.get('broker-a')?.brokerAddrs.has(0) !== true) this.send('the broker', registration());
    if (request.code !== ROUTE) return;
    const topic = String(request.ext?.['topic']);
    if (answerCode !== 0) {
      routes.deleteTopic(topic);
      return;
    }
    const decoded = answer === undefined ? undefined : decodeTopicRoute(cut(answer).body);
    const row = { brokerName: 'broker-a', readQueueNums: 4, writeQueueNums: 4, perm: 6, topicSysFlag: 0 };
    routes.registerTopic(topic, decoded?.ok ? decoded.value.queueDatas : [row]);
  }
}

/** Where the answer itself was not kept, the note says how the request was answered. */
function expectedCode(request: GoldenFrame, answer: GoldenFrame | undefined): number | undefined {
  if (answer !== undefined) return answer.code;
  const note = (request as GoldenFrame & { note?: string }).note ?? '';
  const found = /^answered (\d+)/.exec(note);
  return found === null ? undefined : Number(found[1]);
}

/** Values that depend on frames that were not kept; the name must still be there. */
const STATE = new Set(['wipeTopicCount', 'addTopicCount', 'changed']);

function comparableExt(ext: Record<string, unknown> | undefined): string[] {
  return Object.entries(ext ?? {})
    .map(([name, value]) => (STATE.has(name) ? name : `${name}=${String(value)}`))
    .sort();
}

/** Bodies that must be the same byte for byte: lists of unit topics, and routes where the one broker registered alike. */
function bodiesAreComparable(code: number, expected: Buffer, seen: Buffer): boolean {
  if (code === 311 || code === 312 || code === 313) return true;
  if (code !== ROUTE || expected.length === 0) return false;
  const brokers = [expected, seen].map((body) => {
    const decoded = decodeTopicRoute(body);
    const data = decoded.ok ? decoded.value.brokerDatas : [];
    return data.map((each) => `${each.enableActingMaster} ${[...each.brokerAddrs].join(' ')}`).join();
  });
  return brokers[0] === brokers[1];
}

if (goldenAbsent !== undefined) {
  test('golden: the data is beside the project', (t) => {
    t.log(goldenAbsent);
    t.pass();
  });
}

let routesCompared = 0;

for (const name of goldenClients()) {
  const frames = goldenFrames(name);
  const byNumber = new Map(frames.map((frame) => [frame.n, frame]));
  const requests = frames.filter((frame) => frame.conn.startsWith('ns') && frame.dir === 'c2s' && (frame.flag & 1) === 0);
  if (requests.length === 0) continue;

  test(`golden: ${name} gets the answers it got from Apache's name server`, async (t) => {
    const replay = new Replay(await startServer(t));
    for (const request of requests) {
      const title = `${name} n=${request.n} ${request.name}`;
      const answer = request.pair === undefined ? undefined : byNumber.get(request.pair);
      const answerBytes = answer === undefined ? undefined : Buffer.from(answer.b64, 'base64');
      const code = expectedCode(request, answer);
      replay.prepare(request, code ?? 0, answerBytes);
      const replies = replay.send(request.conn, Buffer.from(request.b64, 'base64'));
      t.is(replies.length, (request.flag & 2) === 0 ? 1 : 0, title);
      const reply = replies[0];
      if (reply === undefined) continue;
      t.is(reply.opaque, request.opaque, title);
      if (code !== undefined) t.is(reply.code, code, `${title} remark=${reply.remark}`);
      if (answer === undefined || answerBytes === undefined) continue;
      if (answer.code !== 0) t.is(reply.remark, answer.remark, title);
      t.deepEqual(comparableExt(reply.ext), comparableExt(answer.ext), title);
      const expected = cut(answerBytes).body;
      if (!bodiesAreComparable(request.code, expected, reply.body)) continue;
      t.is(reply.body.toString(), expected.toString(), title);
      routesCompared++;
    }
  });
}

/** Apache's accident: a success that says that nobody set a code. */
const ACCIDENT = 'not set any response code';

test('golden: unusual requests get the answers they got from Apache', async (t) => {
  const probes = goldenProbes().filter((probe) => probe.to === 'ns');
  if (probes.length === 0) {
    t.log(goldenAbsent ?? 'no probes');
    t.pass();
    return;
  }
  const replay = new Replay(await startServer(t));
  replay.send('the broker', registration());
  for (const probe of probes) {
    const reply = present(replay.send('probe', Buffer.from(probe.request, 'base64'))[0], probe.name);
    t.is<number | null, number | null>(reply.code, probe.answer, probe.name);
    t.is(reply.remark, probe.remark === ACCIDENT ? undefined : probe.remark, probe.name);
    t.deepEqual(reply.ext, probe.answerExt ?? {}, probe.name);
    const { body } = cut(Buffer.from(present(probe.response), 'base64'));
    // The list of topics and the version depend on what that broker had been through.
    if (probe.code !== 206 && probe.code !== 322) t.is(reply.body.toString(), body.toString(), probe.name);
    else t.true(reply.body.length > 0, probe.name);
  }
});

test.after('golden: enough routes were compared byte for byte', (t) => {
  if (goldenAbsent === undefined) t.true(routesCompared > 30, `compared=${routesCompared}`);
  else t.pass();
});
