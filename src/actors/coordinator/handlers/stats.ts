// Requests of tools about how far queues reach and how far groups have read them.
import { queueCountOf } from '../../../core/topic-config.ts';
import type { MessageQueue } from '../../../protocol/bodies/message-queue.ts';
import { RequestCodes, ResponseCodes } from '../../../protocol/codes.ts';
import {
  type ConsumeOffset,
  type ConsumeStatsRequest,
  decodeConsumeStatsRequest,
  encodeConsumeStats,
} from '../../../protocol/commands/consume-stats.ts';
import { decodeTopicStatsRequest, encodeTopicStats, type TopicOffset } from '../../../protocol/commands/topic-stats.ts';
import { Positions } from '../../context.ts';
import type { Desk } from '../desk.ts';
import { decoding, type HandlerRow, type Reply, refuse, withBody } from '../request.ts';

export const statsHandlers: readonly HandlerRow[] = [
  [RequestCodes.GET_TOPIC_STATS_INFO, decoding(decodeTopicStatsRequest, (desk, r) => onTopicStats(desk, r.topic))],
  [RequestCodes.GET_CONSUME_STATS, decoding(decodeConsumeStatsRequest, onConsumeStats)],
];

/**
 * The store time of a queue's last message is not known here without reading it: `lastUpdateTimestamp` is when the queue's end was
 * last seen to have moved, at most the newest store time of the log.
 */
function onTopicStats(desk: Desk, topic: string): Reply {
  const config = desk.topics.table.get(topic);
  if (config === undefined) return refuse(ResponseCodes.TOPIC_NOT_EXIST, `topic[${topic}] not exist`);
  const { positions, clock } = desk.context;
  const newestMs = positions.get(Positions.appendedTimeMs);
  const seenMs = newestMs > 0 ? Math.min(newestMs, clock.wallMs()) : clock.wallMs();
  const offsetTable: [MessageQueue, TopicOffset][] = [];
  for (let queueId = 0; queueId < queueCountOf(config); queueId++) {
    const maxOffset = desk.topics.endOf(topic, queueId);
    const lastUpdateTimestamp = desk.changeTimes.of(desk.topics.keys.keyOf(topic, queueId), maxOffset, seenMs);
    offsetTable.push([queueOf(desk, topic, queueId), { minOffset: desk.topics.beginOf(topic, queueId), maxOffset, lastUpdateTimestamp }]);
  }
  return withBody(encodeTopicStats({ offsetTable, topicPutTps: 0 }));
}

function onConsumeStats(desk: Desk, r: ConsumeStatsRequest): Reply {
  const offsetTable: [MessageQueue, ConsumeOffset][] = [];
  for (const topic of topicsOf(desk, r)) {
    const config = desk.topics.table.get(topic);
    for (let queueId = 0; queueId < (config?.readQueueNums ?? 0); queueId++) {
      // Tools take the difference for the lag. Nothing committed counts as the first message: a new group shows what it could read,
      // and neither what retention took nor what was committed beyond the end is any lag.
      const brokerOffset = desk.topics.endOf(topic, queueId);
      const committed = Math.max(desk.topics.beginOf(topic, queueId), desk.offsets.table.get(r.consumerGroup, topic, queueId));
      const consumerOffset = Math.min(brokerOffset, committed);
      offsetTable.push([queueOf(desk, topic, queueId), { brokerOffset, consumerOffset, pullOffset: consumerOffset, lastTimestamp: 0 }]);
    }
  }
  return withBody(encodeConsumeStats({ offsetTable, consumeTps: 0 }));
}

function topicsOf(desk: Desk, r: ConsumeStatsRequest): Iterable<string> {
  const asked = [...(r.topicList ?? '').split(';'), r.topic ?? ''].map((topic) => topic.trim()).filter((topic) => topic !== '');
  if (asked.length > 0) return new Set(asked);
  return new Set([...desk.offsets.table.topicsOf(r.consumerGroup), ...(desk.consumers.get(r.consumerGroup)?.merged.keys() ?? [])]);
}

function queueOf(desk: Desk, topic: string, queueId: number): MessageQueue {
  return { topic, brokerName: desk.context.settings.brokerName, queueId };
}
