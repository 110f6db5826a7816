// Requests about the configuration of consumer groups.
import type { GroupConfig } from '../../../core/group-config.ts';
import { FORBIDDEN_COUNT_MAX } from '../../../core/group-table.ts';
import { groupFault, topicFault } from '../../../message/names.ts';
import { RequestCodes, ResponseCodes } from '../../../protocol/codes.ts';
import { decodeGroupForbiddenRequest, encodeGroupForbidden } from '../../../protocol/commands/group-forbidden.ts';
import {
  decodeAllGroupsRequest,
  decodeDeleteGroupRequest,
  decodeSubscriptionGroup,
  decodeSubscriptionGroupList,
  decodeSubscriptionGroupRequest,
  encodeAllGroupsAnswer,
  encodeSubscriptionGroup,
  encodeSubscriptionGroupTable,
} from '../../../protocol/commands/subscription-group.ts';
import type { Desk } from '../desk.ts';
import { pageOf } from '../page.ts';
import { badRequest, decoding, done, type HandlerRow, type Reply, type Request, refuse, withBody } from '../request.ts';

export const groupHandlers: readonly HandlerRow[] = [
  [RequestCodes.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, onPut],
  [RequestCodes.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST, onPutList],
  [RequestCodes.GET_ALL_SUBSCRIPTIONGROUP_CONFIG, decoding(decodeAllGroupsRequest, onAll)],
  [RequestCodes.GET_SUBSCRIPTIONGROUP_CONFIG, decoding(decodeSubscriptionGroupRequest, (desk, { group }) => onGet(desk, group))],
  [RequestCodes.DELETE_SUBSCRIPTIONGROUP, onDelete],
  [RequestCodes.UPDATE_AND_GET_GROUP_FORBIDDEN, decoding(decodeGroupForbiddenRequest, onForbidden)],
];

function onPut(desk: Desk, request: Request): Reply {
  const decoded = decodeSubscriptionGroup(request.body);
  return decoded.ok ? putAll(desk, [decoded.value]) : badRequest(`group body: ${decoded.fault}`);
}

function onPutList(desk: Desk, request: Request): Reply {
  const decoded = decodeSubscriptionGroupList(request.body);
  return decoded.ok ? putAll(desk, decoded.value) : badRequest(`group list body: ${decoded.fault}`);
}

function putAll(desk: Desk, configs: readonly GroupConfig[]): Reply {
  for (const config of configs) {
    const fault = groupFault(config.groupName);
    if (fault !== null) return refuse(ResponseCodes.INVALID_PARAMETER, fault);
  }
  for (const config of configs) {
    const reply = desk.groups.put(config);
    if (reply.code !== ResponseCodes.SUCCESS) return reply;
  }
  return { ...done, afterRegistration: true };
}

function onAll(
  desk: Desk,
  page: { groupSeq?: number | undefined; maxGroupNum?: number | undefined; dataVersion?: string | undefined },
): Reply {
  const { table } = desk.groups;
  const { from, count } = pageOf(page.groupSeq, page.maxGroupNum, page.dataVersion, table.version, table.size);
  const body = encodeSubscriptionGroupTable({ groups: table.page(from, count), forbidden: table.forbidden, dataVersion: table.version });
  return withBody(body, encodeAllGroupsAnswer({ totalGroupNum: table.size }));
}

/** A group that is missing is made, as stock brokers do. */
function onGet(desk: Desk, group: string): Reply {
  const ensured = desk.groups.ensure(group);
  if (ensured.code !== ResponseCodes.SUCCESS) return ensured;
  return withBody(encodeSubscriptionGroup(desk.groups.table.get(group) as GroupConfig));
}

function onDelete(desk: Desk, request: Request): Reply {
  const decoded = decodeDeleteGroupRequest(request.header);
  if (!decoded.ok) return badRequest(decoded.fault);
  // Clients before 5.0 have another name for the field.
  const withOffsets = decoded.value.cleanOffset ?? request.header.field('removeOffset')?.toLowerCase() === 'true';
  desk.removeGroup(decoded.value.groupName, withOffsets);
  return done;
}

function onForbidden(desk: Desk, { group, topic, readable }: { group: string; topic: string; readable?: boolean | undefined }): Reply {
  if (readable !== undefined) {
    const { table } = desk.groups;
    if (!table.has(group)) return refuse(ResponseCodes.SUBSCRIPTION_GROUP_NOT_EXIST, `Group ${group} not exist!`);
    const fault = topicFault(topic);
    if (fault !== null) return refuse(ResponseCodes.INVALID_PARAMETER, fault);
    if (!readable && table.readable(group, topic) && table.forbiddenTopics(group).length >= FORBIDDEN_COUNT_MAX) {
      return refuse(ResponseCodes.INVALID_PARAMETER, `too many topics are forbidden group=${group} max=${FORBIDDEN_COUNT_MAX}`);
    }
    desk.groups.setReadable(group, topic, readable);
  }
  return withBody(encodeGroupForbidden(group, topic, desk.groups.table.readable(group, topic)));
}
