// A name server as the coordinator sees it, played by a test.
import { Messages } from '../../../src/actors/messages.ts';
import { decodeRegistration } from '../../../src/protocol/bodies/register-broker.ts';
import { encodeResponse, type Header } from '../../../src/protocol/header.ts';
import { Bench } from './bench.ts';

/** One name server as the coordinator sees it: a peer with a connection. */
export class NameServer {
  readonly #bench: Bench;
  readonly peerId: number;
  connectionId = -1;

  constructor(bench: Bench, peerId: number) {
    this.#bench = bench;
    this.peerId = peerId;
  }

  connect(connectionId: number): void {
    this.connectionId = connectionId;
    this.#bench.outboxOf(0).sendJson(Messages.peerState, { peerId: this.peerId, connectionId, error: '' });
    this.#bench.run();
  }

  lose(): void {
    this.connectionId = -1;
    this.#bench.outboxOf(0).sendJson(Messages.peerState, { peerId: this.peerId, connectionId: -1, error: 'refused' });
    this.#bench.run();
  }

  /** Requests that came and were not looked at before. */
  take(): { header: Header; body: Buffer }[] {
    const mine = this.#bench.peerFrames.filter((frame) => frame.connectionId === this.connectionId);
    for (const frame of mine) this.#bench.peerFrames.splice(this.#bench.peerFrames.indexOf(frame), 1);
    return mine;
  }

  answer(header: Header, code = 0, body?: Buffer): void {
    this.#bench.outboxOf(0).sendFrame(Messages.frame, this.connectionId, encodeResponse(header, code, undefined, {}, body));
    this.#bench.run();
  }

  /** Answers all that waits. */
  answerAll(): number {
    const frames = this.take();
    for (const { header } of frames) this.answer(header);
    return frames.length;
  }
}

export function start(sets: readonly string[] = []): { bench: Bench; servers: NameServer[] } {
  const bench = new Bench({ sets: ['namesrvAddr=127.0.0.1:9876;127.0.0.2:9877', ...sets] });
  bench.run();
  return { bench, servers: [new NameServer(bench, 1), new NameServer(bench, 2)] };
}

export function topicsIn(frame: { header: Header; body: Buffer }): string[] {
  const decoded = decodeRegistration(frame.body, frame.header.field('compressed') === 'true', frame.header.version);
  return decoded.ok ? decoded.value.topics.map((topic) => topic.topicName) : [];
}
