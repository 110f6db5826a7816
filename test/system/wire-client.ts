// A raw client over one socket: request frames out, answers matched by their number, nothing of the client library in between.
import { connect, type Socket } from 'node:net';
import type { ExecutionContext } from 'ava';
import { RequestCodes } from '../../src/protocol/codes.ts';
import { encodePullRequest, PullFlags, PullRequest } from '../../src/protocol/commands/pull-message.ts';
import { encodeSendRequest, SendRequest } from '../../src/protocol/commands/send-message.ts';
import { FrameDecoder, HeaderCodecs } from '../../src/protocol/frame.ts';
import { type ExtFields, encodeFrame, Header, RESPONSE_FLAG, readHeader } from '../../src/protocol/header.ts';

export interface Answer {
  readonly code: number;
  readonly opaque: number;
  readonly remark: string;
  readonly ext: Record<string, string>;
  readonly body: Buffer;
}

export interface SendOptions {
  readonly queueId?: number;
  readonly properties?: string;
  readonly batch?: boolean;
  readonly ext?: ExtFields;
}

export interface PullOptions {
  readonly queueId?: number;
  readonly maxCount?: number;
  readonly suspendMs?: number;
  readonly group?: string;
  readonly tags?: string;
}

const ANSWER_LIMIT_MS = 15_000;

export function frameOf(code: number, opaque: number, ext: ExtFields, body?: Uint8Array, flag = 0): Buffer {
  return encodeFrame({ code, opaque, flag, version: 475, language: 'JAVA', ext, codec: HeaderCodecs.json, body });
}

export function sendExt(topic: string, options: SendOptions = {}): ExtFields {
  const request = new SendRequest();
  request.group = 'PG_system';
  request.topic = topic;
  request.defaultTopic = 'TBW102';
  request.defaultTopicQueueCount = 4;
  request.queueId = options.queueId ?? 0;
  request.bornTimeMs = 1_700_000_000_000;
  request.properties = options.properties ?? '';
  request.batch = options.batch ?? false;
  return { ...encodeSendRequest(RequestCodes.SEND_MESSAGE_V2, request), ...options.ext };
}

export function pullExt(topic: string, offset: number, options: PullOptions = {}): ExtFields {
  const request = new PullRequest();
  request.group = options.group ?? 'CG_system';
  request.topic = topic;
  request.queueId = options.queueId ?? 0;
  request.offset = offset;
  request.maxCount = options.maxCount ?? 32;
  request.suspendMs = options.suspendMs ?? 0;
  request.sysFlag = PullFlags.subscription | (request.suspendMs > 0 ? PullFlags.suspend : 0);
  request.subscription = options.tags ?? '*';
  return encodePullRequest(request);
}

export class WireClient {
  readonly socket: Socket;
  /** Requests that the broker sent by itself. */
  readonly unasked: Answer[] = [];
  closed = false;
  /** Answers requests of the broker with success. */
  answers = false;
  readonly #waiting = new Map<number, (answer: Answer | null) => void>();
  readonly #onClosed: (() => void)[] = [];
  #nextOpaque = 1;

  private constructor(socket: Socket) {
    this.socket = socket;
    const header = new Header();
    const decoder = new FrameDecoder({
      onFrame: (bytes, headerAt, headerSize, codec, bodyAt, bodySize) => {
        readHeader(bytes, headerAt, headerSize, codec, header);
        const { code, opaque, remark = '' } = header;
        this.#take(header.isResponse, {
          code,
          opaque,
          remark,
          ext: header.fields(),
          body: Buffer.from(bytes.subarray(bodyAt, bodyAt + bodySize)),
        });
        return true;
      },
    });
    socket.on('data', (chunk) => decoder.push(chunk));
    socket.on('error', () => {});
    socket.on('close', () => {
      this.closed = true;
      for (const give of this.#waiting.values()) give(null);
      this.#waiting.clear();
      for (const tell of this.#onClosed) tell();
    });
  }

  static open(port: number): Promise<WireClient> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new WireClient(socket));
      });
    });
  }

  /** Opened now, closed when the test ends. */
  static async for(t: ExecutionContext, port: number): Promise<WireClient> {
    const client = await WireClient.open(port);
    t.teardown(() => client.close());
    return client;
  }

  /** The answer, or null where the connection ended or nothing came. */
  ask(code: number, ext: ExtFields = {}, body?: Uint8Array | string): Promise<Answer | null> {
    const opaque = this.#nextOpaque++;
    return this.exchange(opaque, frameOf(code, opaque, ext, typeof body === 'string' ? Buffer.from(body) : body));
  }

  /** As `ask`, where an answer must come. */
  async call(code: number, ext: ExtFields = {}, body?: Uint8Array | string): Promise<Answer> {
    const answer = await this.ask(code, ext, body);
    if (answer === null) throw new Error(`no answer code=${code} closed=${this.closed}`);
    return answer;
  }

  /** A whole frame as it is, and the answer to that number. */
  exchange(opaque: number, frame: Uint8Array, limitMs = ANSWER_LIMIT_MS): Promise<Answer | null> {
    if (this.closed) return Promise.resolve(null);
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(opaque);
        resolve(null);
      }, limitMs);
      this.#waiting.set(opaque, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      this.socket.write(frame);
    });
  }

  send(topic: string, body: Uint8Array | string, options: SendOptions = {}): Promise<Answer> {
    return this.call(RequestCodes.SEND_MESSAGE_V2, sendExt(topic, options), body);
  }

  pull(topic: string, offset: number, options: PullOptions = {}): Promise<Answer> {
    return this.call(RequestCodes.PULL_MESSAGE, pullExt(topic, offset, options));
  }

  createTopic(topic: string, queueCount: number): Promise<Answer> {
    return this.call(RequestCodes.UPDATE_AND_CREATE_TOPIC, topicExt(topic, queueCount));
  }

  write(bytes: Uint8Array | string): void {
    this.socket.write(bytes);
  }

  /** Resolves with true once the peer has closed, with false where it did not in time. */
  waitClosed(limitMs = 10_000): Promise<boolean> {
    if (this.closed) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), limitMs);
      this.#onClosed.push(() => {
        clearTimeout(timer);
        resolve(true);
      });
    });
  }

  close(): void {
    this.socket.destroy();
  }

  #take(isResponse: boolean, answer: Answer): void {
    if (!isResponse) {
      this.unasked.push(answer);
      if (this.answers) this.write(frameOf(0, answer.opaque, {}, undefined, RESPONSE_FLAG));
      return;
    }
    const give = this.#waiting.get(answer.opaque);
    this.#waiting.delete(answer.opaque);
    give?.(answer);
  }
}

export function topicExt(topic: string, queueCount: number): ExtFields {
  return {
    topic,
    defaultTopic: 'TBW102',
    readQueueNums: queueCount,
    writeQueueNums: queueCount,
    perm: 6,
    topicFilterType: 'SINGLE_TAG',
    topicSysFlag: 0,
    order: false,
  };
}
