// Pulls: judges a request by what the coordinator has told, asks the queue's dispatcher, and answers with the records as they lie.
import { high32, join64, low32 } from '../../base/bytes.ts';
import { ResponseCodes } from '../../protocol/codes.ts';
import { pullAnswerHeaderSizeMax, writePullAnswerHeader } from '../../protocol/commands/pull-answer.ts';
import { PullRequest, readPullRequest } from '../../protocol/commands/pull-message.ts';
import type { Header } from '../../protocol/header.ts';
import { CounterIds } from '../../runtime/counters.ts';
import { Positions } from '../context.ts';
import { type DirectoryGroup, type DirectoryReset, type GroupChange, Messages, PullStatuses, type TopicChange } from '../messages.ts';
import { CHUNK_SIZE } from './chunk-pool.ts';
import type { ClientConnection } from './client-connection.ts';
import type { Desk } from './desk.ts';
import { answerEmptyPull } from './empty-pull.ts';
import { type Ask, PendingAsks } from './pending-asks.ts';
import { judgePull, judgeWaiting, PERM_READ, type PullVerdict, type Refusal, unmadeGroup } from './pull-checks.ts';
import { PullResets } from './pull-resets.ts';
import { ReadAdvice } from './read-advice.ts';

const PULL_HEAD_SIZE = 32;
/** Words of a `pulled` before its spans. */
const SPANS_AT = 9;
const SPAN_WORDS = 3;

interface PendingPull extends Ask {
  readonly offset: number;
  readonly group: DirectoryGroup;
  readonly groupName: string;
  readonly topic: string;
  readonly queueId: number;
  readonly queueKey: number;
}

const statusNames: Record<number, string> = {
  [PullStatuses.found]: 'FOUND',
  [PullStatuses.noMatch]: 'NO_MATCHED_MESSAGE',
  [PullStatuses.atEnd]: 'OFFSET_OVERFLOW_ONE',
  [PullStatuses.beyondEnd]: 'OFFSET_OVERFLOW_BADLY',
  [PullStatuses.belowStart]: 'OFFSET_TOO_SMALL',
  [PullStatuses.empty]: 'NO_MESSAGE_IN_QUEUE',
  [PullStatuses.unknownQueue]: 'NO_MATCHED_LOGIC_QUEUE',
};

export class PullPath {
  readonly #desk: Desk;
  readonly #countMax: number;
  readonly #request = new PullRequest();
  readonly #pending: PendingAsks<PendingPull>;
  readonly #resets: PullResets;
  readonly #advice: ReadAdvice;

  constructor(desk: Desk, firstToken: number, countMax: number) {
    this.#desk = desk;
    this.#pending = new PendingAsks(firstToken);
    this.#resets = new PullResets(desk);
    this.#countMax = countMax;
    this.#advice = new ReadAdvice(desk.context.settings);
  }

