// Requests of tools about how far queues reach, how far groups have read them, and the traffic.
import { queueCountOf } from '../../../core/topic-config.ts';
import type { MessageQueue } from '../../../protocol/bodies/message-queue.ts';
import { RequestCodes, ResponseCodes } from '../../../protocol/codes.ts';
import {
  type BrokerStatsRequest,
  decodeAllConsumeStatsRequest,
  decodeBrokerStatsRequest,
  encodeAllConsumeStats,
  encodeBrokerStats,
} from '../../../protocol/commands/broker-stats.ts';
import {
  type ConsumeOffset,
  type ConsumeStats,
  type ConsumeStatsRequest,
  decodeConsumeStatsRequest,
  encodeConsumeStats,
} from '../../../protocol/commands/consume-stats.ts';
import {
  type CorrectionOffsetRequest,
  decodeCorrectionOffsetRequest,
  encodeCorrectionOffsets,
} from '../../../protocol/commands/correction-offset.ts';
import { decodeTimeSpanRequest, encodeTimeSpans, type QueueTimeSpan, type TimeSpanRequest } from '../../../protocol/commands/time-span.ts';
import { decodeTopicStatsRequest, encodeTopicStats, type TopicOffset } from '../../../protocol/commands/topic-stats.ts';
import type { Desk } from '../desk.ts';
import { decoding, type HandlerRow, type Reply, refuse, withBody } from '../request.ts';
import { TimeGaps } from '../time-gaps.ts';

export const statsHandlers: readonly HandlerRow[] = [
  [RequestCodes.GET_TOPIC_STATS_INFO, decoding(decodeTopicStatsRequest, (desk, r) => onTopicStats(desk, r.topic))],
  [RequestCodes.GET_CONSUME_STATS, decoding(decodeConsumeStatsRequest, onConsumeStats)],
  [RequestCodes.QUERY_CONSUME_TIME_SPAN, decoding(decodeTimeSpanRequest, onTimeSpan)],
  [RequestCodes.QUERY_CORRECTION_OFFSET, decoding(decodeCorrectionOffsetRequest, onCorrection)],
  [RequestCodes.VIEW_BROKER_STATS_DATA, decoding(decodeBrokerStatsRequest, onBrokerStats)],
  [RequestCodes.GET_BROKER_CONSUME_STATS, decoding(decodeAllConsumeStatsRequest, (desk, r) => onAllConsumeStats(desk, r.isOrder))],
];

/** What tools sum up as "not read" and "given out, not committed". */
interface Lag {
  diff: number;
  inflight: number;
}

function onTopicStats(desk: Desk, topic: string): Reply {
  const config = desk.topics.table.get(topic);
  if (config === undefined) return refuse(ResponseCodes.TOPIC_NOT_EXIST, `topic[${topic}] not exist`);
  const gaps = new TimeGaps();
  const offsetTable: [MessageQueue, TopicOffset][] = [];
  for (let queueId = 0; queueId < queueCountOf(config); queueId++) {
    const minOffset = desk.topics.beginOf(topic, queueId);
    const maxOffset = desk.topics.endOf(topic, queueId);
    const key = desk.topics.keys.keyOf(topic, queueId);
    // Of an emptied queue nobody knows any more when its last message came.
    const lastUpdateTimestamp = maxOffset > minOffset ? gaps.timeOf(key, maxOffset - 1, -1) : maxOffset > 0 ? -1 : 0;
    offsetTable.push([queueOf(desk, topic, queueId), { minOffset, maxOffset, lastUpdateTimestamp }]);
  }
  return { ...withBody(encodeTopicStats({ offsetTable, topicPutTps: desk.traffic.putTps(topic) })), gaps: gaps.asks };
}

function onConsumeStats(desk: Desk, r: ConsumeStatsRequest): Reply {
  const gaps = new TimeGaps();
  const stats = consumeStatsOf(desk, r.consumerGroup, topicsOf(desk, r), gaps);
  return { ...withBody(encodeConsumeStats(stats)), gaps: gaps.asks };
}

function consumeStatsOf(desk: Desk, group: string, topics: Iterable<string>, gaps: TimeGaps, lag?: Lag): ConsumeStats {
  const offsetTable: [MessageQueue, ConsumeOffset][] = [];
  let consumeTps = 0;
  for (const topic of topics) {
    const config = desk.topics.table.get(topic);
    if (config !== undefined) consumeTps += desk.traffic.getTps(group, topic);
    for (let queueId = 0; queueId < (config?.readQueueNums ?? 0); queueId++) {
      // Tools take the difference for the lag. A group that has not committed is where it will start, or else at the first message;
      // neither what retention took nor what was committed beyond the end is any lag.
      const brokerOffset = desk.topics.endOf(topic, queueId);
      const begin = desk.topics.beginOf(topic, queueId);
      const consumerOffset = Math.min(brokerOffset, Math.max(begin, desk.offsets.query(group, topic, queueId, true)));
      const pullOffset = Math.min(brokerOffset, Math.max(consumerOffset, desk.traffic.given.get(group, topic, queueId)));
      const key = desk.topics.keys.keyOf(topic, queueId);
      const lastTimestamp = consumerOffset > begin ? gaps.timeOf(key, consumerOffset - 1, 0) : 0;
      offsetTable.push([queueOf(desk, topic, queueId), { brokerOffset, consumerOffset, pullOffset, lastTimestamp }]);
      if (lag === undefined) continue;
      lag.diff += brokerOffset - consumerOffset;
      lag.inflight += pullOffset - consumerOffset;
    }
  }
  return { offsetTable, consumeTps };
}

