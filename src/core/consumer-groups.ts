// Who is in which consumer group: members by the connection that they live on, and what all of them together subscribe to.
import { MEMBERS_SIZE_MAX, memberSize } from './member-limits.ts';
import { memberShapeOf, mergeSubscription, type Subscription, sameSubscription } from './subscription.ts';

/** What every kind of client says of itself. */
export interface ClientInfo {
  readonly clientId: string;
  readonly language: string;
  readonly version: number;
  /** Wall time of the last heartbeat, for displays. */
  readonly lastSeenMs: number;
}

export interface Member extends ClientInfo {
  readonly link: number;
  readonly consumeType: string;
  readonly messageModel: string;
  readonly subscriptions: ReadonlyMap<string, Subscription>;
  /** All that members of one group should have alike, as text. */
  readonly shape: string;
  /** About what it takes to keep it. */
  readonly sizeBytes: number;
  /** Of the last whole heartbeat; 0 where the client sends no short ones. */
  readonly fingerprint: number;
}

export interface ConsumerBeat extends ClientInfo {
  readonly link: number;
  readonly group: string;
  readonly consumeType: string;
  readonly messageModel: string;
  readonly consumeFromWhere: string;
  /** null: as before. */
  readonly subscriptions: readonly Subscription[] | null;
  readonly fingerprint: number;
}

export interface LiveGroup {
  readonly consumeType: string;
  readonly messageModel: string;
  readonly consumeFromWhere: string;
  /** By link, in the order of joining. */
  readonly members: ReadonlyMap<number, Member>;
  /** Per topic the subscription with the largest version. */
  readonly merged: ReadonlyMap<string, Subscription>;
}

interface Group extends LiveGroup {
  consumeType: string;
  messageModel: string;
  consumeFromWhere: string;
  readonly members: Map<number, Member>;
  merged: Map<string, Subscription>;
  readonly linkOf: Map<string, number>;
  /** How many members have each shape; more than one entry is a mismatch. */
  readonly shapes: Map<string, number>;
}

/** What a heartbeat or a leaving changed. */
export interface GroupEffect {
  /** Members or what they read: the others are to be told. */
  readonly told: boolean;
  /** What an ingress judges pulls by. */
  readonly directory: boolean;
  /** The same of this member alone. */
  readonly member: boolean;
  /** The link that held the same client id before and lost it, -1 for none. */
  readonly replacedLink: number;
  /** A newer connection holds this client id, so this one stays outside. */
  readonly refused: boolean;
  /** Set when this made the group's subscriptions differ: what the member reads, and what another reads. */
  readonly mismatch: { readonly own: string; readonly other: string } | null;
}

const nothing: GroupEffect = { told: false, directory: false, member: false, replacedLink: -1, refused: false, mismatch: null };

export class ConsumerGroups {
  readonly #groups = new Map<string, Group>();
  readonly #groupsOfLink = new Map<number, Set<string>>();
  /** Groups whose members are not alike. */
  readonly #mismatched = new Set<string>();
  readonly #sizeMax: number;
  #sizeBytes = 0;

  constructor(sizeMax = MEMBERS_SIZE_MAX) {
    this.#sizeMax = sizeMax;
  }

  /** Of all members, about. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  get size(): number {
    return this.#groups.size;
  }

  get mismatchedCount(): number {
    return this.#mismatched.size;
  }

  get linkCount(): number {
    return this.#groupsOfLink.size;
  }

  get(group: string): LiveGroup | undefined {
    return this.#groups.get(group);
  }

  /** The connection by which a client is a member; -1 where it is none. */
  linkOf(group: string, clientId: string): number {
    return this.#groups.get(group)?.linkOf.get(clientId) ?? -1;
  }

  /** Whether a member lives on this connection. */
  has(link: number): boolean {
    return this.#groupsOfLink.has(link);
  }

