// The coordinator's files below `config/`: topics, groups, offsets and joins, each as the table it becomes.

import { prettyJavaJson } from '../../base/json-writer.ts';
import { parseLenient } from '../../base/lenient-json.ts';
import type { GroupTableState } from '../../core/group-table.ts';
import type { JoinRows } from '../../core/join-table.ts';
import type { OffsetTableState } from '../../core/offset-table.ts';
import type { TopicTableState } from '../../core/topic-table.ts';
import { dataVersionOf } from '../../protocol/bodies/data-version.ts';
import { entriesOf, intOf, listOf, member, textOf } from '../../protocol/bodies/json-body.ts';
import { subscriptionGroupJson, subscriptionGroupOf } from '../../protocol/bodies/subscription-group.ts';
import { topicConfigDataOf, topicConfigJson } from '../../protocol/bodies/topic-config.ts';
import { FileTextStore } from '../../store/file-text-store.ts';
import { storeFolders } from '../../store/store-folders.ts';
import type { ActorContext } from '../context.ts';

export interface StateFile<T> {
  /** null: there is none yet. */
  load(): T | null;
  save(value: T): void;
}

export class StateFiles {
  readonly topics: StateFile<TopicTableState>;
  readonly groups: StateFile<GroupTableState>;
  readonly offsets: StateFile<OffsetTableState>;
  readonly joins: StateFile<JoinRows>;

  constructor(context: ActorContext) {
    const folder = storeFolders(context.settings.storePathRootDir).config;
    const at = <T>(name: string, read: (json: unknown) => T, json: (value: T) => unknown): StateFile<T> => {
      const file = new FileTextStore(context.files, `${folder}/${name}`);
      return {
        load: () => {
          const text = file.load();
          return text === null ? null : read(parseLenient(text));
        },
        save: (value) => file.save(prettyJavaJson(json(value))),
      };
    };
    this.topics = at(
      'topics.json',
      (json) => ({
        dataVersion: dataVersionOf(member(json, 'dataVersion')),
        topics: entriesOf(json, 'topicConfigTable').map(([name, topic]) => topicConfigDataOf(topic, name)),
      }),
      (s) => ({ dataVersion: s.dataVersion, topicConfigTable: new Map(s.topics.map((t) => [t.topicName, topicConfigJson(t)])) }),
    );
    this.groups = at(
      'subscriptionGroup.json',
      (json) => ({
        dataVersion: dataVersionOf(member(json, 'dataVersion')),
        groups: entriesOf(json, 'subscriptionGroupTable').map(([name, group]) => subscriptionGroupOf(group, name)),
        forbidden: new Map(
          entriesOf(json, 'forbiddenTable').map(([group, topics]) => [
            group,
            new Map(entriesOf({ topics }, 'topics').map(([topic, bits]) => [topic, Number(bits)])),
          ]),
        ),
      }),
      (s) => ({
        dataVersion: s.dataVersion,
        forbiddenTable: s.forbidden,
        subscriptionGroupTable: new Map(s.groups.map((g) => [g.groupName, subscriptionGroupJson(g)])),
      }),
    );
    this.offsets = at(
      'consumerOffset.json',
      (json) => ({
        dataVersion: dataVersionOf(member(json, 'dataVersion')),
        rows: new Map(
          entriesOf(json, 'offsetTable').map(([key, row]) => [
            key,
            new Map(entriesOf({ row }, 'row').map(([queueId, offset]) => [Number(queueId), Number(offset)])),
          ]),
        ),
      }),
      (s) => ({ dataVersion: s.dataVersion, offsetTable: s.rows }),
    );
    this.joins = at(
      'groupJoins.json',
      (json) =>
        new Map(
          entriesOf(json, 'joins').map(([key, join]) => [
            key,
            {
              joinedAtMs: intOf(join, 'joinedAtMs', 0),
              consumeFromWhere: textOf(join, 'consumeFromWhere', ''),
              ends: listOf(join, 'ends').map(Number),
            },
          ]),
        ),
      (rows) => ({ joins: rows }),
    );
  }
}
