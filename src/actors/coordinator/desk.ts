// All that the coordinator knows, in one place for its handlers, and the one way in which changes become durable and known.
import { RateLimit } from '../../base/rate-limit.ts';
import { ConsumerGroups } from '../../core/consumer-groups.ts';
import type { ResetKind } from '../../core/offset-resets.ts';
import { NO_OFFSET } from '../../core/offset-table.ts';
import { RequestCodes } from '../../protocol/codes.ts';
import { encodeConsumerIdsChangedRequest } from '../../protocol/commands/consumer-ids-changed.ts';
import { type ActorContext, Positions } from '../context.ts';
import { type MemberChange, Messages } from '../messages.ts';
import type { Outbox } from '../outbox.ts';
import { ClientCaller } from './client-caller.ts';
import { Directory } from './directory.ts';
import { GroupKeeper, memberState } from './group-keeper.ts';
import { addressOf, type Link, Links } from './links.ts';
import { LockKeeper } from './lock-keeper.ts';
import { LookUpAsker } from './look-ups.ts';
import { Membership } from './membership.ts';
import { OffsetKeeper } from './offset-keeper.ts';
import { QueueReads } from './queue-reads.ts';
import { Registrar } from './registrar.ts';
import type { Reply, Request } from './request.ts';
import { SettingsKeeper } from './settings-keeper.ts';
import { StateFiles } from './state-files.ts';
import { TopicKeeper } from './topic-keeper.ts';
import { Traffic } from './traffic.ts';

const BACKWARDS_LOG_MS = 10_000;
const TELL_RESETS_MS = 50;

export interface LateAnswer {
  readonly request: Request;
  readonly reply: Reply;
  readonly changes: boolean;
}
const nothingLate: readonly LateAnswer[] = [];

export class Desk {
  readonly context: ActorContext;
  readonly links = new Links();
  readonly consumers = new ConsumerGroups();
  readonly directory: Directory;
  readonly topics: TopicKeeper;
  readonly groups: GroupKeeper;
  readonly offsets: OffsetKeeper;
  readonly membership: Membership;
  readonly registrar: Registrar;
  readonly calls: ClientCaller;
  readonly lookUps: LookUpAsker;
  readonly traffic: Traffic;
  readonly settings: SettingsKeeper;
  readonly #files: StateFiles;
  readonly #locks: LockKeeper;
  readonly #reads: QueueReads;
  readonly #ingresses: readonly Outbox[];
  readonly #backwardsLimit = new RateLimit(BACKWARDS_LOG_MS);
  #late: LateAnswer[] = [];
  /** When ingresses hear next of who knows of resets. */
  #tellResetsAtMs = 0;
  /** Topics whose change is on disk, but not yet told to name servers. */
  readonly #unregistered: string[] = [];
  /** Offsets must be written with the next commit, and not in their own time. */
  #offsetsUrgent = false;

  constructor(context: ActorContext) {
    this.context = context;
    this.#ingresses = context.namesOf('ingress').map((name) => context.outbox(name));
    this.#files = new StateFiles(context);
    this.settings = new SettingsKeeper(context);
    this.#reads = new QueueReads(context.queueReads);
    this.directory = new Directory(context);
    this.topics = new TopicKeeper(context, this.directory);
    this.#locks = new LockKeeper(context, this.#files.locks);
    const locks = this.#locks.table;
    this.offsets = new OffsetKeeper(context, this.topics);
    this.groups = new GroupKeeper(context, this.directory, this.topics, this.consumers, locks, this.offsets.resets);
    this.calls = new ClientCaller(context, (ingress) => this.outboxOf(ingress));
    this.lookUps = new LookUpAsker(context);
    this.registrar = new Registrar(context, this.topics);
    this.traffic = new Traffic(context, this.topics);
    this.membership = new Membership(context, this.consumers, locks, this.links, {
      groupChanged: (group) => {
        if (this.consumers.get(group) === undefined) this.traffic.groupLeft(group);
        this.groups.tell(group);
      },
      memberChanged: (group, link, member) => {
        const change: MemberChange = { connectionId: link.connectionId, group, live: member === null ? null : memberState(member) };
        this.outboxOf(link.ingress).sendJson(Messages.memberChanged, change);
      },
      notify: (group, link) =>
        this.calls.tell(link, RequestCodes.NOTIFY_CONSUMER_IDS_CHANGED, encodeConsumerIdsChangedRequest({ consumerGroup: group })),
      closeConnection: (link) => this.outboxOf(link.ingress).send(Messages.closeConnection, [link.connectionId]),
      wantsNotices: (group) =>
        context.settings.notifyConsumerIdsChangedEnable && this.groups.table.get(group)?.notifyConsumerIdsChangedEnable !== false,
    });
  }

