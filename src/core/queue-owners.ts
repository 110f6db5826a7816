// Who owns which queue lock, in the form in which a restart finds it again.

export interface OwnedQueue {
  readonly group: string;
  readonly clientId: string;
  readonly topic: string;
  readonly queueId: number;
}

/** Group -> client id -> topic -> queue ids. */
export type QueueOwners = ReadonlyMap<string, ReadonlyMap<string, ReadonlyMap<string, readonly number[]>>>;

/** Letters of all of them together, about: they are written anew whenever one changes. Further ones are not stored. */
export const QUEUE_OWNERS_SIZE_MAX = 2 * 1024 * 1024;

/** Of a name's quotes and brackets, and of a number with its comma. */
const NAME_SIZE = 6;
const NUMBER_SIZE = 7;

/** @returns what is to be stored, and how many queues that leaves out. */
export function ownersOf(queues: Iterable<OwnedQueue>, sizeMax = QUEUE_OWNERS_SIZE_MAX): { owners: QueueOwners; leftOutCount: number } {
  const owners = new Map<string, Map<string, Map<string, number[]>>>();
  let size = 0;
  let leftOutCount = 0;
  for (const { group, clientId, topic, queueId } of queues) {
    const clients = owners.get(group);
    const topics = clients?.get(clientId);
    const queueIds = topics?.get(topic);
    size += NUMBER_SIZE;
    if (clients === undefined) size += group.length + NAME_SIZE;
    if (topics === undefined) size += clientId.length + NAME_SIZE;
    if (queueIds === undefined) size += topic.length + NAME_SIZE;
    if (size > sizeMax) leftOutCount++;
    else if (queueIds !== undefined) queueIds.push(queueId);
    else if (topics !== undefined) topics.set(topic, [queueId]);
    else if (clients !== undefined) clients.set(clientId, new Map([[topic, [queueId]]]));
    else owners.set(group, new Map([[clientId, new Map([[topic, [queueId]]])]]));
  }
  return { owners, leftOutCount };
}

export function* queuesOf(owners: QueueOwners): Iterable<OwnedQueue> {
  for (const [group, clients] of owners) {
    for (const [clientId, topics] of clients) {
      for (const [topic, queueIds] of topics) for (const queueId of queueIds) yield { group, clientId, topic, queueId };
    }
  }
}