  tryHandle(client: ClientConnection, header: Header): boolean {
    const request = this.#request;
    const fault = readPullRequest(header, request);
    if (fault !== null) {
      this.#desk.answer(client, header, ResponseCodes.SYSTEM_ERROR, fault);
      return true;
    }
    const verdict = judgePull(this.#desk, request, client);
    if (!verdict.ok) {
      this.#desk.answer(client, header, verdict.code, verdict.remark, verdict.ext);
      return true;
    }
    const { resets } = verdict.group;
    if (resets !== null && this.#resets.moves(client, header, request, verdict.queueKey, resets)) return true;
    if (this.#pending.count >= this.#countMax) {
      this.#desk.answer(
        client,
        header,
        ResponseCodes.SYSTEM_BUSY,
        `too many pulls are held pulls=${this.#pending.count} heldPullCountMax=${this.#countMax}`,
      );
      return true;
    }
    // Stock brokers make a group by its first pull; a commit that follows then finds it.
    if (verdict.group === unmadeGroup && this.#desk.directory.wish(request.group))
      this.#desk.coordinator.sendJson(Messages.ensureGroup, { group: request.group });
    return this.#tryAsk(client, header, request, verdict);
  }

  #tryAsk(client: ClientConnection, header: Header, request: PullRequest, verdict: PullVerdict & { ok: true }): boolean {
    const { codes, queueKey, group } = verdict;
    const { ring } = this.#desk.dispatchOf(queueKey);
    const at = ring.claim(PULL_HEAD_SIZE + (codes?.length ?? 0) * 4);
    if (at < 0) return this.#desk.stall(client);
    const words = ring.words;
    let word = at >> 2;
    words[word++] = this.#pending.nextToken;
    words[word++] = client.id;
    words[word++] = queueKey;
    // What two words cannot hold would come out as another offset; beyond the end is beyond the end.
    const offset = Math.max(-1, Math.min(request.offset, Number.MAX_SAFE_INTEGER));
    words[word++] = high32(offset);
    words[word++] = low32(offset);
    words[word++] = request.maxCount;
    words[word++] = this.#suspendMs(request);
    words[word++] = codes === null ? -1 : codes.length;
    for (const code of codes ?? []) words[word++] = code;
    ring.commit(Messages.pull);
    // Not spread from `askOf`: that costs a microsecond a pull.
    const { opaque, codec, isOneway } = header;
    const { group: groupName, offset: from, topic, queueId } = request;
    this.#pending.add({ client, opaque, codec, oneway: isOneway, offset: from, group, groupName, topic, queueId, queueKey });
    this.#desk.context.counters.add(CounterIds.requests, 1);
    if (request.commits && request.commitOffset >= 0 && Number.isSafeInteger(request.commitOffset)) this.#commitOffset(client, request);
    return true;
  }

  #suspendMs(request: PullRequest): number {
    if (!request.suspends) return 0;
    const { longPollingEnable, shortPollingTimeMills } = this.#desk.context.settings;
    return Math.max(0, Math.min(longPollingEnable ? request.suspendMs : shortPollingTimeMills, 0x7fffffff));
  }

