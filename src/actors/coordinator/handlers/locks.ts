// Requests of consumers that keep a queue's order: lock queues, renew the locks, give them back.
import { CLIENT_ID_SIZE_MAX } from '../../../core/member-limits.ts';
import { queueCountOf } from '../../../core/topic-config.ts';
import { groupFault } from '../../../message/names.ts';
import { decodeLockBatch, encodeLockedQueues, type LockBatch } from '../../../protocol/bodies/lock-batch.ts';
import type { MessageQueue } from '../../../protocol/bodies/message-queue.ts';
import { RequestCodes } from '../../../protocol/codes.ts';
import type { Decoded } from '../../../protocol/ext.ts';
import type { Desk } from '../desk.ts';
import { badRequest, done, type HandlerRow, type Reply, type Request, withBody } from '../request.ts';

export const lockHandlers: readonly HandlerRow[] = [
  [RequestCodes.LOCK_BATCH_MQ, onLock],
  [RequestCodes.UNLOCK_BATCH_MQ, onUnlock],
];

/** Bytes of a request's body: room for ten thousand queues. */
const BODY_SIZE_MAX = 1024 * 1024;

function decodeQueues(body: Buffer): Decoded<LockBatch> {
  if (body.length > BODY_SIZE_MAX) return { ok: false, fault: `it is too large size=${body.length} max=${BODY_SIZE_MAX} bytes` };
  const decoded = decodeLockBatch(body);
  if (!decoded.ok || decoded.value.clientId.length <= CLIENT_ID_SIZE_MAX) return decoded;
  return { ok: false, fault: `clientId is too long size=${decoded.value.clientId.length} max=${CLIENT_ID_SIZE_MAX}` };
}

/**
 * The answer lists what the client holds now; all else it does not. There are no other replicas to ask, so `onlyThisBroker` makes no
 * difference.
 */
function onLock(desk: Desk, { body, link }: Request): Reply {
  const decoded = decodeQueues(body);
  if (!decoded.ok) return badRequest(`lock body: ${decoded.fault}`);
  const { group, clientId, queues } = decoded.value;
  // A connection that is closed already has given back what it held, in whatever order that became known.
  if (link === undefined || groupFault(group) !== null) return withBody(encodeLockedQueues([]));
  const owner = { group, clientId, link: link.id };
  const locked = queues.filter((queue) => isOurs(desk, queue) && desk.membership.tryLock(owner, queue.topic, queue.queueId));
  desk.membership.tellLocks();
  return withBody(encodeLockedQueues(locked));
}

/** Stock brokers lock any name; a lock on a queue that is not here would protect nothing. */
function isOurs(desk: Desk, { brokerName, topic, queueId }: MessageQueue): boolean {
  const config = desk.topics.table.get(topic);
  return brokerName === desk.context.settings.brokerName && config !== undefined && queueId >= 0 && queueId < queueCountOf(config);
}

/** Of queues that another client holds nothing happens. */
function onUnlock(desk: Desk, { body }: Request): Reply {
  const decoded = decodeQueues(body);
  if (!decoded.ok) return badRequest(`unlock body: ${decoded.fault}`);
  unlockAll(desk, decoded.value);
  return done;
}

function unlockAll(desk: Desk, { group, clientId, queues }: LockBatch): void {
  const { brokerName } = desk.context.settings;
  for (const queue of queues) {
    if (queue.brokerName === brokerName) desk.membership.locks.unlock(group, clientId, queue.topic, queue.queueId);
  }
  desk.membership.tellLocks();
}
