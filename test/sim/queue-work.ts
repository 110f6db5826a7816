// A member's work on one queue: where to begin, pull, handle one by one, commit.
import type { MessageRecord } from '../../src/message/record-decode.ts';
import { RequestCodes, ResponseCodes } from '../../src/protocol/codes.ts';
import { encodeSendBackRequest } from '../../src/protocol/commands/send-back.ts';
import type { GroupMember } from './group-member.ts';
import { type Answer, recordsOf } from './sim-client.ts';

const SUSPEND_MS = 15_000;
const RETRY_MS = 1_000;
const BATCH = 4;

export class QueueWork {
  readonly #member: GroupMember;
  readonly #topic: string;
  readonly #queueId: number;
  #offset = 0;
  #stopped = false;

  constructor(member: GroupMember, topic: string, queueId: number) {
    this.#member = member;
    this.#topic = topic;
    this.#queueId = queueId;
  }

  start(): void {
    const { client, rules } = this.#member;
    if (rules.broadcasting) {
      this.#pull();
      return;
    }
    const ext = { consumerGroup: rules.group, topic: this.#topic, queueId: this.#queueId };
    client.send(RequestCodes.QUERY_CONSUMER_OFFSET, ext, undefined, (answer) => {
      if (this.#stopped) return;
      if (answer.code === ResponseCodes.SUCCESS) this.#offset = Number(answer.ext['offset']);
      else if (answer.code !== ResponseCodes.QUERY_NOT_FOUND) return this.#again(() => this.start());
      this.#pull();
    });
  }

  stop(): void {
    this.#stopped = true;
  }

  #again(what: () => void): void {
    this.#member.later(RETRY_MS, () => {
      if (!this.#stopped) what();
    });
  }

  #pull(): void {
    const { client, rules } = this.#member;
    const options = { offset: this.#offset, suspendMs: SUSPEND_MS, maxCount: BATCH };
    client.pull(this.#topic, this.#queueId, rules.group, options, (answer) => {
      if (!this.#stopped) this.#onPulled(answer);
    });
  }

  #onPulled(answer: Answer): void {
    switch (answer.code) {
      case ResponseCodes.SUCCESS:
        this.#handle(recordsOf(answer), 0);
        return;
      case ResponseCodes.PULL_NOT_FOUND:
      case ResponseCodes.PULL_RETRY_IMMEDIATELY:
      case ResponseCodes.PULL_OFFSET_MOVED:
        this.#offset = Number(answer.ext['nextBeginOffset']);
        this.#pull();
        return;
      default:
        this.#again(() => this.#pull());
    }
  }

  #handle(records: readonly MessageRecord[], at: number): void {
    if (this.#stopped) return;
    const { rules } = this.#member;
    if (rules.orderly && !this.#member.trusts(`${this.#topic}/${this.#queueId}`)) {
      this.#again(() => this.#handle(records, at));
      return;
    }
    const record = records[at];
    if (record === undefined) {
      this.#pull();
      return;
    }
    if (rules.onDelivery(this.#member, record) || rules.broadcasting) this.#done(records, at);
    // In its order: again in its place, until it is consumed.
    else if (rules.orderly) this.#again(() => this.#handle(records, at));
    else this.#sendBack(records, at);
  }

  #sendBack(records: readonly MessageRecord[], at: number): void {
    const { client, rules } = this.#member;
    const record = records[at] as MessageRecord;
    const ext = encodeSendBackRequest({ offset: record.position, group: rules.group, delayLevel: 0, originTopic: this.#topic });
    rules.onSendBack(record);
    client.send(RequestCodes.CONSUMER_SEND_MSG_BACK, ext, undefined, ({ code }) => {
      if (code === ResponseCodes.SUCCESS) this.#done(records, at);
      else this.#again(() => this.#sendBack(records, at));
    });
  }

  #done(records: readonly MessageRecord[], at: number): void {
    if (this.#stopped) return;
    const { client, rules } = this.#member;
    this.#offset = (records[at] as MessageRecord).queueOffset + 1;
    if (!rules.broadcasting) {
      const ext = { consumerGroup: rules.group, topic: this.#topic, queueId: this.#queueId, commitOffset: this.#offset };
      client.send(RequestCodes.UPDATE_CONSUMER_OFFSET, ext, undefined, () => {});
    }
    this.#handle(records, at + 1);
  }
}