  #commitOffset(client: ClientConnection, request: PullRequest): void {
    const group = Buffer.from(request.group, 'utf8');
    const topic = Buffer.from(request.topic, 'utf8');
    const words = [request.queueId, high32(request.commitOffset), low32(request.commitOffset), group.length, topic.length, client.id];
    this.#desk.coordinator.sendQuietly(Messages.commitOffset, words, Buffer.concat([group, topic]));
  }

  /** Takes one `pulled`. */
  onPulled(words: Int32Array, word: number): void {
    const pull = this.#pending.take(words[word] as number);
    if (pull === undefined) return;
    if (!pull.client.closed && !pull.oneway) this.#answer(pull, words, word);
  }

  /** A group's resets changed: pulls that wait or are looked up where somebody else left off are moved at once. */
  onGroup(change: GroupChange): void {
    const { state } = change;
    if (state !== null && (!state.consumeEnable || !state.consumeBroadcastEnable || state.forbiddenTopics.length > 0))
      this.#refuseWaiting((pull) => pull.groupName === change.group);
    const moved = this.#resets.onGroup(change);
    if (moved === null) return;
    const isMoved = (pull: PendingPull): boolean => pull.groupName === change.group && moved.has(pull.queueKey);
    for (const pull of this.#pending.takeAll(isMoved)) this.#resets.move(pull, moved.get(pull.queueKey) as DirectoryReset, pull.queueKey);
  }

  onTopic({ topic, config }: TopicChange): void {
    if (config !== null && (config.perm & PERM_READ) === 0) this.#refuseWaiting((pull) => pull.topic === topic);
  }

  /** Pulls that wait are judged again: else they would still bring the next message. */
  #refuseWaiting(isMeant: (pull: PendingPull) => boolean): void {
    const faultOf = (pull: PendingPull): Refusal | null => judgeWaiting(this.#desk, pull.groupName, pull.topic, pull.client);
    for (const pull of this.#pending.takeAll((one) => isMeant(one) && faultOf(one) !== null)) {
      const fault = faultOf(pull);
      if (fault !== null) this.#desk.refuse(pull, fault.code, fault.remark, fault.ext);
    }
  }

  /**
   * A member reads these topics anew: its pulls go back to the offset that they asked for, since what was passed over may be what it reads
   * now.
   */
  askAgain(client: ClientConnection, group: string, topics: ReadonlySet<string>): void {
    const isStale = (pull: PendingPull): boolean => pull.client === client && pull.groupName === group && topics.has(pull.topic);
    for (const pull of this.#pending.takeAll(isStale))
      answerEmptyPull(this.#desk, pull, ResponseCodes.PULL_RETRY_IMMEDIATELY, 'SUBSCRIPTION_CHANGED', pull.offset, pull.queueKey);
  }

  forget(client: ClientConnection): void {
    this.#resets.forget(client);
    if (this.#pending.forget(client) === 0) return;
    for (const outbox of this.#desk.dispatches) outbox.send(Messages.cancelPulls, [client.id]);
  }

  #adviceFor(group: DirectoryGroup, words: Int32Array, word: number, spanCount: number): number {
    const logEnd = this.#desk.positions.get(Positions.appended);
    const span = word + SPANS_AT + (spanCount - 1) * SPAN_WORDS;
    const position = spanCount === 0 ? logEnd : join64(words[span] as number, words[span + 1] as number);
    return this.#advice.brokerFor(group, position, logEnd);
  }

  #answer(pull: PendingPull, words: Int32Array, word: number): void {
    const status = words[word + 1] as number;
    const next = join64(words[word + 2] as number, words[word + 3] as number);
    const min = join64(words[word + 4] as number, words[word + 5] as number);
    const max = join64(words[word + 6] as number, words[word + 7] as number);
    const spanCount = words[word + 8] as number;
    let bodySize = 0;
    for (let i = 0; i < spanCount; i++) bodySize += words[word + SPANS_AT + 2 + i * SPAN_WORDS] as number;
    const remark = statusNames[status];
    const headSize = pullAnswerHeaderSizeMax(remark);
    const inChunk = headSize + bodySize <= CHUNK_SIZE;
    const { client } = pull;
    this.#desk.touch(client);
    const out = inChunk ? client.reserve(headSize + bodySize) : Buffer.allocUnsafeSlow(headSize + bodySize);
    const from = inChunk ? client.outputAt : 0;
    const code = codeOf(status, pull.offset);
    const brokerId = this.#advice.slavesRead ? this.#adviceFor(pull.group, words, word, spanCount) : 0;
    const bodyAt = writePullAnswerHeader(out, from, pull.codec, pull.opaque, code, next, min, max, remark, bodySize, brokerId);
    let end = this.#desk.records.readSpans(words, word + SPANS_AT, spanCount, out, bodyAt);
    if (end < 0) {
      // Where retention took the oldest of them between look-up and copy, asking again leads to those that are left; what cannot be read
      // for another reason is passed over.
      const gone = this.#desk.records.isGone(join64(words[word + SPANS_AT] as number, words[word + SPANS_AT + 1] as number));
      const code = ResponseCodes.PULL_RETRY_IMMEDIATELY;
      const nextOffset = gone ? pull.offset : next;
      end = writePullAnswerHeader(out, from, pull.codec, pull.opaque, code, nextOffset, min, max, 'MESSAGE_WAS_REMOVING', 0);
    }
    this.#count(pull, spanCount, bodySize, next);
    if (inChunk) client.wrote(end);
    else client.send(out.subarray(0, end));
  }

  #count(pull: PendingPull, messages: number, bytes: number, next: number): void {
    const { counters } = this.#desk.context;
    counters.add(messages === 0 ? CounterIds.pullsMissed : CounterIds.pullsFound, 1);
    if (messages === 0) return;
    counters.add(CounterIds.messagesOut, messages);
    counters.add(CounterIds.messageBytesOut, bytes);
    this.#desk.reads.given(pull.groupName, pull.topic, pull.queueId, messages, bytes, next);
  }
}

function codeOf(status: number, offset: number): number {
  switch (status) {
    case PullStatuses.found:
      return ResponseCodes.SUCCESS;
    case PullStatuses.noMatch:
      return ResponseCodes.PULL_RETRY_IMMEDIATELY;
    case PullStatuses.atEnd:
      return ResponseCodes.PULL_NOT_FOUND;
    case PullStatuses.empty:
    case PullStatuses.unknownQueue:
      return offset === 0 ? ResponseCodes.PULL_NOT_FOUND : ResponseCodes.PULL_OFFSET_MOVED;
    default:
      return ResponseCodes.PULL_OFFSET_MOVED;
  }
}
