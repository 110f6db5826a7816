// Captured requests: each command's decoder and encoder agree with what stock clients sent.
import test from 'ava';
import { RequestCodes } from '../../../src/protocol/codes.ts';
import * as checkTransaction from '../../../src/protocol/commands/check-transaction.ts';
import * as consumeDirectly from '../../../src/protocol/commands/consume-directly.ts';
import * as consumeStats from '../../../src/protocol/commands/consume-stats.ts';
import * as consumerConnection from '../../../src/protocol/commands/consumer-connection.ts';
import * as consumerIds from '../../../src/protocol/commands/consumer-ids-changed.ts';
import * as consumerList from '../../../src/protocol/commands/consumer-list.ts';
import * as runningInfo from '../../../src/protocol/commands/consumer-running-info.ts';
import * as consumerStatus from '../../../src/protocol/commands/consumer-status.ts';
import * as createTopic from '../../../src/protocol/commands/create-topic.ts';
import * as deleteTopic from '../../../src/protocol/commands/delete-topic.ts';
import * as earliest from '../../../src/protocol/commands/earliest-store-time.ts';
import * as endTransaction from '../../../src/protocol/commands/end-transaction.ts';
import * as maxOffset from '../../../src/protocol/commands/max-offset.ts';
import * as minOffset from '../../../src/protocol/commands/min-offset.ts';
import * as popAck from '../../../src/protocol/commands/pop-ack.ts';
import * as pop from '../../../src/protocol/commands/pop-message.ts';
import * as producerConnection from '../../../src/protocol/commands/producer-connection.ts';
import { encodePullRequest, PullRequest, readPullRequest } from '../../../src/protocol/commands/pull-message.ts';
import * as pushReply from '../../../src/protocol/commands/push-reply.ts';
import * as queryOffset from '../../../src/protocol/commands/query-consumer-offset.ts';
import * as queryMessage from '../../../src/protocol/commands/query-message.ts';
import * as recall from '../../../src/protocol/commands/recall-message.ts';
import * as resetOffset from '../../../src/protocol/commands/reset-offset.ts';
import * as searchOffset from '../../../src/protocol/commands/search-offset.ts';
import * as sendBack from '../../../src/protocol/commands/send-back.ts';
import { encodeSendRequest, readSendRequest, SendRequest } from '../../../src/protocol/commands/send-message.ts';
import * as group from '../../../src/protocol/commands/subscription-group.ts';
import * as topicConfig from '../../../src/protocol/commands/topic-config.ts';
import * as topicStats from '../../../src/protocol/commands/topic-stats.ts';
import * as unregister from '../../../src/protocol/commands/unregister-client.ts';
import * as updateOffset from '../../../src/protocol/commands/update-consumer-offset.ts';
import * as viewMessage from '../../../src/protocol/commands/view-message.ts';
import type { Decoded } from '../../../src/protocol/ext.ts';
import { type HeaderCodec, HeaderCodecs } from '../../../src/protocol/frame.ts';
import { type ExtFields, encodeFrame, Header, readHeader } from '../../../src/protocol/header.ts';
import { goldenClients, goldenFrames, goldenProbes } from '../golden.ts';

interface Codec {
  decode(header: Header): Decoded<unknown>;
  encode(value: never): ExtFields;
}

const codec = <T>(decode: (header: Header) => Decoded<T>, encode: (value: T) => ExtFields): Codec => ({ decode, encode }) as Codec;

