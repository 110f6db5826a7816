// What a consumer group is promised, small enough to be seen whole: which deliveries may come when, and what must have come in the end.
import { assert, present } from '../../src/base/assert.ts';
import { dlqTopicOf, retryTopicOf } from '../../src/message/names.ts';
import type { MessageRecord } from '../../src/message/record-decode.ts';
import type { GroupMember, GroupRules } from './group-member.ts';
import type { SimBroker } from './sim-broker.ts';
import { bodyOf, nameOf } from './sim-client.ts';

export const BODY_SIZE = 20;

interface Sent {
  readonly topic: string;
  readonly queueId: number;
  /** So many deliveries fail; Infinity: all. */
  readonly failures: number;
  /** Wall time before which it must not come: its send plus the delay of its level. */
  readonly dueMs: number;
  acknowledged: boolean;
}

export class GroupModel implements GroupRules {
  readonly group: string;
  readonly topics: ReadonlyMap<string, number>;
  readonly orderly: boolean;
  readonly broadcasting = false;
  readonly sent = new Map<string, Sent>();
  readonly consumed = new Set<string>();
  /** Wall clocks that step backwards make "not before" mean nothing. */
  checksTimes = true;
  /** When a queue was locked or given back last. */
  ownersChangedMs = 0;
  readonly #sim: SimBroker;
  readonly #delaysMs: readonly number[];
  readonly #retryMax: number;
  /** name#attempt -> earliest wall time at which that attempt may come. */
  readonly #retryDueMs = new Map<string, number>();
  /** Queue -> who was granted its lock last, and did not give it up. */
  readonly #holders = new Map<string, GroupMember>();
  /** Of ordered queues: the highest offset that was consumed. */
  readonly #consumedTo = new Map<string, number>();

  constructor(
    sim: SimBroker,
    group: string,
    topics: ReadonlyMap<string, number>,
    orderly: boolean,
    retryMax: number,
    delaysMs: readonly number[],
  ) {
    this.#sim = sim;
    this.group = group;
    this.orderly = orderly;
    this.topics = orderly ? topics : new Map([...topics, [retryTopicOf(group), 1]]);
    this.#retryMax = retryMax;
    this.#delaysMs = delaysMs;
  }

  onDelivery(member: GroupMember, record: MessageRecord): boolean {
    const name = nameOf(record);
    const { reconsumeTimes } = record;
    const sent = this.sent.get(name);
    this.#check(sent !== undefined, `nobody sent ${name}`);
    const { topic, queueId, failures, dueMs } = present(sent, 'sent');
    this.#check(Buffer.from(record.body).equals(bodyOf(name, BODY_SIZE)), `body of ${name}`);
    if (reconsumeTimes === 0) {
      this.#check(
        record.topic === topic && record.queueId === queueId,
        `${name} of ${topic}/${queueId} came from ${record.topic}/${record.queueId}`,
      );
      this.#notBefore(dueMs, `${name}`);
    } else this.#onRetried(record, name, topic);
    if (this.orderly) this.#inOrder(member, record);
    if (reconsumeTimes < failures && !(this.orderly && this.#failsEnough(name))) return false;
    this.consumed.add(name);
    if (this.orderly) this.#noteConsumed(`${record.topic}/${record.queueId}`, record.queueOffset);
    return true;
  }

  onSendBack(record: MessageRecord): void {
    const attempt = record.reconsumeTimes + 1;
    const delayMs = this.#delaysMs[2 + record.reconsumeTimes] ?? 0;
    const key = `${nameOf(record)}#${attempt}`;
    const dueMs = this.#sim.clock.wallMs() + delayMs;
    this.#retryDueMs.set(key, Math.min(dueMs, this.#retryDueMs.get(key) ?? dueMs));
  }

  onLocked(member: GroupMember, queue: string): void {
    const holder = this.#holders.get(queue);
    if (holder === member) return;
    // Who left, by whatever way, is released at once or after its time; who is here keeps what it renews in time, whatever the broker does.
    const free = holder === undefined || holder.gone || !holder.trusts(queue);
    this.#check(free, `${queue} is locked by ${member.id} and ${holder?.id}`);
    this.#holders.set(queue, member);
    this.ownersChangedMs = this.#sim.clock.steadyMs();
  }

  onDropped(member: GroupMember, queue: string): void {
    if (this.#holders.get(queue) !== member || member.gone) return;
    this.#holders.delete(queue);
    this.ownersChangedMs = this.#sim.clock.steadyMs();
  }

  /** What must be true once all that was under way has come to rest. @param dead names in the dead-letter topic. */
  checkEnd(dead: readonly string[]): void {
    for (const [name, { failures, acknowledged }] of this.sent) {
      const isPoison = !this.orderly && failures > this.#retryMax;
      if (isPoison) this.#check(!this.consumed.has(name), `${name} was consumed`);
      if (!acknowledged) continue;
      if (isPoison) this.#check(dead.includes(name), `${name} is in ${dlqTopicOf(this.group)}: ${dead}`);
      else this.#check(this.consumed.has(name), `${name} was consumed`);
    }
    for (const name of dead) this.#check((this.sent.get(name)?.failures ?? 0) > this.#retryMax, `${name} is dead rightly`);
  }

  #onRetried(record: MessageRecord, name: string, topic: string): void {
    const { reconsumeTimes, properties } = record;
    this.#check(record.topic === retryTopicOf(this.group), `${name} came again from ${record.topic}`);
    this.#check(reconsumeTimes <= this.#retryMax, `${name} came ${reconsumeTimes} times`);
    this.#check(properties.get('RETRY_TOPIC') === topic, `${name} RETRY_TOPIC=${properties.get('RETRY_TOPIC')}`);
    const dueMs = this.#retryDueMs.get(`${name}#${reconsumeTimes}`);
    this.#check(dueMs !== undefined, `${name} was sent back ${reconsumeTimes} times`);
    this.#notBefore(present(dueMs, 'due'), `${name}#${reconsumeTimes}`);
  }

  readonly #failed = new Map<string, number>();

  /** In order a message fails in its place: counted here, as nothing counts it in the broker. */
  #failsEnough(name: string): boolean {
    const failed = this.#failed.get(name) ?? 0;
    this.#failed.set(name, failed + 1);
    return failed >= Math.min(2, this.sent.get(name)?.failures ?? 0);
  }

  #inOrder(member: GroupMember, record: MessageRecord): void {
    const queue = `${record.topic}/${record.queueId}`;
    this.#check(this.#holders.get(queue) === member, `${member.id} reads ${queue} under its lock`);
    const consumedTo = this.#consumedTo.get(queue) ?? -1;
    this.#check(
      record.queueOffset <= consumedTo + 1,
      `${queue} at ${record.queueOffset}, but nobody consumed what is behind ${consumedTo}`,
    );
  }

  #noteConsumed(queue: string, offset: number): void {
    this.#consumedTo.set(queue, Math.max(offset, this.#consumedTo.get(queue) ?? offset));
  }

  #notBefore(dueMs: number, what: string): void {
    if (this.checksTimes) this.#check(this.#sim.clock.wallMs() >= dueMs, `${what} came ${dueMs - this.#sim.clock.wallMs()} ms early`);
  }

  #check(holds: boolean, what: string): void {
    assert(holds, `${what} group=${this.group} clockMs=${this.#sim.clock.steadyMs()} seed=${this.#sim.seed}`);
  }
}
