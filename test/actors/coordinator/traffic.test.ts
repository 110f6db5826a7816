// Figures of traffic: 315 and 317, the rates in 28, 202 and 208, by a clock that the test moves.
import test from 'ava';
import type { ReadCounts } from '../../../src/actors/answer-messages.ts';
import { Positions } from '../../../src/actors/context.ts';
import { Messages } from '../../../src/actors/messages.ts';
import { RequestCodes } from '../../../src/protocol/codes.ts';
import { Bench } from './bench.ts';
import type { Client } from './client.ts';

interface Window {
  sum: number;
  tps: number;
  avgpt: number;
}

interface Stats {
  statsMinute: Window;
  statsHour: Window;
  statsDay: Window;
}

function stats(admin: Client, statsName: string, statsKey: string): Stats | null {
  const answer = admin.ask(RequestCodes.VIEW_BROKER_STATS_DATA, { statsName, statsKey });
  return answer.code === 0 ? (JSON.parse(answer.body.toString()) as Stats) : null;
}

function report(bench: Bench, counts: ReadCounts): void {
  bench.outboxOf(0).sendJson(Messages.readCounts, counts);
  bench.run();
}

function put(bench: Bench, topic: string, queueId: number, messages: number, bytes: number): void {
  const key = bench.key(topic, queueId);
  bench.ends.set(key, bench.ends.get(key) + messages);
  (bench.bytes[key] as number) += bytes;
  bench.positions.set(Positions.appended, bench.positions.get(Positions.appended) + bytes);
}

test('traffic: puts are counted by topic, queue and broker', (t) => {
  const bench = new Bench();
  const admin = bench.connect();
  admin.createTopic('T', 2);
  put(bench, 'T', 0, 30, 3_000);
  put(bench, 'T', 1, 10, 500);
  t.is(stats(admin, 'TOPIC_PUT_NUMS', 'T')?.statsMinute.sum, 0, 'there, but not sampled yet');
  bench.advance(10_000);
  t.deepEqual(stats(admin, 'TOPIC_PUT_NUMS', 'T')?.statsMinute, { sum: 40, tps: 4, avgpt: 1 });
  t.is(stats(admin, 'TOPIC_PUT_SIZE', 'T')?.statsMinute.sum, 3_500);
  t.is(stats(admin, 'QUEUE_PUT_NUMS', 'T@1')?.statsMinute.sum, 10);
  t.is(stats(admin, 'QUEUE_PUT_SIZE', 'T@0')?.statsMinute.avgpt, 100);
  t.is(stats(admin, 'BROKER_PUT_NUMS', 'DefaultCluster')?.statsMinute.sum, 40);
  bench.advance(60_000);
  t.is(stats(admin, 'TOPIC_PUT_NUMS', 'T')?.statsMinute.sum, 0);
  t.is(stats(admin, 'TOPIC_PUT_NUMS', 'T')?.statsHour.sum, 40);
  t.is(stats(admin, 'TOPIC_PUT_NUMS', 'T')?.statsDay.sum, 40);
  t.is(admin.ask(RequestCodes.VIEW_BROKER_STATS_DATA, { statsName: 'NO_SUCH_STATS', statsKey: 'T' }).code, 1);
  t.is(admin.ask(RequestCodes.VIEW_BROKER_STATS_DATA, { statsName: 'TOPIC_PUT_NUMS', statsKey: 'U' }).code, 1);
});

test('traffic: what lay in the store at the start was not put now', (t) => {
  const queues = [{ key: 0, topic: 'T', queueId: 0 }];
  const first = new Bench();
  first.connect().createTopic('T', 1);
  const bench = new Bench({ files: first.files, queues, nextKey: 1, ends: new Map([[0, 500]]) });
  const admin = bench.connect();
  put(bench, 'T', 0, 2, 20);
  bench.advance(10_000);
  t.is(stats(admin, 'TOPIC_PUT_NUMS', 'T')?.statsMinute.sum, 2);
});

test('traffic: gets are counted by group and topic, by queue, and where messages came back', (t) => {
  const bench = new Bench();
  const admin = bench.connect();
  admin.createTopic('T', 2);
  report(bench, {
    rows: [
      ['G', 'T', 0, 2, 40, 4_000, 40],
      ['G', 'T', 1, 1, 20, 1_000, 20],
      ['G', 'GONE', 0, 1, 1, 1, 1],
    ],
    sentBack: [['G', 'T', 3]],
  });
  bench.advance(10_000);
  t.deepEqual(stats(admin, 'GROUP_GET_NUMS', 'T@G')?.statsMinute, { sum: 60, tps: 6, avgpt: 20 });
  t.is(stats(admin, 'GROUP_GET_SIZE', 'T@G')?.statsMinute.sum, 5_000);
  t.is(stats(admin, 'QUEUE_GET_NUMS', 'T@1@G')?.statsMinute.sum, 20);
  t.is(stats(admin, 'SNDBCK_PUT_NUMS', 'T@G')?.statsMinute.sum, 3);
  t.is(stats(admin, 'BROKER_GET_NUMS', 'DefaultCluster')?.statsMinute.sum, 60);
  t.is(stats(admin, 'GROUP_GET_NUMS', 'GONE@G'), null);
  admin.ask(RequestCodes.DELETE_SUBSCRIPTIONGROUP, { groupName: 'G', cleanOffset: true });
  t.is(stats(admin, 'GROUP_GET_NUMS', 'T@G'), null);
});