const R = RequestCodes;
const requests = new Map<number, Codec>([
  [R.QUERY_MESSAGE, codec(queryMessage.decodeQueryMessageRequest, queryMessage.encodeQueryMessageRequest)],
  [R.QUERY_CONSUMER_OFFSET, codec(queryOffset.decodeQueryConsumerOffsetRequest, queryOffset.encodeQueryConsumerOffsetRequest)],
  [R.UPDATE_CONSUMER_OFFSET, codec(updateOffset.decodeUpdateConsumerOffsetRequest, updateOffset.encodeUpdateConsumerOffsetRequest)],
  [R.UPDATE_AND_CREATE_TOPIC, codec(createTopic.decodeCreateTopicRequest, createTopic.encodeCreateTopicRequest)],
  [R.GET_ALL_TOPIC_CONFIG, codec(topicConfig.decodeAllTopicsRequest, topicConfig.encodeAllTopicsRequest)],
  [R.SEARCH_OFFSET_BY_TIMESTAMP, codec(searchOffset.decodeSearchOffsetRequest, searchOffset.encodeSearchOffsetRequest)],
  [R.GET_MAX_OFFSET, codec(maxOffset.decodeMaxOffsetRequest, maxOffset.encodeMaxOffsetRequest)],
  [R.GET_MIN_OFFSET, codec(minOffset.decodeMinOffsetRequest, minOffset.encodeMinOffsetRequest)],
  [R.GET_EARLIEST_MSG_STORETIME, codec(earliest.decodeEarliestStoreTimeRequest, earliest.encodeEarliestStoreTimeRequest)],
  [R.VIEW_MESSAGE_BY_ID, codec(viewMessage.decodeViewMessageRequest, viewMessage.encodeViewMessageRequest)],
  [R.UNREGISTER_CLIENT, codec(unregister.decodeUnregisterClientRequest, unregister.encodeUnregisterClientRequest)],
  [R.CONSUMER_SEND_MSG_BACK, codec(sendBack.decodeSendBackRequest, sendBack.encodeSendBackRequest)],
  [R.END_TRANSACTION, codec(endTransaction.decodeEndTransactionRequest, endTransaction.encodeEndTransactionRequest)],
  [R.GET_CONSUMER_LIST_BY_GROUP, codec(consumerList.decodeConsumerListRequest, consumerList.encodeConsumerListRequest)],
  [R.CHECK_TRANSACTION_STATE, codec(checkTransaction.decodeCheckTransactionRequest, checkTransaction.encodeCheckTransactionRequest)],
  [R.NOTIFY_CONSUMER_IDS_CHANGED, codec(consumerIds.decodeConsumerIdsChangedRequest, consumerIds.encodeConsumerIdsChangedRequest)],
  [R.GET_ALL_SUBSCRIPTIONGROUP_CONFIG, codec(group.decodeAllGroupsRequest, group.encodeAllGroupsRequest)],
  [R.GET_TOPIC_STATS_INFO, codec(topicStats.decodeTopicStatsRequest, topicStats.encodeTopicStatsRequest)],
  [
    R.GET_CONSUMER_CONNECTION_LIST,
    codec(consumerConnection.decodeConsumerConnectionRequest, consumerConnection.encodeConsumerConnectionRequest),
  ],
  [
    R.GET_PRODUCER_CONNECTION_LIST,
    codec(producerConnection.decodeProducerConnectionRequest, producerConnection.encodeProducerConnectionRequest),
  ],
  [R.DELETE_SUBSCRIPTIONGROUP, codec(group.decodeDeleteGroupRequest, group.encodeDeleteGroupRequest)],
  [R.GET_CONSUME_STATS, codec(consumeStats.decodeConsumeStatsRequest, consumeStats.encodeConsumeStatsRequest)],
  [R.DELETE_TOPIC_IN_BROKER, codec(deleteTopic.decodeDeleteTopicRequest, deleteTopic.encodeDeleteTopicRequest)],
  [R.DELETE_TOPIC_IN_NAMESRV, codec(deleteTopic.decodeDeleteTopicRequest, deleteTopic.encodeDeleteTopicRequest)],
  [R.RESET_CONSUMER_CLIENT_OFFSET, codec(resetOffset.decodeResetOffsetRequest, resetOffset.encodeResetOffsetRequest)],
  [R.GET_CONSUMER_STATUS_FROM_CLIENT, codec(consumerStatus.decodeConsumerStatusRequest, consumerStatus.encodeConsumerStatusRequest)],
  [R.INVOKE_BROKER_TO_RESET_OFFSET, codec(resetOffset.decodeResetOffsetRequest, resetOffset.encodeResetOffsetRequest)],
  [R.INVOKE_BROKER_TO_GET_CONSUMER_STATUS, codec(consumerStatus.decodeConsumerStatusRequest, consumerStatus.encodeConsumerStatusRequest)],
  [R.GET_CONSUMER_RUNNING_INFO, codec(runningInfo.decodeConsumerRunningInfoRequest, runningInfo.encodeConsumerRunningInfoRequest)],
  [R.CONSUME_MESSAGE_DIRECTLY, codec(consumeDirectly.decodeConsumeDirectlyRequest, consumeDirectly.encodeConsumeDirectlyRequest)],
  [R.PUSH_REPLY_MESSAGE_TO_CLIENT, codec(pushReply.decodePushReplyRequest, pushReply.encodePushReplyRequest)],
  [R.GET_TOPIC_CONFIG, codec(topicConfig.decodeTopicConfigRequest, topicConfig.encodeTopicConfigRequest)],
  [R.POP_MESSAGE, codec(pop.decodePopMessageRequest, pop.encodePopMessageRequest)],
  [R.PEEK_MESSAGE, codec(pop.decodePeekMessageRequest, pop.encodePeekMessageRequest)],
  [R.NOTIFICATION, codec(pop.decodeNotificationRequest, pop.encodeNotificationRequest)],
  [R.POLLING_INFO, codec(pop.decodePollingInfoRequest, pop.encodePollingInfoRequest)],
  [R.ACK_MESSAGE, codec(popAck.decodeAckMessageRequest, popAck.encodeAckMessageRequest)],
  [R.CHANGE_MESSAGE_INVISIBLETIME, codec(popAck.decodeChangeInvisibleTimeRequest, popAck.encodeChangeInvisibleTimeRequest)],
  [R.RECALL_MESSAGE, codec(recall.decodeRecallMessageRequest, recall.encodeRecallMessageRequest)],
]);

