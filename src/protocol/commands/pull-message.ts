// PULL_MESSAGE (11) and LITE_PULL_MESSAGE (361): messages of a queue from an offset on, waiting for one if there is none.
import { exactInt64, fieldFault, int32, int32Of, int64, int64Of, integerText } from '../ext.ts';
import { isAmong, planFields } from '../field-plan.ts';
import type { FieldTable } from '../field-table.ts';
import type { ExtFields, Header } from '../header.ts';

//   consumerGroup! s, topic! s, queueId! i32, queueOffset! i64, maxMsgNums! i32, sysFlag! i32, commitOffset! i64,
//   suspendTimeoutMillis! i64, subVersion! i64, subscription s, expressionType s, maxMsgBytes i32 (not heeded)

export const PullFlags = {
  /** `commitOffset` is to be stored for the group. */
  commitOffset: 1,
  /** Wait for up to `suspendMs` where there is nothing. */
  suspend: 2,
  /** `subscription` counts, not what the heartbeat said. */
  subscription: 4,
  classFilter: 8,
  litePull: 16,
} as const;

export class PullRequest {
  group = '';
  topic = '';
  queueId = 0;
  offset = 0;
  maxCount = 0;
  sysFlag = 0;
  commitOffset = 0;
  suspendMs = 0;
  subscription = '';
  /** As text: nanoseconds of some clients are beyond a double. */
  subVersion = '0';
  /** '' means TAG. */
  expressionType = '';
  /** Of the header this was read from last: what cannot have changed since is not read again. */
  lastTable: FieldTable | null = null;

  get commits(): boolean {
    return (this.sysFlag & PullFlags.commitOffset) !== 0;
  }

  get suspends(): boolean {
    return (this.sysFlag & PullFlags.suspend) !== 0;
  }

  get hasSubscription(): boolean {
    return (this.sysFlag & PullFlags.subscription) !== 0;
  }

  get classFilter(): boolean {
    return (this.sysFlag & PullFlags.classFilter) !== 0;
  }

  get litePull(): boolean {
    return (this.sysFlag & PullFlags.litePull) !== 0;
  }
}

const fields = planFields({
  consumerGroup: 'consumerGroup',
  topic: 'topic',
  queueId: 'queueId',
  queueOffset: 'queueOffset',
  maxMsgNums: 'maxMsgNums',
  sysFlag: 'sysFlag',
  commitOffset: 'commitOffset',
  suspendTimeoutMillis: 'suspendTimeoutMillis',
  subscription: 'subscription',
  subVersion: 'subVersion',
  expressionType: 'expressionType',
});

/** Reads either code into a reused object; a text is the fault to answer. */
export function readPullRequest(header: Header, into: PullRequest): string | null {
  const changed = header.changedFields(fields.topic.plan, into.lastTable);
  into.lastTable = header.table;
  if (isAmong(changed, fields.consumerGroup)) into.group = header.name(fields.consumerGroup);
  if (isAmong(changed, fields.topic)) into.topic = header.name(fields.topic);
  if (isAmong(changed, fields.queueId)) into.queueId = int32Of(header, fields.queueId);
  if (isAmong(changed, fields.queueOffset)) into.offset = int64Of(header, fields.queueOffset);
  if (isAmong(changed, fields.maxMsgNums)) into.maxCount = int32Of(header, fields.maxMsgNums);
  if (isAmong(changed, fields.sysFlag)) into.sysFlag = int32Of(header, fields.sysFlag);
  if (isAmong(changed, fields.commitOffset)) into.commitOffset = int64Of(header, fields.commitOffset);
  if (isAmong(changed, fields.suspendTimeoutMillis)) into.suspendMs = int64Of(header, fields.suspendTimeoutMillis);
  if (isAmong(changed, fields.subscription)) into.subscription = header.name(fields.subscription);
  if (isAmong(changed, fields.subVersion)) into.subVersion = header.name(fields.subVersion);
  if (isAmong(changed, fields.expressionType)) into.expressionType = header.name(fields.expressionType);
  const numbers = into.queueId + into.offset + into.maxCount + into.sysFlag + into.commitOffset + into.suspendMs;
  const versionSeen = exactInt64.parse(into.subVersion) !== undefined;
  if (into.group !== '' && into.topic !== '' && versionSeen && !Number.isNaN(numbers)) return null;
  return pullFault(header, into);
}

function pullFault(header: Header, seen: PullRequest): string {
  if (seen.group === '') return fieldFault(header, fields.consumerGroup, 'text');
  if (seen.topic === '') return fieldFault(header, fields.topic, 'text');
  if (Number.isNaN(seen.queueId)) return fieldFault(header, fields.queueId, int32.allowed);
  if (Number.isNaN(seen.offset)) return fieldFault(header, fields.queueOffset, int64.allowed);
  if (Number.isNaN(seen.maxCount)) return fieldFault(header, fields.maxMsgNums, int32.allowed);
  if (Number.isNaN(seen.sysFlag)) return fieldFault(header, fields.sysFlag, int32.allowed);
  if (Number.isNaN(seen.commitOffset)) return fieldFault(header, fields.commitOffset, int64.allowed);
  if (Number.isNaN(seen.suspendMs)) return fieldFault(header, fields.suspendTimeoutMillis, int64.allowed);
  return fieldFault(header, fields.subVersion, int64.allowed);
}

/** The fields of a request as a client sends them. */
export function encodePullRequest(request: PullRequest): ExtFields {
  const ext: ExtFields = {
    consumerGroup: request.group,
    topic: request.topic,
    queueId: request.queueId,
    queueOffset: integerText(request.offset),
    maxMsgNums: request.maxCount,
    sysFlag: request.sysFlag,
    commitOffset: integerText(request.commitOffset),
    suspendTimeoutMillis: integerText(request.suspendMs),
    subVersion: request.subVersion,
  };
  if (request.subscription !== '') ext['subscription'] = request.subscription;
  if (request.expressionType !== '') ext['expressionType'] = request.expressionType;
  return ext;
}