/** Topics of a list are answered for as they are, whoever reads them. */
function topicsOf(desk: Desk, r: ConsumeStatsRequest): Iterable<string> {
  const listed = (r.topicList ?? '').split(';').filter((topic) => topic.trim() !== '');
  if (listed.length > 0) return new Set(listed.map((topic) => topic.trim()));
  const topic = r.topic?.trim() ?? '';
  if (topic === '') return topicsOfGroup(desk, r.consumerGroup);
  return isRead(desk, r.consumerGroup, topic) ? [topic] : [];
}

/** Those that it has read, and those that it subscribes to. */
function topicsOfGroup(desk: Desk, group: string): string[] {
  const topics = new Set([...desk.offsets.table.topicsOf(group), ...(desk.consumers.get(group)?.merged.keys() ?? [])]);
  return [...topics].filter((topic) => isRead(desk, group, topic));
}

/**
 * What members have left off reading is no lag of theirs as long as they are there, and how far members that broadcast are only they
 * know: tools say so where the answer is empty.
 */
function isRead(desk: Desk, group: string, topic: string): boolean {
  const live = desk.consumers.get(group);
  if (live === undefined || live.merged.size === 0) return true;
  return live.merged.has(topic) && live.messageModel !== 'BROADCASTING';
}

function onAllConsumeStats(desk: Desk, isOrder: boolean): Reply {
  const gaps = new TimeGaps();
  const lag: Lag = { diff: 0, inflight: 0 };
  const groups = new Map<string, ConsumeStats[]>();
  for (const { groupName } of desk.groups.table.all()) {
    const stats: ConsumeStats[] = [];
    for (const topic of topicsOfGroup(desk, groupName)) {
      const config = desk.topics.table.get(topic);
      if (config === undefined || (isOrder && !config.order)) continue;
      stats.push(consumeStatsOf(desk, groupName, [topic], gaps, lag));
    }
    groups.set(groupName, stats);
  }
  const body = encodeAllConsumeStats({
    brokerAddr: desk.registrar.address,
    groups,
    totalDiff: lag.diff,
    totalInflightDiff: lag.inflight,
  });
  return { ...withBody(body), gaps: gaps.asks };
}

function onTimeSpan(desk: Desk, { topic, group }: TimeSpanRequest): Reply {
  const config = desk.topics.table.get(topic);
  if (config === undefined) return refuse(ResponseCodes.TOPIC_NOT_EXIST, `topic[${topic}] not exist`);
  const gaps = new TimeGaps();
  const nowMs = desk.context.clock.wallMs();
  const spans: QueueTimeSpan[] = [];
  for (let queueId = 0; queueId < config.readQueueNums; queueId++) {
    const key = desk.topics.keys.keyOf(topic, queueId);
    const begin = desk.topics.beginOf(topic, queueId);
    const end = desk.topics.endOf(topic, queueId);
    const committed = Math.min(end, Math.max(begin, desk.offsets.query(group, topic, queueId, true)));
    spans.push({
      queue: queueOf(desk, topic, queueId),
      minTimeStamp: gaps.timeOf(key, begin, -1),
      maxTimeStamp: gaps.timeOf(key, end - 1, -1),
      consumeTimeStamp: gaps.timeOf(key, committed > begin ? committed - 1 : begin, -1),
      delayTime: committed < end ? gaps.ageOf(key, committed, 0, nowMs) : 0,
    });
  }
  return { ...withBody(encodeTimeSpans(spans)), gaps: gaps.asks };
}

/** How far the slowest group is; where the group to compare with is behind even that, no correction: the largest number that there is. */
function onCorrection(desk: Desk, { topic, compareGroup, filterGroups }: CorrectionOffsetRequest): Reply {
  const left = new Set((filterGroups ?? '').split(',').map((group) => group.trim()));
  const lowest = new Map<number, number>();
  for (const group of desk.offsets.table.groupsOf(topic)) {
    if (left.has(group)) continue;
    for (const [queueId, offset] of desk.offsets.table.row(group, topic) ?? []) {
      if (offset >= desk.topics.beginOf(topic, queueId)) lowest.set(queueId, Math.min(offset, lowest.get(queueId) ?? offset));
    }
  }
  for (const [queueId, offset] of desk.offsets.table.row(compareGroup, topic) ?? []) {
    if ((lowest.get(queueId) ?? -1) > offset) lowest.set(queueId, Number.MAX_SAFE_INTEGER);
  }
  return withBody(encodeCorrectionOffsets(lowest));
}

function onBrokerStats(desk: Desk, { statsName, statsKey }: BrokerStatsRequest): Reply {
  desk.traffic.look();
  const item = desk.traffic.stats.get(statsName, statsKey);
  if (item === undefined) return refuse(ResponseCodes.SYSTEM_ERROR, `The stats <${statsName}> <${statsKey}> not exist`);
  const { minute, hour, day } = item;
  return withBody(encodeBrokerStats({ minute, hour, day }));
}

function queueOf(desk: Desk, topic: string, queueId: number): MessageQueue {
  return { topic, brokerName: desk.context.settings.brokerName, queueId };
}