const sendCodec = codec(
  (header) => {
    const value = new SendRequest();
    const fault = readSendRequest(header, value);
    return fault === null ? { ok: true, value: { ...value, properties: value.properties, code: header.code } } : { ok: false, fault };
  },
  (value) => encodeSendRequest(value.code, Object.assign(new SendRequest(), value)),
);
for (const code of [R.SEND_MESSAGE, R.SEND_MESSAGE_V2, R.SEND_BATCH_MESSAGE, R.SEND_REPLY_MESSAGE, R.SEND_REPLY_MESSAGE_V2])
  requests.set(code, sendCodec);

const pullCodec = codec(
  (header) => {
    const value = new PullRequest();
    const fault = readPullRequest(header, value);
    return fault === null ? { ok: true, value: { ...value } } : { ok: false, fault };
  },
  (value) => encodePullRequest(value as PullRequest),
);
for (const code of [R.PULL_MESSAGE, R.LITE_PULL_MESSAGE]) requests.set(code, pullCodec);

/** Fields that any request may carry, or that are read by nobody. */
const extra = new Set([
  'bname',
  'n',
  'ns',
  'nsd',
  'lo',
  'oway',
  'AccessKey',
  'Signature',
  'SecurityToken',
  'OnsChannel',
  'ReqT',
  'maxMsgBytes',
]);

for (const client of goldenClients()) {
  test(`commands: every request of ${client} decodes, and encodes to the same fields`, (t) => {
    const header = new Header();
    const again = new Header();
    for (const line of goldenFrames(client)) {
      const command = requests.get(line.code);
      if ((line.flag & 1) !== 0 || command === undefined) continue;
      const frame = Buffer.from(line.b64, 'base64');
      t.is(readHeader(frame, 8, frame.readUIntBE(5, 3), frame[4] as HeaderCodec, header), null);
      const decoded = command.decode(header);
      if (!decoded.ok) {
        t.fail(`${line.name} ${JSON.stringify(line.ext)}: ${decoded.fault}`);
        return;
      }
      for (const codec of Object.values(HeaderCodecs)) {
        const written = encodeFrame({ code: line.code, opaque: 1, flag: 0, codec, ext: command.encode(decoded.value as never) });
        t.is(readHeader(written, 8, written.readUIntBE(5, 3), written[4] as HeaderCodec, again), null);
        t.deepEqual(command.decode(again), decoded, line.name);
        const fields = again.fields();
        for (const [name, value] of Object.entries(line.ext ?? {})) {
          if (!extra.has(name) && value !== null && value !== '') t.is(fields[name], String(value), `${line.name} ${name}`);
        }
      }
    }
    t.pass();
  });
}

test('commands: the probes decode or are refused, without a throw', (t) => {
  const header = new Header();
  const refused: string[] = [];
  for (const probe of goldenProbes()) {
    const frame = Buffer.from(probe.request, 'base64');
    t.is(readHeader(frame, 8, frame.readUIntBE(5, 3), frame[4] as HeaderCodec, header), null);
    const decoded = requests.get(probe.code)?.decode(header);
    if (decoded !== undefined && !decoded.ok) refused.push(`${probe.name}: ${decoded.fault}`);
  }
  const wanted = [
    'send V1 fields under 310: request field is absent field=a allowed=text',
    'send, no topic field: request field is absent field=b allowed=text',
    'update offset, no offset: request field is absent field=commitOffset allowed=-2^63 to 2^63-1',
  ];
  if (goldenClients().length > 0) t.deepEqual(refused, wanted);
});
