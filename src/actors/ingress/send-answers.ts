// Answers sends: at the commit log's ack, or later, when what the sender asked for (stable storage) has come about.
import { ResponseCodes } from '../../protocol/codes.ts';
import { SendAnswer, sendAnswerSizeMax, writeSendAnswer } from '../../protocol/commands/send-answer.ts';
import { encodeFrame, RESPONSE_FLAG } from '../../protocol/header.ts';
import type { RingHandler, RingReader } from '../../runtime/ring.ts';
import { PENDING_SEND_COUNT_MAX } from '../../topology.ts';
import { Positions } from '../context.ts';
import { AppendStatuses } from '../messages.ts';
import { CHUNK_SIZE } from './chunk-pool.ts';
import type { Desk } from './desk.ts';
import { type PendingSend, PendingSends } from './pending-sends.ts';
import { ackNumber } from './send-path.ts';
import type { StoreHost } from './store-host.ts';

export class SendAnswers implements RingHandler {
  readonly pending: PendingSends;
  readonly #desk: Desk;
  readonly #host: StoreHost;
  readonly #answer = new SendAnswer();
  readonly #syncs: boolean;
  readonly #syncLimitMs: number;
  #ring: RingReader | null = null;
  /** Acknowledged sends that wait for the disk. */
  #waitingCount = 0;

  constructor(desk: Desk, host: StoreHost, firstToken: number) {
    const { settings } = desk.context;
    this.#desk = desk;
    this.#host = host;
    this.pending = new PendingSends(PENDING_SEND_COUNT_MAX, firstToken);
    this.#syncs = settings.flushDiskType === 'SYNC_FLUSH';
    this.#syncLimitMs = settings.syncFlushTimeout;
    this.#answer.regionId = settings.regionId;
    this.#answer.traceOn = settings.traceOn;
    this.#answer.key = this.pending.keys;
  }

  drain(ring: RingReader): number {
    this.#ring = ring;
    return ring.drain(this, PENDING_SEND_COUNT_MAX);
  }

  onRecord(_type: number, at: number): boolean {
    const { words } = this.#ring as RingReader;
    const word = at >> 2;
    const send = this.pending.takeAcked(words[word] as number);
    if (send === null) return true; // meant for a former incarnation
    send.status = words[word + 1] as number;
    send.queueOffset = ackNumber(words, word + 2);
    send.position = ackNumber(words, word + 4);
    if (send.status === AppendStatuses.stored && this.#syncs && send.waitsForDisk) {
      send.ackedAtMs = this.#desk.context.clock.steadyMs();
      this.#waitingCount++;
    } else this.#reply(send, send.status === AppendStatuses.stored ? ResponseCodes.SUCCESS : ResponseCodes.SERVICE_NOT_AVAILABLE);
    return true;
  }

  /** Answers those whose bytes are on disk now, or whose time is over; returns how many. */
  release(): number {
    let count = 0;
    const { positions, context } = this.#desk;
    const synced = positions.get(Positions.synced);
    const nowMs = context.clock.steadyMs();
    const hopeless = positions.get(Positions.readOnly) === 1;
    for (let send = this.pending.oldestAcked(); send !== null; send = this.pending.oldestAcked()) {
      const onDisk = send.position + send.totalSize <= synced;
      if (!onDisk && !hopeless && nowMs - send.ackedAtMs < this.#syncLimitMs) break;
      this.#waitingCount--;
      this.#reply(send, onDisk ? ResponseCodes.SUCCESS : ResponseCodes.FLUSH_DISK_TIMEOUT);
      count++;
    }
    return count;
  }

  /** When the oldest waiting send has to be answered whatever the disk does. */
  deadlineMs(): number {
    if (this.#waitingCount === 0) return Number.POSITIVE_INFINITY;
    return (this.pending.oldestAcked()?.ackedAtMs ?? Number.POSITIVE_INFINITY) + this.#syncLimitMs;
  }

  #reply(send: PendingSend, code: number): void {
    send.answered = true;
    const { client, onDone } = send;
    if (client === null) return;
    client.pendingCount--;
    if (onDone !== null) {
      send.onDone = null;
      onDone(code, send.status);
      return;
    }
    if (send.oneway || client.closed) return;
    if (code === ResponseCodes.SERVICE_NOT_AVAILABLE) {
      this.#replyUnavailable(send);
      return;
    }
    const answer = this.#answer;
    answer.queueId = send.queueId;
    answer.queueOffset = send.queueOffset;
    answer.position = send.position;
    answer.msgIdPrefix = this.#host.idPrefix;
    answer.sizes = send.sizes;
    answer.keyAt = send.keyAt;
    answer.keySize = send.keySize;
    answer.transactionId = send.keyText;
    const sizeMax = sendAnswerSizeMax(answer);
    this.#desk.touch(client);
    if (sizeMax > CHUNK_SIZE) {
      const bytes = Buffer.allocUnsafe(sizeMax);
      client.send(bytes.subarray(0, writeSendAnswer(bytes, 0, send.codec, send.opaque, code, answer)));
      return;
    }
    const chunk = client.reserve(sizeMax);
    client.wrote(writeSendAnswer(chunk, client.outputAt, send.codec, send.opaque, code, answer));
  }

  #replyUnavailable(send: PendingSend): void {
    const { regionId, traceOn } = this.#answer;
    const ext = { MSG_REGION: regionId, TRACE_ON: traceOn };
    const remark =
      send.status === AppendStatuses.noSpace
        ? 'service not available now: the disk of the commit log has no room for the message; nothing was stored, reads go on, and writes by themselves once there is space'
        : 'service not available now: the log is read-only after a failed write or sync, see the log of the broker';
    const { codec, opaque, client } = send;
    if (client === null) return;
    this.#desk.send(client, encodeFrame({ codec, opaque, code: ResponseCodes.SERVICE_NOT_AVAILABLE, flag: RESPONSE_FLAG, remark, ext }));
  }
}
