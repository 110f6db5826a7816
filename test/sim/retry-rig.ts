// What tests of failed messages do: send, send back, lock, and read any queue to its end.

import { formatProperties } from '../../src/message/properties.ts';
import type { MessageRecord } from '../../src/message/record-decode.ts';
import type { ConsumerData } from '../../src/protocol/bodies/heartbeat.ts';
import { encodeLockBatch } from '../../src/protocol/bodies/lock-batch.ts';
import { RequestCodes } from '../../src/protocol/codes.ts';
import { encodeSendRequest, SendRequest } from '../../src/protocol/commands/send-message.ts';
import type { ExtFields } from '../../src/protocol/header.ts';
import { type Answer, recordsOf, type SimClient } from './sim-client.ts';

export const SCHEDULE = 'SCHEDULE_TOPIC_XXXX';

export function consumer(group: string, expressions: Readonly<Record<string, string>>, more: Partial<ConsumerData> = {}): ConsumerData {
  const subscriptions = Object.entries(expressions).map(([topic, expression]) => ({
    topic,
    expression,
    type: 'TAG',
    tags: [],
    codes: expression === '*' ? [] : expression.split('||').map((tag) => tag.charCodeAt(0)),
    version: '1',
    classFilter: false,
  }));
  return {
    group,
    consumeType: 'CONSUME_PASSIVELY',
    messageModel: 'CLUSTERING',
    consumeFromWhere: 'CONSUME_FROM_FIRST_OFFSET',
    subscriptions,
    unitMode: false,
    ...more,
  };
}

export function sendBack(client: SimClient, group: string, position: number, delayLevel: number, more: ExtFields = {}): number {
  return client.send(RequestCodes.CONSUMER_SEND_MSG_BACK, { group, offset: position, delayLevel, ...more });
}

export function askSendBack(client: SimClient, group: string, position: number, delayLevel: number, more: ExtFields = {}): Answer {
  return client.await(sendBack(client, group, position, delayLevel, more));
}

/** All messages of a queue. */
export function queueOf(client: SimClient, topic: string, queueId = 0): MessageRecord[] {
  const records: MessageRecord[] = [];
  for (;;) {
    const answer = client.askPull(topic, queueId, 'lookers', { offset: records.length });
    if (answer.code !== 0) return records;
    records.push(...recordsOf(answer));
  }
}

/** A consumer's own send to its retry topic. */
export function askRetrySend(client: SimClient, group: string, times: number, properties: Readonly<Record<string, string>>): Answer {
  const request = new SendRequest();
  request.group = 'CLIENT_INNER_PRODUCER';
  request.topic = `%RETRY%${group}`;
  request.defaultTopic = 'TBW102';
  request.defaultTopicQueueCount = 4;
  request.queueId = 0;
  request.bornTimeMs = 1_700_000_000_000;
  request.reconsumeTimes = times;
  request.maxReconsumeTimes = 2;
  request.properties = formatProperties(new Map(Object.entries(properties)));
  return client.ask(RequestCodes.SEND_MESSAGE_V2, encodeSendRequest(RequestCodes.SEND_MESSAGE_V2, request), Buffer.from('body'));
}

export function askLock(client: SimClient, group: string, clientId: string, topic: string, queueId: number): Answer {
  const queues = [{ topic, brokerName: 'broker-a', queueId }];
  return client.ask(RequestCodes.LOCK_BATCH_MQ, {}, encodeLockBatch({ group, clientId, queues, onlyThisBroker: false }));
}

export function putGroup(client: SimClient, group: string, more: Readonly<Record<string, unknown>> = {}): Answer {
  return client.ask(RequestCodes.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, {}, Buffer.from(JSON.stringify({ groupName: group, ...more })));
}
