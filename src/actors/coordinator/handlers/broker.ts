// Requests of tools about the broker itself: its settings, its figures, and house-keeping at once instead of later.
import { compactJson } from '../../../base/json-writer.ts';
import { dataVersionJson } from '../../../protocol/bodies/data-version.ts';
import { encodeHaRuntime } from '../../../protocol/bodies/ha-runtime.ts';
import { encodeKvTable } from '../../../protocol/bodies/kv-table.ts';
import { RequestCodes, ResponseCodes } from '../../../protocol/codes.ts';
import { Positions } from '../../context.ts';
import type { Desk } from '../desk.ts';
import { done, type HandlerRow, type Reply, type Request, withBody } from '../request.ts';
import { runtimeTable } from '../runtime-table.ts';

export const brokerHandlers: readonly HandlerRow[] = [
  [RequestCodes.GET_BROKER_CONFIG, onConfig],
  [RequestCodes.UPDATE_BROKER_CONFIG, onChange],
  [RequestCodes.GET_BROKER_RUNTIME_INFO, (desk) => withBody(encodeKvTable(runtimeTable(desk)))],
  [RequestCodes.GET_BROKER_HA_STATUS, onHaStatus],
  // Queue files below the log's start go by themselves, and soon; there is never anything left.
  [RequestCodes.CLEAN_EXPIRED_CONSUMEQUEUE, () => done],
  [RequestCodes.CLEAN_UNUSED_TOPIC, onUnusedTopics],
  [RequestCodes.DELETE_EXPIRED_COMMITLOG, onDeleteExpired],
];

function onConfig(desk: Desk): Reply {
  const { given, ...settings } = desk.context.settings;
  const values: Record<string, unknown> = { ...given, ...settings };
  const lines = Object.keys(values)
    .sort()
    .map((name) => `${name}=${String(values[name])}\n`);
  return withBody(Buffer.from(lines.join('')), versionOf(desk));
}

function versionOf(desk: Desk): { version: string } {
  return { version: compactJson(dataVersionJson(desk.settings.version)) };
}

function onChange(desk: Desk, request: Request): Reply {
  const { settings } = desk.context;
  const permission = settings.brokerPermission;
  const reply = desk.settings.change(request.body.toString('utf8'));
  if (reply.code !== ResponseCodes.SUCCESS) return reply;
  if (settings.brokerPermission !== permission) desk.registrar.allChanged();
  return reply;
}

/** A master that has no slaves, since nobody can be one of it yet. */
function onHaStatus(desk: Desk): Reply {
  return withBody(encodeHaRuntime({ master: true, masterCommitLogMaxOffset: desk.context.positions.get(Positions.appended) }));
}

/** Queues that start found in the store, and that belong to no topic. */
function onUnusedTopics(desk: Desk): Reply {
  for (const topic of new Set(desk.context.boot.queues.map((queue) => queue.topic)))
    if (!desk.topics.table.has(topic)) desk.topics.dropQueues(topic);
  return done;
}

function onDeleteExpired(desk: Desk): Reply {
  const { positions, log } = desk.context;
  positions.set(Positions.deletionsAsked, positions.get(Positions.deletionsAsked) + 1);
  desk.context.ringBells(desk.context.namesOf('cleaner'));
  log.info('a tool asked to delete expired files of the log now');
  return done;
}
