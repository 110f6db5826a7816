// A consumer in a simulation, as stock clients are: beats, finds out who is in its group, takes its share of the queues, pulls, handles,
// commits, sends back what failed, or keeps it in order under the queue's lock.

import { present } from '../../src/base/assert.ts';
import { QUEUE_LOCK_TRUST_MS } from '../../src/core/queue-locks.ts';
import type { MessageRecord } from '../../src/message/record-decode.ts';
import { decodeConsumerIds } from '../../src/protocol/bodies/consumer-ids.ts';
import { decodeLockedQueues, encodeLockBatch } from '../../src/protocol/bodies/lock-batch.ts';
import { RequestCodes } from '../../src/protocol/codes.ts';
import { QueueWork } from './queue-work.ts';
import type { SimBroker } from './sim-broker.ts';
import type { SimClient } from './sim-client.ts';

const BEAT_MS = 30_000;
const REBALANCE_MS = 20_000;
const TICK_MS = 1_000;

/** What the members of a group have in common, and who watches them. */
export interface GroupRules {
  readonly group: string;
  /** Topic -> how many queues. The retry topic is among them where the group has one. */
  readonly topics: ReadonlyMap<string, number>;
  readonly orderly: boolean;
  readonly broadcasting: boolean;
  /** True: consumed; false: not this time. */
  onDelivery(member: GroupMember, record: MessageRecord): boolean;
  /** A send-back is on its way; it may be refused or get lost. */
  onSendBack(record: MessageRecord): void;
  onLocked(member: GroupMember, queue: string): void;
  onDropped(member: GroupMember, queue: string): void;
}

export type Leaving = 'unregister' | 'cut' | 'silence';

export class GroupMember {
  readonly id: string;
  readonly rules: GroupRules;
  readonly works = new Map<string, QueueWork>();
  sim: SimBroker;
  client: SimClient;
  gone = false;
  /** The broker it was connected to is no more. */
  #isAway = false;
  /** Queue -> when it was told that the lock is its own. */
  readonly #lockedAtMs = new Map<string, number>();
  #noticesSeen = 0;
  #beatAtMs = 0;
  #rebalanceAtMs = 0;
  #isAsking = false;

  constructor(sim: SimBroker, id: string, rules: GroupRules) {
    this.sim = sim;
    this.id = id;
    this.rules = rules;
    this.client = sim.client();
    this.#tick();
  }

