// What was sent to a broker that may lose power, what it promised of each message, and the check of what is left after each cut.
import { assert } from '../../src/base/assert.ts';
import type { Random } from '../../src/base/random.ts';
import { encodeBatch } from '../../src/message/batch.ts';
import type { MessageRecord } from '../../src/message/record-decode.ts';
import { RequestCodes, ResponseCodes } from '../../src/protocol/codes.ts';
import type { ExtFields } from '../../src/protocol/header.ts';
import { type Answer, bodyOf, nameOf, propertiesOf, recordsOf, type SimClient, sendFields } from './sim-client.ts';

export interface Sent {
  readonly name: string;
  readonly topic: string;
  readonly queueId: number;
  readonly tag: string;
  readonly sizeBytes: number;
  /** A property, of several sectors now and then. */
  readonly note: string;
  /** Its acknowledgement says that it is on stable storage. */
  readonly waitsForDisk: boolean;
  /** Known once it was acknowledged or read after a start. */
  known: boolean;
  offset: number;
  position: number;
  /** It was read from a disk that had lost power: no later cut may take it. */
  settled: boolean;
}

export type NewMessage = Omit<Sent, 'known' | 'offset' | 'position' | 'settled'>;

/** How lives ended since the last check. */
export interface LifeEnd {
  /** Bytes of the log that the broker had called synced. */
  readonly synced: number;
  /** Processes were ended, but the disk kept everything. */
  readonly diskKept: boolean;
}

export class Ledger {
  readonly sent = new Map<string, Sent>();
  /** `topic/queueId`. */
  readonly queues = new Map<string, { readonly topic: string; readonly queueId: number }>();
  lostCount = 0;
  /** Messages that were acknowledged or found, over all lives. */
  knownCount = 0;

  note(sent: NewMessage): void {
    this.sent.set(sent.name, { ...sent, known: false, offset: -1, position: -1, settled: false });
    this.queues.set(`${sent.topic}/${sent.queueId}`, { topic: sent.topic, queueId: sent.queueId });
  }

  onAck(names: readonly string[], answer: Answer): void {
    const first = Number(answer.ext['queueOffset']);
    const ids = (answer.ext['msgId'] ?? '').split(',');
    assert(ids.length === names.length, `${ids.length} ids for ${names.length} messages`);
    names.forEach((name, i) => {
      const id = ids[i] as string;
      this.#learn(this.#of(name), first + i, Number.parseInt(id.slice(-16), 16));
    });
  }

  /** A record as a consumer gets it is what was sent, at the place that was acknowledged. */
  checkRead(topic: string, queueId: number, record: MessageRecord): Sent {
    const name = nameOf(record);
    const sent = this.sent.get(name);
    assert(sent !== undefined, `nobody sent ${name}, or it was lost before: ${topic}/${queueId} offset=${record.queueOffset}`);
    const where = `${name} ${topic}/${queueId} offset=${record.queueOffset} position=${record.position}`;
    assert(sent.topic === topic && sent.queueId === queueId, `a message of ${sent.topic}/${sent.queueId} in another queue: ${where}`);
    assert(bodyOf(name, sent.sizeBytes).equals(record.body), `a body differs from what was sent: ${where}`);
    assert((record.properties.get('note') ?? '') === sent.note, `a property differs from what was sent: ${where}`);
    assert((record.properties.get('TAGS') ?? '') === sent.tag, `a tag differs from what was sent: ${where}`);
    if (sent.known) {
      const same = sent.offset === record.queueOffset && sent.position === record.position;
      assert(same, `acknowledged at offset=${sent.offset} position=${sent.position}, found elsewhere: ${where}`);
    }
    return sent;
  }

  /** Everything that a clean stop leaves is on stable storage. */
  settleKnown(): void {
    for (const sent of this.sent.values()) if (sent.known) sent.settled = true;
  }

  /** Compares all that can be read after a start with the promises, and forgets what was lost by right. */
  checkStart(client: SimClient, end: LifeEnd): void {
    const found = new Set<Sent>();
    let positionMax = -1;
    for (const { topic, queueId } of this.queues.values()) {
      const records = readQueue(client, topic, queueId);
      records.forEach((record, i) => {
        assert(record.queueOffset === i, `offsets have a gap: ${record.queueOffset} at ${i} ${topic}/${queueId}`);
        const sent = this.checkRead(topic, queueId, record);
        assert(!found.has(sent), `a message is there twice: ${sent.name} ${topic}/${queueId}`);
        found.add(sent);
        positionMax = Math.max(positionMax, record.position);
        if (!sent.known) this.#learn(sent, record.queueOffset, record.position);
        if (!end.diskKept) sent.settled = true;
      });
      const max = client.askNumber(RequestCodes.GET_MAX_OFFSET, topic, queueId);
      assert(max === records.length, `max offset ${max} of ${records.length} messages ${topic}/${queueId}`);
    }
    for (const sent of [...this.sent.values()]) {
      if (found.has(sent)) continue;
      if (sent.known) this.#checkLost(sent, positionMax, end);
      this.sent.delete(sent.name);
    }
  }

