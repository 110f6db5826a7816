// A reply on its way to the client that asked: the request 326 as the broker makes it of the send request of the one who answers.
import { PropertyNames, parseProperties } from '../message/properties.ts';
import { encodePushReplyRequest, type PushReplyRequest } from '../protocol/commands/push-reply.ts';
import type { SendRequest } from '../protocol/commands/send-message.ts';
import type { ExtFields } from '../protocol/header.ts';

/** Field of the request while it is between two actors: the client it is for. */
export const REPLY_TO = 'replyToClient';

export interface ReplyPlace {
  /** ip:port of the one who answers. */
  readonly bornHost: string;
  /** ip:port of this broker. */
  readonly storeHost: string;
  /** Wall time in ms. */
  readonly nowMs: number;
}

/** The id of the client that asked, as its request said; null where the reply does not name it. */
export function replyToClient(properties: string): string | null {
  return parseProperties(properties).get(PropertyNames.replyToClient) ?? null;
}

export function pushedReply(sent: SendRequest, queueId: number, to: string, place: ReplyPlace): ExtFields {
  const { bornHost, storeHost, nowMs } = place;
  const separated = sent.properties.endsWith('\x02') ? sent.properties : `${sent.properties}\x02`;
  const request: PushReplyRequest = {
    producerGroup: sent.group,
    topic: sent.topic,
    defaultTopic: sent.defaultTopic,
    defaultTopicQueueNums: sent.defaultTopicQueueCount,
    queueId,
    sysFlag: sent.sysFlag,
    bornTimestamp: sent.bornTimeMs,
    flag: sent.flag,
    properties: `${separated}${PropertyNames.pushReplyTime}\x01${nowMs}\x02`,
    reconsumeTimes: sent.reconsumeTimes,
    unitMode: sent.unitMode,
    bornHost,
    storeHost,
    storeTimestamp: nowMs,
  };
  return { ...encodePushReplyRequest(request), [REPLY_TO]: to };
}
