// Creates, changes and removes consumer groups: the table, each group's retry topic, and what an ingress must know of a group.

import type { Settings } from '../../config/settings.ts';
import type { ConsumerGroups, Member } from '../../core/consumer-groups.ts';
import { type GroupConfig, groupConfig, groupConfigFault, isSystemGroup } from '../../core/group-config.ts';
import { GroupTable, type GroupTableState } from '../../core/group-table.ts';
import type { OffsetResets } from '../../core/offset-resets.ts';
import type { QueueLocks } from '../../core/queue-locks.ts';
import { type Subscription, takesAll } from '../../core/subscription.ts';
import { groupFault } from '../../message/names.ts';
import { ResponseCodes } from '../../protocol/codes.ts';
import type { ActorContext } from '../context.ts';
import type { DirectoryLiveGroup, DirectoryReset } from '../messages.ts';
import type { Directory } from './directory.ts';
import { done, type Reply, refuse } from './request.ts';
import type { TopicKeeper } from './topic-keeper.ts';

export interface RetryTopicWish {
  readonly unit: boolean;
  readonly order: boolean;
}

const plain: RetryTopicWish = { unit: false, order: false };

export class GroupKeeper {
  readonly table: GroupTable;
  readonly #context: ActorContext;
  readonly #directory: Directory;
  readonly #topics: TopicKeeper;
  readonly #live: ConsumerGroups;
  readonly #locks: QueueLocks;
  readonly #resets: OffsetResets;
  #dirty = false;
  changeCount = 0;

  constructor(
    context: ActorContext,
    directory: Directory,
    topics: TopicKeeper,
    live: ConsumerGroups,
    locks: QueueLocks,
    resets: OffsetResets,
  ) {
    this.#context = context;
    this.#directory = directory;
    this.#topics = topics;
    this.#live = live;
    this.#resets = resets;
    this.#locks = locks;
    this.table = new GroupTable(context.clock.wallMs());
  }

  get dirty(): boolean {
    return this.#dirty;
  }

  load(file: GroupTableState | null): void {
    this.table.load(file);
    this.#dirty = file === null;
    this.tellAll();
  }

  tellAll(): void {
    for (const config of this.table.all()) this.tell(config.groupName);
  }

  /** Makes or changes a group; its retry topic is made with it, since tools and consumers ask for that topic's route at once. */
  put(config: GroupConfig, retry: RetryTopicWish = plain): Reply {
    const fault = groupFault(config.groupName) ?? groupConfigFault(config);
    if (fault !== null) return refuse(ResponseCodes.INVALID_PARAMETER, fault);
    const { settings, clock } = this.#context;
    if (!this.table.has(config.groupName) && this.table.size >= settings.maxQueueCount) {
      return refuse(ResponseCodes.SYSTEM_ERROR, `too many groups group=${config.groupName} max=${settings.maxQueueCount}; remove groups`);
    }
    const old = this.table.get(config.groupName);
    const topic =
      old !== undefined && old.retryQueueNums !== config.retryQueueNums
        ? this.#topics.resizeRetry(config.groupName, config.retryQueueNums)
        : this.#topics.ensureRetry(config.groupName, config.retryQueueNums, retry.unit, retry.order);
    if (topic.code !== ResponseCodes.SUCCESS) return topic;
    if (!this.table.put(config, clock.wallMs())) return done;
    this.#note(config.groupName);
    return done;
  }

  /** The group as it is, or made with defaults where that is allowed. */
  ensure(group: string, retry: RetryTopicWish = plain): Reply {
    const { settings } = this.#context;
    const known = this.table.get(group);
    if (known !== undefined) return this.#topics.ensureRetry(group, known.retryQueueNums, retry.unit, retry.order);
    const fault = groupFault(group) ?? notCreated(group, settings);
    if (fault === null) return this.put(groupConfig(group), retry);
    return refuse(ResponseCodes.SUBSCRIPTION_GROUP_NOT_EXIST, `subscription group not exist, ${group}: ${fault}`);
  }

  remove(group: string): boolean {
    if (!this.table.remove(group, this.#context.clock.wallMs())) return false;
    this.#note(group);
    return true;
  }

  setReadable(group: string, topic: string, readable: boolean): void {
    if (this.table.setReadable(group, topic, readable, this.#context.clock.wallMs())) this.#note(group);
  }

  state(): GroupTableState {
    return { dataVersion: this.table.version, groups: [...this.table.all()], forbidden: this.table.forbidden };
  }

  saved(): void {
    this.#dirty = false;
  }

  /** What ingress actors judge this group's pulls by has changed. */
  tell(group: string): void {
    const config = this.table.get(group);
    if (config === undefined) {
      this.#directory.group({ group, state: null });
      return;
    }
    const live = this.#live.get(group);
    this.#directory.group({
      group,
      state: {
        consumeEnable: config.consumeEnable,
        consumeBroadcastEnable: config.consumeBroadcastEnable,
        sysFlag: config.groupSysFlag,
        retryMaxTimes: config.retryMaxTimes,
        retryQueueCount: config.retryQueueNums,
        brokerId: config.brokerId,
        slowBrokerId: config.whichBrokerWhenConsumeSlowly,
        forbiddenTopics: this.table.forbiddenTopics(group),
        lockedTopics: this.#locks.topicsOf(group),
        live: live === undefined ? null : liveState(live.messageModel, live.merged.values()),
        resets: this.#resetsOf(group),
      },
    });
  }

  #resetsOf(group: string): DirectoryReset[] | null {
    const resets = this.#resets.ofGroup(group);
    if (resets.length === 0) return null;
    return resets.map(({ topic, queueId, epoch, offset, kind, state, offline }) => ({
      topic,
      queueId,
      epoch,
      offset,
      kind,
      state,
      offline,
    }));
  }

  #note(group: string): void {
    this.#dirty = true;
    this.changeCount++;
    this.tell(group);
  }
}

/** What pulls of this member alone are judged by. */
export function memberState(member: Member): DirectoryLiveGroup {
  return liveState(member.messageModel, member.subscriptions.values());
}

function liveState(messageModel: string, subscriptions: Iterable<Subscription>): DirectoryLiveGroup {
  return {
    broadcasting: messageModel === 'BROADCASTING',
    subscriptions: Array.from(subscriptions, (s) => ({
      topic: s.topic,
      type: s.type,
      expression: s.expression,
      codes: takesAll(s) || s.type !== 'TAG' ? null : s.codes,
      version: s.version,
    })),
  };
}

/** Why a group of a legal name is not made by whoever comes up with it; null where it is. */
function notCreated(group: string, settings: Settings): string | null {
  if (!settings.autoCreateSubscriptionGroup) return 'autoCreateSubscriptionGroup is off, create it first';
  if (isSystemGroup(group) && !settings.enableCreateSysGroup)
    return 'a group with a name of the system is not created (enableCreateSysGroup)';
  return null;
}
