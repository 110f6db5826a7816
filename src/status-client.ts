// Asks a broker for its figures over one connection, as a tool would.
import { type ErrorCode, ErrorCodes, RingmqError } from './base/errors.ts';
import { decodeKvTable } from './protocol/bodies/kv-table.ts';
import { RequestCodes } from './protocol/codes.ts';
import { FrameDecoder, HeaderCodecs } from './protocol/frame.ts';
import { encodeFrame, Header, readHeader } from './protocol/header.ts';
import { NodeTransport } from './runtime/node-transport.ts';
import type { Connection, ConnectionHandler } from './runtime/transport.ts';
import type { FigureTable } from './status-report.ts';

const ANSWER_LIMIT_MS = 5_000;

interface Question {
  readonly answered: (table: FigureTable) => void;
  readonly failed: (error: Error) => void;
}

export class StatusClient implements ConnectionHandler {
  readonly #transport = new NodeTransport();
  readonly #connection: Connection;
  readonly #address: string;
  readonly #header = new Header();
  readonly #decoder = new FrameDecoder({
    onFrame: (bytes, headerAt, headerSize, codec, bodyAt, bodySize) => {
      const fault = readHeader(bytes, headerAt, headerSize, codec, this.#header);
      this.#take(fault, bytes.subarray(bodyAt, bodyAt + bodySize));
      return true;
    },
  });
  #question: Question | null = null;
  #closed: Error | null = null;
  #opaque = 0;

  constructor(host: string, port: number) {
    this.#address = `${host}:${port}`;
    this.#connection = this.#transport.connect(host, port, this);
  }

  /** One question at a time. */
  ask(): Promise<FigureTable> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#fail(this.#error(ErrorCodes.timeout, 'the broker did not answer in time')), ANSWER_LIMIT_MS);
      this.#question = {
        answered: (table) => {
          clearTimeout(timer);
          resolve(table);
        },
        failed: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      };
      if (this.#closed !== null) return this.#fail(this.#closed);
      const opaque = ++this.#opaque;
      this.#connection.write(
        encodeFrame({ code: RequestCodes.GET_BROKER_RUNTIME_INFO, opaque, flag: 0, codec: HeaderCodecs.json, ext: {} }),
      );
    });
  }

  async close(): Promise<void> {
    this.#connection.destroy();
    await this.#transport.closeAll();
  }

  onOpen(): void {}

  onData(_connection: Connection, chunk: Uint8Array): void {
    const fault = this.#decoder.push(chunk);
    if (fault !== null) this.#fail(this.#error(ErrorCodes.malformed, `the answer is no answer of a broker: ${fault}`));
  }

  onWritten(): void {}

  onClose(_connection: Connection, error?: Error): void {
    const failure = this.#error(ErrorCodes.closed, 'no connection to the broker', error);
    this.#closed = failure;
    this.#fail(failure);
  }

  #take(fault: string | null, body: Uint8Array): void {
    const { code, opaque, isResponse, remark } = this.#header;
    if (fault === null && (!isResponse || opaque !== this.#opaque)) return;
    const table = decodeKvTable(body);
    if (fault !== null || code !== 0 || !table.ok) {
      this.#fail(this.#error(ErrorCodes.malformed, `the broker tells no figures code=${code} remark=${remark ?? '-'}`));
      return;
    }
    const question = this.#question;
    this.#question = null;
    question?.answered(table.value);
  }

  #fail(error: Error): void {
    const question = this.#question;
    this.#question = null;
    question?.failed(error);
  }

  #error(code: ErrorCode, text: string, cause?: unknown): RingmqError {
    return new RingmqError(code, text, { broker: this.#address }, cause);
  }
}