  outboxOf(ingress: number): Outbox {
    return this.#ingresses[ingress] as Outbox;
  }

  /** How many changes of topics and groups there have been: whoever changes something must not be told so before it is on disk. */
  get changeCount(): number {
    return this.topics.changeCount + this.groups.changeCount + this.offsets.changeCount + this.settings.changeCount;
  }

  load(): void {
    this.settings.load(this.#files.settings.load());
    this.topics.removed.load(this.#files.removed.load());
    const topics = this.#files.loadTopics();
    this.topics.load(topics, topics === null || this.#files.topicsFellBack);
    this.groups.load(this.#files.loadGroups());
    const [offsets, joins, resets] = [this.#files.offsets.load(), this.#files.joins.load(), this.#files.resets.load()];
    if (offsets !== null) this.offsets.table.load(offsets);
    else this.offsets.warnOfNone();
    this.#cutOffsets();
    if (joins !== null) this.offsets.joins.load(joins);
    if (resets !== null) this.offsets.loadResets(resets);
    this.#tellResets();
    this.#publishReads();
    this.traffic.start();
    this.#locks.load(this.topics.table, this.groups.table);
    this.membership.tellLocks();
  }

  /** With a power cut messages may have gone that were read and committed: what takes their offsets now must not be skipped. */
  #cutOffsets(): void {
    const { boot, log } = this.context;
    if (!boot.abnormal) return;
    const count = this.offsets.table.cutTo((topic, queueId) =>
      this.topics.keys.keyOf(topic, queueId) < 0 ? NO_OFFSET : this.topics.endOf(topic, queueId),
    );
    if (count === 0) return;
    // Before anything is stored: behind new messages the same offsets would look right.
    this.#offsetsUrgent = true;
    log.warn('committed offsets lay beyond the end of their queues after an unclean stop; they are set to the end', { count });
  }

  /** What lived on the connections of its predecessor ends; all topics and groups go to the new one. */
  ingressRestarted(ingress: number): void {
    for (const link of this.links.ofIngress(ingress)) {
      this.links.close(ingress, link.connectionId);
      this.linkClosed(link.id, true);
    }
    this.topics.tellAll();
    this.groups.tellAll();
    this.directory.restarted(ingress);
  }

  /** Everything that lived on the connection ends with it. Where the broker ended it, its client works on with what it locked. */
  linkClosed(link: number, lost = this.context.positions.get(Positions.stopping) === 1): void {
    this.membership.linkClosed(link, lost);
    this.calls.linkClosed(link);
    this.offsets.resets.linkClosed(link);
  }

  /** What is due by itself; returns how much there was. */
  tick(steadyMs: number): number {
    this.offsets.resets.expire(steadyMs);
    return this.calls.tick(steadyMs) + this.lookUps.tick(steadyMs) + this.#locks.tick(steadyMs);
  }

  nextMs(): number {
    const { resets } = this.offsets;
    const resetsMs = resets.hasChanged ? Math.min(resets.nextMs(), this.#tellResetsAtMs) : resets.nextMs();
    return Math.min(this.calls.nextMs(), this.lookUps.nextMs(), resetsMs, this.#locks.nextMs());
  }

  /**
   * The answer to a request whose handler returned LATER.
   * @param changes it says that something was changed, so that is on disk before.
   */
  answerLater(request: Request, reply: Reply, changes = false): void {
    this.#late.push({ request, reply, changes });
  }

  takeLate(): readonly LateAnswer[] {
    if (this.#late.length === 0) return nothingLate;
    const late = this.#late;
    this.#late = [];
    return late;
  }

  /** False where there is no room for so many; else on disk, and told to all, before the answer to whoever asked for it. */
  resetOffsets(group: string, topic: string, offsets: ReadonlyMap<number, number>, kind: ResetKind): boolean {
    if (!this.offsets.reset(group, topic, offsets, kind, this.consumers.get(group) === undefined)) return false;
    this.traffic.moved(group, topic, offsets);
    this.#offsetsUrgent = true;
    this.#tellResetsAtMs = 0;
    return true;
  }

  /** The same for a group that may be offline: then it is an ordinary commit, unless another reset waits. */
  setOffsets(group: string, topic: string, offsets: ReadonlyMap<number, number>): boolean {
    const moves = this.consumers.get(group) !== undefined || this.offsets.resets.ofGroup(group).length > 0;
    if (moves) return this.resetOffsets(group, topic, offsets, 'pull');
    for (const [queueId, offset] of offsets) if (this.offsets.commit(group, topic, queueId, offset, -1) === 'full') return false;
    return true;
  }

  schedulerRestarted(): void {
    this.topics.tellAll();
    this.directory.schedulerRestarted();
  }

  removeTopic(topic: string): void {
    if (this.topics.remove(topic) === null) return;
    this.traffic.topicRemoved(topic);
    this.offsets.topicRemoved(topic);
    this.membership.topicRemoved(topic);
    this.#offsetsUrgent = true;
  }

  removeGroup(group: string, withOffsets: boolean): void {
    this.groups.remove(group);
    this.membership.locks.dropGroup(group);
    this.traffic.groupRemoved(group);
    if (!withOffsets) return;
    this.offsets.groupRemoved(group);
    this.#offsetsUrgent = true;
  }

  /** Writes what changed, then tells it. Throws where it cannot be written: then nobody has been told, and the next commit tries again. */
  commit(): void {
    // Offsets before topics: a topic that is made again must not find those of the one that was removed.
    if (this.#offsetsUrgent) {
      this.saveOffsets();
      this.#offsetsUrgent = false;
    }
    if (this.offsets.resets.hasChanged && this.context.clock.steadyMs() >= this.#tellResetsAtMs) this.#tellResets();
    // The note before the topic's absence: a topic that is gone without it would show its old messages once it is made again.
    this.#files.saveRemoved(this.topics.removed);
    if (this.topics.dirty) {
      this.#files.saveTopics(this.topics.state());
      this.#unregistered.push(...this.topics.saved());
    }
    if (this.groups.dirty) {
      this.#files.saveGroups(this.groups.state());
      this.groups.saved();
    }
    this.#files.saveSettings(this.settings);
    if (this.offsets.joins.dirty) {
      this.#files.joins.save(this.offsets.joins.rows);
      this.offsets.joins.markSaved();
    }
    if (this.directory.tell().includes(0)) this.registrar.onIngressRestarted();
    this.registrar.topicsChanged(this.#unregistered.splice(0));
  }

  get offsetsDirty(): boolean {
    return this.offsets.table.dirty || this.offsets.resets.dirty;
  }

  /** Resets first: an offset that was committed after one must not be undone by it when both are loaded. */
  saveOffsets(): void {
    const { table, resets } = this.offsets;
    if (resets.dirty) {
      this.#files.resets.save(this.offsets.storedResets());
      resets.markSaved();
    }
    if (!table.dirty) return;
    this.#publishReads();
    this.#files.offsets.save({ dataVersion: table.version, rows: table.rows });
    table.markSaved();
  }

  /** What was committed since the last call is in a file before anybody is told. Throws where it cannot be written. */
  noteOffsets(): void {
    this.#files.offsets.note(this.offsets.table.takeChanges());
    if (this.#files.offsets.notedMany) this.saveOffsets();
  }

  close(): void {
    this.#locks.save();
    this.#files.offsets.close();
  }

  #publishReads(): void {
    this.#reads.publish(this.offsets.table.rows, (topic, queueId) => this.topics.keys.keyOf(topic, queueId));
  }

  /** Allowed, since tools and clients rewind; but a commit far behind is how lost progress shows first. */
  warnOfBackwards(group: string, topic: string, queueId: number, offset: number, link: Link | undefined): void {
    const stored = this.offsets.table.get(group, topic, queueId);
    if (offset < 0 || offset >= stored) return;
    const suppressed = this.#backwardsLimit.admit(this.context.clock.steadyMs());
    if (suppressed < 0) return;
    const clientId = this.consumers.get(group)?.members.get(link?.id ?? -1)?.clientId ?? '';
    const by = { clientId, address: link === undefined ? '' : addressOf(link) };
    this.context.log.warn('offset goes backwards', { group, topic, queueId, stored, committed: offset, ...by, suppressed });
  }

  /** Members of many queues learn of a reset one by one: that is told together. */
  #tellResets(): void {
    for (const group of this.offsets.resets.takeChanged()) this.groups.tell(group);
    this.#tellResetsAtMs = this.context.clock.steadyMs() + TELL_RESETS_MS;
  }
}