  leave(how: Leaving): void {
    if (this.gone) return;
    this.gone = true;
    for (const queue of this.works.keys()) this.drop(queue);
    if (how === 'silence' || this.#isAway) return;
    if (how === 'cut') this.client.cut();
    else
      this.client.send(RequestCodes.UNREGISTER_CLIENT, { clientID: this.id, consumerGroup: this.rules.group }, undefined, () =>
        this.client.cut(),
      );
  }

  /** The broker ended. What this member locked is its own, for as long as it trusts that. */
  lose(): void {
    this.#isAway = true;
  }

  /** It finds the next broker, and goes on where it was. */
  comeBack(sim: SimBroker): void {
    if (this.gone) return;
    this.sim = sim;
    this.client = sim.client();
    this.#isAway = this.#isAsking = false;
    this.#beatAtMs = this.#rebalanceAtMs = this.#noticesSeen = 0;
    for (const [queue, work] of this.works) {
      if (this.rules.orderly && !this.trusts(queue)) this.drop(queue);
      else work.start();
    }
    this.#tick();
  }

  /** As stock clients do: so long after the last time that the broker said so. */
  trusts(queue: string): boolean {
    return this.sim.clock.steadyMs() - (this.#lockedAtMs.get(queue) ?? Number.NEGATIVE_INFINITY) < QUEUE_LOCK_TRUST_MS;
  }

  drop(queue: string): void {
    this.#lockedAtMs.delete(queue);
    const work = this.works.get(queue);
    if (work === undefined) return;
    work.stop();
    this.works.delete(queue);
    this.rules.onDropped(this, queue);
  }

  later(ms: number, what: () => void): void {
    this.sim.timers.after(ms, () => {
      if (!this.gone && !this.#isAway) what();
    });
  }

  #tick(): void {
    const nowMs = this.sim.clock.steadyMs();
    if (nowMs >= this.#beatAtMs) {
      this.#beatAtMs = nowMs + BEAT_MS;
      this.#beat();
    }
    const notices = this.client.requested.filter((code) => code === RequestCodes.NOTIFY_CONSUMER_IDS_CHANGED).length;
    if (notices > this.#noticesSeen || nowMs >= this.#rebalanceAtMs) {
      this.#noticesSeen = notices;
      this.#rebalance(nowMs);
    }
    this.later(TICK_MS, () => this.#tick());
  }

  #beat(): void {
    const { group, topics, broadcasting } = this.rules;
    const subscriptions = [...topics.keys()].map((topic) => ({
      topic,
      expression: '*',
      tags: [],
      codes: [],
      type: 'TAG',
      version: '1',
      classFilter: false,
    }));
    this.client.beat({
      clientId: this.id,
      consumers: [
        {
          group,
          consumeType: 'CONSUME_PASSIVELY',
          messageModel: broadcasting ? 'BROADCASTING' : 'CLUSTERING',
          consumeFromWhere: 'CONSUME_FROM_FIRST_OFFSET',
          subscriptions,
          unitMode: false,
        },
      ],
    });
  }

  #rebalance(nowMs: number): void {
    if (this.#isAsking) return;
    this.#isAsking = true;
    this.#rebalanceAtMs = nowMs + REBALANCE_MS;
    this.client.send(RequestCodes.GET_CONSUMER_LIST_BY_GROUP, { consumerGroup: this.rules.group }, undefined, ({ code, body }) => {
      this.#isAsking = false;
      if (this.gone || this.#isAway) return;
      const ids = code === 0 ? decodeConsumerIds(body) : null;
      const known = ids?.ok === true && ids.value.includes(this.id) ? [...ids.value].sort() : null;
      // Not registered yet: asked again soon.
      if (known === null) this.#rebalanceAtMs = this.sim.clock.steadyMs() + TICK_MS;
      else this.#take(this.rules.broadcasting ? [this.id] : known);
    });
  }

  #take(ids: readonly string[]): void {
    const mine = new Set<string>();
    for (const [topic, count] of this.rules.topics) for (const queueId of shareOf(ids, this.id, count)) mine.add(`${topic}/${queueId}`);
    for (const queue of [...this.works.keys()]) if (!mine.has(queue)) this.#giveUp(queue);
    const wanted = [...mine].filter((queue) => !this.works.has(queue));
    if (this.rules.orderly) this.#lock([...mine], wanted);
    else for (const queue of wanted) this.#begin(queue);
  }

  #giveUp(queue: string): void {
    this.drop(queue);
    if (this.rules.orderly) this.client.sendOneway(RequestCodes.UNLOCK_BATCH_MQ, {}, this.#batchOf([queue]));
  }

  /** Renews what is held, and takes what is wanted as far as it is granted. */
  #lock(queues: readonly string[], wanted: readonly string[]): void {
    this.client.send(RequestCodes.LOCK_BATCH_MQ, {}, this.#batchOf(queues), ({ code, body }) => {
      const locked = code === 0 ? decodeLockedQueues(body) : null;
      if (this.gone || this.#isAway || locked?.ok !== true) return;
      const held = new Set(locked.value.map(({ topic, queueId }) => `${topic}/${queueId}`));
      for (const queue of queues) {
        if (held.has(queue)) {
          this.#lockedAtMs.set(queue, this.sim.clock.steadyMs());
          this.rules.onLocked(this, queue);
        } else this.drop(queue);
      }
      for (const queue of wanted) if (held.has(queue) && !this.works.has(queue)) this.#begin(queue);
    });
  }

  #batchOf(names: readonly string[]): Buffer {
    const queues = names.map((name) => {
      const [topic, queueId] = name.split('/');
      return { topic: present(topic, 'topic'), brokerName: this.sim.settings.brokerName, queueId: Number(queueId) };
    });
    return encodeLockBatch({ group: this.rules.group, clientId: this.id, queues, onlyThisBroker: false });
  }

  #begin(queue: string): void {
    const [topic, queueId] = queue.split('/');
    const work = new QueueWork(this, present(topic, 'topic'), Number(queueId));
    this.works.set(queue, work);
    work.start();
  }
}

/** Allocation AVG, over queue ids. */
export function shareOf(ids: readonly string[], id: string, queueCount: number): number[] {
  const i = ids.indexOf(id);
  const rest = queueCount % ids.length;
  const size = Math.floor(queueCount / ids.length) + (i < rest ? 1 : 0);
  const start = i * Math.floor(queueCount / ids.length) + Math.min(i, rest);
  return Array.from({ length: size }, (_, k) => start + k);
}
