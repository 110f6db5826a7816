// The coordinator's files below `config/`: topics, groups, offsets, resets, joins, locks, between their tables and what is stored of them.
import type { GroupConfig } from '../../core/group-config.ts';
import type { GroupTableState } from '../../core/group-table.ts';
import type { RemovedTopics } from '../../core/removed-topics.ts';
import type { TopicConfig } from '../../core/topic-config.ts';
import type { TopicTableState } from '../../core/topic-table.ts';
import { subscriptionGroupJson, subscriptionGroupOf } from '../../protocol/bodies/subscription-group.ts';
import { topicConfigDataOf, topicConfigJson } from '../../protocol/bodies/topic-config.ts';
import { ChangedSettingsFile } from '../../store/changed-settings-file.ts';
import { GroupsFile } from '../../store/groups-file.ts';
import { JoinsFile } from '../../store/joins-file.ts';
import { LocksFile } from '../../store/locks-file.ts';
import { OffsetsFile } from '../../store/offsets-file.ts';
import { RemovedTopicsFile } from '../../store/removed-topics-file.ts';
import { ResetsFile } from '../../store/resets-file.ts';
import type { StoredMembers } from '../../store/state-json.ts';
import { storeFolders } from '../../store/store-folders.ts';
import { TopicsFile } from '../../store/topics-file.ts';
import type { ActorContext } from '../context.ts';
import type { SettingsKeeper } from './settings-keeper.ts';

export class StateFiles {
  readonly offsets: OffsetsFile;
  readonly joins: JoinsFile;
  readonly locks: LocksFile;
  readonly resets: ResetsFile;
  readonly settings: ChangedSettingsFile;
  readonly removed: RemovedTopicsFile;
  readonly #topics: TopicsFile;
  readonly #groups: GroupsFile;
  /** A configuration is replaced, never changed. */
  readonly #members = new WeakMap<TopicConfig | GroupConfig, StoredMembers>();

  constructor({ files, settings, log }: ActorContext) {
    const folder = storeFolders(settings.storePathRootDir).config;
    this.#topics = new TopicsFile(files, folder, log);
    this.#groups = new GroupsFile(files, folder, log);
    this.offsets = new OffsetsFile(files, folder, log);
    this.joins = new JoinsFile(files, folder, log);
    this.locks = new LocksFile(files, folder, log);
    this.resets = new ResetsFile(files, folder, log);
    this.removed = new RemovedTopicsFile(files, folder, log);
    this.settings = new ChangedSettingsFile(files, folder, log);
  }

  saveSettings(settings: SettingsKeeper): void {
    if (!settings.dirty) return;
    this.settings.save(settings.changes);
    settings.saved();
  }

  saveRemoved(removed: RemovedTopics): void {
    if (!removed.dirty) return;
    this.removed.save(removed.positions);
    removed.dirty = false;
  }

  /** null: there is none yet. */
  loadTopics(): TopicTableState | null {
    const stored = this.#topics.load();
    if (stored === null) return null;
    return { dataVersion: stored.dataVersion, topics: [...stored.topics].map(([name, members]) => topicConfigDataOf(members, name)) };
  }

  /** What was loaded may lack the newest topics. */
  get topicsFellBack(): boolean {
    return this.#topics.fellBack;
  }

  saveTopics({ dataVersion, topics }: TopicTableState): void {
    this.#topics.save({
      dataVersion,
      topics: new Map(topics.map((config) => [config.topicName, this.#membersOf(config, topicConfigJson)])),
    });
  }

  loadGroups(): GroupTableState | null {
    const stored = this.#groups.load();
    if (stored === null) return null;
    const groups = [...stored.groups].map(([name, members]) => subscriptionGroupOf(members, name));
    return { dataVersion: stored.dataVersion, groups, forbidden: stored.forbidden };
  }

  saveGroups({ dataVersion, groups, forbidden }: GroupTableState): void {
    this.#groups.save({
      dataVersion,
      groups: new Map(groups.map((config) => [config.groupName, this.#membersOf(config, subscriptionGroupJson)])),
      forbidden,
    });
  }

  #membersOf<Config extends TopicConfig | GroupConfig>(config: Config, jsonOf: (config: Config) => StoredMembers): StoredMembers {
    let members = this.#members.get(config);
    if (members === undefined) {
      members = jsonOf(config);
      this.#members.set(config, members);
    }
    return members;
  }
}
