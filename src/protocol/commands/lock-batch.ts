// LOCK_BATCH_MQ (41) and UNLOCK_BATCH_MQ (42): queues that one consumer of a group holds for a while, to keep their order.

//   request  no fields; body: group, client and queues. 42 is one-way except at a client's end
//   answer   41: always 0, body: the queues that the client now holds. 42: 0

export { decodeLockBatch, decodeLockedQueues, encodeLockBatch, encodeLockedQueues, type LockBatch } from '../bodies/lock-batch.ts';
