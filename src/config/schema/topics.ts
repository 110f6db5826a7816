// Settings: topics, groups and what may be sent.
import { choice, flag, integer, text } from '../spec.ts';

export const topicSettings = {
  autoCreateTopicEnable: flag(true, 'A first send creates its topic'),
  defaultTopicQueueNums: integer(8, '', 'Queues of the default topic TBW102, and most queues of a topic made by a send', {
    min: 1,
    max: 1024,
  }),
  clusterTopicEnable: flag(true, 'The topic named like the cluster may be written and read'),
  brokerTopicEnable: flag(true, 'The topic named like the broker may be written and read'),
  traceTopicEnable: flag(false, 'Create the trace topic at start'),
  msgTraceTopicName: text('RMQ_SYS_TRACE_TOPIC', 'Name of the trace topic'),
  traceOn: flag(true, 'Clients are told that their sends may be traced'),
  validateSystemTopicWhenUpdateTopic: flag(true, 'System topics cannot be changed or removed'),
  clearRetryTopicWhenDeleteTopic: flag(true, 'Removing a topic removes the retry topics that pop made for it'),
  enableMixedMessageType: flag(false, 'Topics may be declared to take messages of all types'),
  maxQueueCount: integer(200_000, '', 'Most queues of all topics together', { min: 64, max: 4_000_000 }),
  queueFileCountMax: integer(256, '', 'Queue files kept open at once', { min: 8, max: 65_536 }),
  autoCreateSubscriptionGroup: flag(true, 'A group that shows up is created'),
  enableCreateSysGroup: flag(true, 'Groups of the system (CID_RMQ_SYS_…) may be created too'),
} as const;

export const sendSettings = {
  maxMessageSize: integer(4_194_304, 'bytes', 'Largest body of a message', { min: 1024, max: 16_000_000 }),
  brokerFastFailureEnable: flag(true, 'Sends are refused as busy while others wait too long for the log'),
  waitTimeMillsInSendQueue: integer(200, 'ms', 'So long sends may wait for the log before further ones are refused as busy', { min: 1 }),
  sendThreadPoolQueueCapacity: integer(10_000, '', 'So many sends may wait for the log before further ones are refused as busy', {
    min: 1,
  }),
  osPageCacheBusyTimeOutMills: integer(1000, 'ms', 'One append may take so long before sends are refused as busy', { min: 1 }),
  startAcceptSendRequestTimeStamp: integer(0, 'ms', 'Sends are refused before this time (since 1970)'),
  rejectTransactionMessage: flag(false, 'Half messages are refused'),
  storeReplyMessageEnable: flag(true, 'Replies of request-reply are stored as well as pushed'),
  autoMessageVersionOnTopicLen: flag(true, 'Topics over 127 characters are stored in version 2 records'),
} as const;

export const groupSettings = {
  newGroupOffset: choice(
    ['ringmq', 'apache'],
    'ringmq',
    "Where a new group starts: at the first message after it joined, or by Apache's rule",
  ),
  strictSubscription: flag(false, 'Refuse a member whose subscription differs from the rest of its group, instead of a warning'),
  notifyConsumerIdsChangedEnable: flag(true, 'Members are told when others come or go'),
  realTimeNotifyConsumerChange: flag(true, 'They are told at once, and not every 15 s'),
  notifyCoalesceMs: integer(200, 'ms', 'Changes within this time are told as one', { max: 10_000 }),
  channelExpiredTimeout: integer(120_000, 'ms', 'A client without heartbeat is dropped after this long', { min: 100 }),
  subscriptionExpiredTimeout: integer(600_000, 'ms', 'What a group without members subscribed to is forgotten after this long', {
    min: 100,
  }),
  enableRegisterProducer: flag(true, 'Producers are remembered from their heartbeats'),
  useServerSideResetOffset: flag(true, 'A reset of offsets is kept by the broker and needs no member online'),
  flushConsumerOffsetInterval: integer(5000, 'ms', 'Offsets of groups are written to disk this often', { min: 10 }),
  enableBroadcastOffsetStore: flag(true, 'Offsets of broadcasting clients are kept for their move to a proxy', 'later'),
} as const;