test('traffic: progress shows what was given and not committed, and the rates', (t) => {
  const bench = new Bench();
  const admin = bench.connect();
  admin.createTopic('T', 1);
  admin.ask(RequestCodes.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, Buffer.from('{"groupName":"G"}'));
  put(bench, 'T', 0, 100, 100);
  admin.commit('G', 'T', 0, 20);
  report(bench, { rows: [['G', 'T', 0, 1, 32, 32, 52]], sentBack: [] });
  bench.advance(10_000);
  const progress = admin.ask(RequestCodes.GET_CONSUME_STATS, { consumerGroup: 'G', topic: 'T' }).body.toString();
  t.true(progress.includes('"brokerOffset":100,"consumerOffset":20,"lastTimestamp":0,"pullOffset":52'), progress);
  t.true(progress.startsWith('{"consumeTps":3.2,'));
  const all = admin.ask(RequestCodes.GET_BROKER_CONSUME_STATS, { isOrder: false }).body.toString();
  t.true(all.includes('"totalDiff":80,"totalInflightDiff":32'), all);
  t.true(all.includes('{"G":[{"consumeTps":3.2,'));
  t.true(admin.ask(RequestCodes.GET_TOPIC_STATS_INFO, { topic: 'T' }).body.toString().includes('"topicPutTps":10'));
  t.false(admin.ask(RequestCodes.GET_BROKER_CONSUME_STATS, { isOrder: true }).body.toString().includes('"topic":"T"'));
});

test('traffic: runtime figures have three rates, and totals of days', (t) => {
  const bench = new Bench();
  const admin = bench.connect();
  const figures = (): Record<string, string> =>
    (admin.json(RequestCodes.GET_BROKER_RUNTIME_INFO) as { table: Record<string, string> }).table;
  t.is(figures()['putTps'], '0.0 0.0 0.0');
  for (const name of ['getTransferredTps', 'getTransferedTps']) t.is(figures()[name], '0.0 0.0 0.0', 'tools of 5.x and of 4.x');
  bench.logCounters.set('records', 50).set('recordBytes', 500);
  bench.advance(10_000);
  t.is(figures()['putTps'], '5.0 5.0 5.0');
  bench.advance(10_000);
  t.is(figures()['putTps'], '0.0 2.5 2.5');
  t.is(figures()['putMessageTimesTotal'], '50');
  t.is(figures()['putMessageAverageSize'], '10.0');
  t.is(figures()['msgPutTotalTodayNow'], '50');
  bench.advance(86_400_000);
  t.is(figures()['msgPutTotalTodayMorning'], '50');
  t.is(figures()['earliestMessageTimeStamp'], '-1');
  t.is(figures()['brokerVersion'], '479', 'exporters end without it');
  t.true(
    figures()
      ['putMessageDistributeTime']?.split(' ')
      .every((span) => /^\[[^\]:]+\]:\d+$/.test(span)),
  );
});

test('traffic: the slowest group of a queue, without some, and against one', (t) => {
  const bench = new Bench();
  const admin = bench.connect();
  admin.createTopic('T', 2);
  for (const group of ['A', 'B', 'C'])
    admin.ask(RequestCodes.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, Buffer.from(`{"groupName":"${group}"}`));
  admin.commit('A', 'T', 0, 10);
  admin.commit('B', 'T', 0, 4);
  admin.commit('C', 'T', 1, 7);
  const corrections = (ext: Record<string, string>): unknown =>
    (admin.json(RequestCodes.QUERY_CORRECTION_OFFSET, { topic: 'T', compareGroup: 'A', ...ext }) as { correctionOffsets: unknown })
      .correctionOffsets;
  t.deepEqual(corrections({}), { 0: 4, 1: 7 });
  t.deepEqual(corrections({ filterGroups: 'B,C' }), { 0: 10 });
  t.deepEqual(corrections({ compareGroup: 'B', filterGroups: 'B' }), { 0: Number.MAX_SAFE_INTEGER, 1: 7 });
});
