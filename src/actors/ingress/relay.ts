// The way to the coordinator and back: frames it answers, connections it should know of, peers it wants, and what it tells of topics.
import { errorText } from '../../base/errors.ts';
import { ResponseCodes } from '../../protocol/codes.ts';
import type { RingHandler, RingReader } from '../../runtime/ring.ts';
import type { ConnectionHandler } from '../../runtime/transport.ts';
import type { LookUpsAsked, TimedAnswer } from '../answer-messages.ts';
import {
  type ConnectionOpened,
  type GroupChange,
  type MemberChange,
  Messages,
  type OpenPeer,
  type PeerState,
  type ReplyPushed,
  type TopicChange,
  type TopicEnsured,
} from '../messages.ts';
import { PartAssembler } from '../part-assembler.ts';
import { type ClientConnection, PEER_NONE } from './client-connection.ts';
import type { Desk } from './desk.ts';
import { topicsReadAnew } from './directory.ts';

/** Above this much mail under way a connection's frames wait. */
const MAIL_ROOM_MIN = 128 * 1024;

/** What other paths hear of the coordinator. */
export interface RelayEvents {
  onGroup(change: GroupChange): void;
  onTopic(change: TopicChange): void;
  /** A member reads other messages of these topics than before. */
  onReadAnew(client: ClientConnection, group: string, topics: ReadonlySet<string>): void;
  onLookUps(asked: LookUpsAsked): void;
  onReplyPushed(pushed: ReplyPushed): void;
  onTimedAnswer(answer: TimedAnswer | null): void;
}

export class Relay implements RingHandler {
  readonly #desk: Desk;
  readonly #parts: PartAssembler;
  readonly #ring: RingReader;
  readonly #handlerFor: (peerId: number) => ConnectionHandler;
  readonly #events: RelayEvents;
  /**
   * At a start nothing is known of topics and groups, and who was answered now would be told that they do not exist. After a restart
   * mail that is still there was meant for the predecessor.
   */
  #directory: 'known' | 'coming' | 'awaited';

  constructor(desk: Desk, ring: RingReader, handlerFor: (peerId: number) => ConnectionHandler, events: RelayEvents) {
    this.#desk = desk;
    this.#ring = ring;
    this.#parts = new PartAssembler(ring);
    this.#handlerFor = handlerFor;
    this.#events = events;
    this.#directory = desk.context.incarnation === 0 ? 'coming' : 'awaited';
  }

  /** Frames can be judged. */
  get ready(): boolean {
    return this.#directory === 'known';
  }

  /** Before all other mail of this incarnation. */
  announce(): void {
    this.#desk.coordinator.send(Messages.ingressStarted, [this.#desk.context.incarnation]);
  }

  drain(): number {
    return this.#ring.drain(this, 1024);
  }

  /** Hands a whole frame to the coordinator; false while there is no room. */
  tryForward(client: ClientConnection, frame: Uint8Array): boolean {
    const { coordinator } = this.#desk;
    if (coordinator.hasWaiting) coordinator.flush();
    if (coordinator.hasWaiting || coordinator.ring.pendingBytes > coordinator.ring.capacity - MAIL_ROOM_MIN)
      return this.#desk.stall(client);
    coordinator.sendFrame(Messages.frame, client.id, frame);
    return true;
  }

  onOpened(client: ClientConnection): void {
    const { remoteHost, remotePort } = client.connection;
    if (client.peerId === PEER_NONE) {
      const opened: ConnectionOpened = { connectionId: client.id, host: remoteHost, port: remotePort };
      this.#desk.coordinator.sendJson(Messages.connectionOpened, opened);
    } else this.#tellPeer({ peerId: client.peerId, connectionId: client.id, error: '' });
  }

  /** @param lost this ingress ends, and all its connections with it: whoever comes after it says so, for no client has left. */
  onClosed(client: ClientConnection, error: Error | undefined, lost: boolean): void {
    if (!lost) this.#desk.coordinator.send(Messages.connectionClosed, [client.id]);
    if (client.peerId !== PEER_NONE)
      this.#tellPeer({ peerId: client.peerId, connectionId: -1, error: error === undefined ? '' : errorText(error) });
  }