  /** Some of the messages that are there are found by their keys, and nothing else is. */
  checkKeys(client: SimClient, random: Random): void {
    const all = [...this.sent.values()].filter((sent) => sent.known);
    for (let i = 0; i < Math.min(3, all.length); i++) {
      const { name, topic } = all[random.below(all.length)] as Sent;
      const ext = { topic, key: name, maxNum: 8, beginTimestamp: 0, endTimestamp: Number.MAX_SAFE_INTEGER };
      const found = recordsOf(client.ask(RequestCodes.QUERY_MESSAGE, ext)).map(nameOf);
      assert(found.join() === name, `a query by key ${name} finds ${found.join()}`);
    }
  }

  #checkLost(sent: Sent, positionMax: number, end: LifeEnd): void {
    const { name, topic, queueId, offset, position } = sent;
    const where = `${name} ${topic}/${queueId} offset=${offset} position=${position}`;
    assert(!sent.waitsForDisk, `a message is lost that was acknowledged as synced: ${where}`);
    assert(!sent.settled, `a message is lost that an earlier start had found: ${where}`);
    assert(!end.diskKept, `a message is lost though the disk kept everything: ${where}`);
    assert(position >= end.synced, `a message is lost that lies before synced=${end.synced}: ${where}`);
    assert(position > positionMax, `a message is lost, a later one at position=${positionMax} is not: ${where}`);
    this.lostCount++;
  }

  #learn(sent: Sent, offset: number, position: number): void {
    if (sent.known) return;
    sent.known = true;
    sent.offset = offset;
    sent.position = position;
    this.knownCount++;
  }

  #of(name: string): Sent {
    const sent = this.sent.get(name);
    assert(sent !== undefined, `an answer to ${name}, which is not under way`);
    return sent;
  }
}

/** All records of a queue from its start; none where the topic is not there. */
export function readQueue(client: SimClient, topic: string, queueId: number): MessageRecord[] {
  const records: MessageRecord[] = [];
  for (let offset = 0; ; ) {
    const answer = client.askPull(topic, queueId, 'auditors', { offset });
    const { code } = answer;
    if (code === ResponseCodes.PULL_NOT_FOUND || code === ResponseCodes.TOPIC_NOT_EXIST) return records;
    assert(
      code === ResponseCodes.SUCCESS || code === ResponseCodes.PULL_RETRY_IMMEDIATELY,
      `a pull of ${topic}/${queueId}: ${code} ${answer.remark}`,
    );
    if (code === ResponseCodes.SUCCESS) records.push(...recordsOf(answer));
    const next = Number(answer.ext['nextBeginOffset']);
    assert(next > offset, `a pull of ${topic}/${queueId} at ${offset} leads to ${next}`);
    offset = next;
  }
}

/** One message as a single send, several as a batch. @param waitFalse the sender does not want to wait for the disk. */
export function requestOf(all: readonly NewMessage[], waitFalse: boolean): { code: number; ext: ExtFields; body: Buffer } {
  const [first] = all as [NewMessage];
  const { topic, queueId, name, tag, sizeBytes, note } = first;
  if (all.length > 1) {
    const entries = all.map((one) => {
      return { flag: 0, body: bodyOf(one.name, one.sizeBytes), properties: Buffer.from(propertiesOf(one.name, one.tag)) };
    });
    const ext = sendFields(topic, queueId, `${name}b`, '', true);
    return { code: RequestCodes.SEND_BATCH_MESSAGE, ext, body: encodeBatch(entries) };
  }
  const properties = [propertiesOf(name, tag), note === '' ? '' : `note\x01${note}\x02`, waitFalse ? 'WAIT\x01false\x02' : ''];
  const ext = { ...sendFields(topic, queueId, name, tag), i: properties.join('') };
  return { code: RequestCodes.SEND_MESSAGE_V2, ext, body: bodyOf(name, sizeBytes) };
}