  groupsOf(link: number): readonly string[] {
    return [...(this.#groupsOfLink.get(link) ?? [])];
  }

  /** Groups with a member that subscribes to the topic. */
  readersOf(topic: string): string[] {
    return [...this.#groups].filter(([, group]) => group.merged.has(topic)).map(([name]) => name);
  }

  /** False where all members would become too large with what this one says. */
  hasRoom({ group, link, clientId, subscriptions }: ConsumerBeat): boolean {
    if (subscriptions === null) return true;
    const held = this.#groups.get(group)?.members.get(link)?.sizeBytes ?? 0;
    return this.#sizeBytes - held + memberSize(clientId, subscriptions) <= this.#sizeMax;
  }

  /** Links grow with time: of two connections with one client id in one group the one with the larger link is the newer. */
  beat(beat: ConsumerBeat): GroupEffect {
    const existing = this.#groups.get(beat.group);
    const rival = existing?.linkOf.get(beat.clientId);
    if (rival !== undefined && rival > beat.link) return { ...nothing, refused: true };
    const group = existing ?? this.#open(beat.group);
    const replaced = rival === undefined || rival === beat.link ? undefined : group.members.get(rival);
    if (replaced !== undefined) this.#drop(beat.group, group, replaced);
    return this.#seat(group, beat, replaced);
  }

  #open(name: string): Group {
    const group: Group = {
      consumeType: '',
      messageModel: '',
      consumeFromWhere: '',
      members: new Map(),
      merged: new Map(),
      linkOf: new Map(),
      shapes: new Map(),
    };
    this.#groups.set(name, group);
    return group;
  }

  #seat(group: Group, beat: ConsumerBeat, replaced: Member | undefined): GroupEffect {
    const old = group.members.get(beat.link);
    const before = old ?? replaced;
    const isFirst = group.members.size === 0;
    const subscriptions = subscriptionsAfter(beat, before?.subscriptions);
    const { link, clientId, language, version, lastSeenMs, consumeType, messageModel, fingerprint } = beat;
    const same = subscriptions === before?.subscriptions && messageModel === before.messageModel && consumeType === before.consumeType;
    const shape = same ? before.shape : memberShapeOf(subscriptions.values(), messageModel, consumeType);
    if (old !== undefined) this.#unseat(group, old);
    const other = firstOtherShape(group, shape);
    const wasUniform = group.shapes.size <= 1;
    const told = beat.subscriptions === null ? (before?.fingerprint ?? 0) : fingerprint;
    const member: Member = {
      link,
      clientId,
      language,
      version,
      lastSeenMs,
      consumeType,
      messageModel,
      subscriptions,
      shape,
      sizeBytes: same && before.clientId === clientId ? before.sizeBytes : memberSize(clientId, subscriptions.values()),
      fingerprint: told,
    };
    group.members.set(link, member);
    this.#sizeBytes += member.sizeBytes;
    group.linkOf.set(clientId, link);
    countShape(group.shapes, shape, 1);
    this.#noteShapes(beat.group, group);
    this.#groupsOfLink.set(link, (this.#groupsOfLink.get(link) ?? new Set<string>()).add(beat.group));

    const modelChanged = group.messageModel !== messageModel;
    group.consumeType = consumeType;
    group.messageModel = messageModel;
    group.consumeFromWhere = beat.consumeFromWhere;
    let changed = remerge(group, before?.subscriptions ?? noSubscriptions, subscriptions);
    // Two memberships became this one.
    if (old !== undefined && replaced !== undefined && remerge(group, replaced.subscriptions, noSubscriptions)) changed = true;
    const news = before?.shape !== shape || before.clientId !== clientId;
    return {
      told: news,
      directory: isFirst || modelChanged || changed,
      member: old === undefined || !same,
      replacedLink: replaced?.link ?? -1,
      refused: false,
      mismatch: news && wasUniform && other !== null ? { own: shape, other } : null,
    };
  }

  /** One connection leaves one group. Null where it is not in it. */
  leave(name: string, link: number): GroupEffect | null {
    const group = this.#groups.get(name);
    const member = group?.members.get(link);
    if (group === undefined || member === undefined) return null;
    this.#drop(name, group, member);
    if (group.members.size === 0) {
      this.#groups.delete(name);
      return { ...nothing, directory: true };
    }
    return { ...nothing, told: true, directory: remerge(group, member.subscriptions, noSubscriptions) };
  }

  /** What another member of the group reads, and how, where that is not what a member of this shape does; null: all alike. */
  differing(name: string, clientId: string, shape: string): string | null {
    for (const member of this.#groups.get(name)?.members.values() ?? []) {
      if (member.clientId !== clientId && member.shape !== shape) return member.shape;
    }
    return null;
  }

  #drop(name: string, group: Group, member: Member): void {
    this.#unseat(group, member);
    this.#noteShapes(name, group);
    const groups = this.#groupsOfLink.get(member.link);
    groups?.delete(name);
    if (groups?.size === 0) this.#groupsOfLink.delete(member.link);
  }

  #noteShapes(name: string, group: Group): void {
    if (group.shapes.size > 1) this.#mismatched.add(name);
    else this.#mismatched.delete(name);
  }

  #unseat(group: Group, member: Member): void {
    group.members.delete(member.link);
    this.#sizeBytes -= member.sizeBytes;
    if (group.linkOf.get(member.clientId) === member.link) group.linkOf.delete(member.clientId);
    countShape(group.shapes, member.shape, -1);
  }
}

const noSubscriptions: ReadonlyMap<string, Subscription> = new Map();

/** Keeps the objects, and the whole table, where a heartbeat says nothing new; most do not. */
function subscriptionsAfter(
  beat: ConsumerBeat,
  before: ReadonlyMap<string, Subscription> = noSubscriptions,
): ReadonlyMap<string, Subscription> {
  if (beat.subscriptions === null) return before;
  const table = new Map<string, Subscription>();
  for (const s of beat.subscriptions) mergeSubscription(table, s);
  let news = table.size !== before.size;
  for (const [topic, s] of table) {
    const old = before.get(topic);
    if (old !== undefined && sameSubscription(old, s)) table.set(topic, old);
    else news = true;
  }
  return news ? table : before;
}

function firstOtherShape(group: Group, shape: string): string | null {
  for (const other of group.shapes.keys()) if (other !== shape) return other;
  return null;
}

function countShape(shapes: Map<string, number>, shape: string, by: number): void {
  const count = (shapes.get(shape) ?? 0) + by;
  if (count > 0) shapes.set(shape, count);
  else shapes.delete(shape);
}

/** Brings the merged table up to date after one member's subscriptions went from `before` to `after`; true when it changed. */
function remerge(group: Group, before: ReadonlyMap<string, Subscription>, after: ReadonlyMap<string, Subscription>): boolean {
  if (before === after) return false;
  let changed = false;
  for (const [topic, old] of before) {
    // Only what this member brought in is looked for among all the others.
    if (after.get(topic) === old || group.merged.get(topic) !== old) continue;
    group.merged.delete(topic);
    for (const member of group.members.values()) {
      const s = member.subscriptions.get(topic);
      if (s !== undefined) mergeSubscription(group.merged, s);
    }
    const now = group.merged.get(topic);
    if (now === undefined || !sameSubscription(now, old)) changed = true;
  }
  for (const s of after.values()) if (mergeSubscription(group.merged, s)) changed = true;
  return changed;
}