  #tellPeer(state: PeerState): void {
    this.#desk.coordinator.sendJson(Messages.peerState, state);
  }

  onRecord(type: number, at: number): boolean {
    if (this.#directory === 'awaited' && type !== Messages.directoryBegins) return true;
    switch (type) {
      case Messages.directoryBegins:
        this.#directory = 'coming';
        break;
      case Messages.directoryEnds:
        this.#directory = 'known';
        break;
      case Messages.answer:
        this.#onAnswer(at);
        break;
      case Messages.topicChanged:
        this.#onTopic(this.#parts.takeJson<TopicChange>(at));
        break;
      case Messages.groupChanged:
        this.#onGroup(this.#parts.takeJson<GroupChange>(at));
        break;
      case Messages.askLookUps:
        this.#onLookUps(this.#parts.takeJson<LookUpsAsked>(at));
        break;
      case Messages.replyPushed:
        this.#onReplyPushed(this.#parts.takeJson<ReplyPushed>(at));
        break;
      case Messages.memberChanged:
        this.#onMember(this.#parts.takeJson<MemberChange>(at));
        break;
      case Messages.timedAnswer:
        this.#events.onTimedAnswer(this.#parts.takeJson<TimedAnswer>(at));
        break;
      case Messages.topicEnsured:
        this.#onTopicEnsured(this.#parts.takeJson<TopicEnsured>(at));
        break;
      case Messages.openPeer:
        this.#onOpenPeer(this.#parts.takeJson<OpenPeer>(at));
        break;
      case Messages.closeConnection:
        this.#desk.clients.get(this.#ring.words[at >> 2] as number)?.connection.destroy();
        break;
      default:
        this.#desk.context.log.error('a message of unknown type was dropped', { type });
    }
    return true;
  }

  #onAnswer(at: number): void {
    const frame = this.#parts.takeFrame(at);
    if (frame === null) return;
    const client = this.#desk.clients.get(this.#parts.connectionId);
    if (client !== undefined) this.#desk.send(client, frame);
  }

  #onTopic(change: TopicChange | null): void {
    if (change === null) return;
    this.#desk.directory.onTopic(change);
    this.#events.onTopic(change);
  }

  #onGroup(change: GroupChange | null): void {
    if (change === null) return;
    this.#desk.directory.onGroup(change);
    this.#events.onGroup(change);
  }

  #onLookUps(asked: LookUpsAsked | null): void {
    if (asked !== null) this.#events.onLookUps(asked);
  }

  #onReplyPushed(pushed: ReplyPushed | null): void {
    if (pushed !== null) this.#events.onReplyPushed(pushed);
  }

  #onMember(message: MemberChange | null): void {
    if (message === null) return;
    const { connectionId, group, live } = message;
    const client = this.#desk.clients.get(connectionId);
    if (client === undefined) return;
    const before = client.memberships.get(group);
    if (live === null) client.memberships.delete(group);
    else client.memberships.set(group, live);
    if (before === undefined || live === null) return;
    const topics = topicsReadAnew(before, live);
    if (topics.size > 0) this.#events.onReadAnew(client, group, topics);
  }

  #onTopicEnsured(message: TopicEnsured | null): void {
    if (message === null) return;
    const client = this.#desk.clients.get(message.token);
    if (client === undefined) return;
    const topic = client.waitsForTopic;
    client.waitsForTopic = '';
    const made = this.#desk.directory.topic(topic) !== undefined;
    if (message.code !== 0 || !made) {
      const code = message.code === 0 ? ResponseCodes.TOPIC_NOT_EXIST : message.code;
      client.verdict = { topic, code, remark: message.remark };
    }
  }

  #onOpenPeer(message: OpenPeer | null): void {
    if (message === null) return;
    this.#desk.context.transport.connect(message.host, message.port, this.#handlerFor(message.peerId));
  }
}
