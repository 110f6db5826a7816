// Requests about committed offsets.
import { NO_OFFSET } from '../../../core/offset-table.ts';
import { encodeConsumerOffsets } from '../../../protocol/bodies/consumer-offsets.ts';
import { RequestCodes, ResponseCodes } from '../../../protocol/codes.ts';
import {
  decodeQueryConsumerOffsetRequest,
  encodeQueryConsumerOffsetAnswer,
  type QueryConsumerOffsetRequest,
} from '../../../protocol/commands/query-consumer-offset.ts';
import { decodeUpdateConsumerOffsetRequest } from '../../../protocol/commands/update-consumer-offset.ts';
import type { Desk } from '../desk.ts';
import { decoding, done, type HandlerRow, type Reply, type Request, refuse, withBody } from '../request.ts';

export const offsetHandlers: readonly HandlerRow[] = [
  [RequestCodes.QUERY_CONSUMER_OFFSET, decoding(decodeQueryConsumerOffsetRequest, onQuery)],
  [RequestCodes.UPDATE_CONSUMER_OFFSET, onUpdate],
  [RequestCodes.GET_ALL_CONSUMER_OFFSET, onAll],
];

/** No other code than 22 may say "none": clients stop to consume a queue at any other. */
function onQuery(desk: Desk, r: QueryConsumerOffsetRequest): Reply {
  const zeroIfNotFound = r.setZeroIfNotFound ?? true;
  const offset = desk.offsets.query(r.consumerGroup, r.topic, r.queueId, zeroIfNotFound);
  if (offset !== NO_OFFSET) return { ...done, ext: encodeQueryConsumerOffsetAnswer({ offset }) };
  return refuse(
    ResponseCodes.QUERY_NOT_FOUND,
    zeroIfNotFound
      ? 'Not found, V3_0_6_SNAPSHOT maybe this group consumer boot first'
      : 'Not found, do not set to zero, maybe this group boot first',
  );
}

function onUpdate(desk: Desk, { header, link }: Request): Reply {
  const decoded = decodeUpdateConsumerOffsetRequest(header);
  if (!decoded.ok) return refuse(ResponseCodes.INVALID_PARAMETER, decoded.fault);
  const { consumerGroup: group, topic, queueId, commitOffset: offset } = decoded.value;
  if (!desk.groups.table.has(group)) return refuse(ResponseCodes.SUBSCRIPTION_GROUP_NOT_EXIST, `Group ${group} not exist!`);
  if (!desk.topics.table.has(topic)) return refuse(ResponseCodes.TOPIC_NOT_EXIST, `Topic ${topic} not exist!`);
  if (queueId < 0) return refuse(ResponseCodes.INVALID_PARAMETER, `queueId is out of range queueId=${queueId} min=0 topic=${topic}`);
  if (!Number.isSafeInteger(offset)) {
    const remark = `offset is beyond any queue commitOffset=${header.field('commitOffset')} max=${Number.MAX_SAFE_INTEGER}`;
    return refuse(ResponseCodes.INVALID_PARAMETER, remark);
  }
  desk.warnOfBackwards(group, topic, queueId, offset, link);
  const result = desk.offsets.commit(group, topic, queueId, offset, link?.id ?? -1);
  if (result === 'done') return done;
  if (result === 'reset') return { ...done, remark: 'Offset has been previously reset' };
  return refuse(
    ResponseCodes.SYSTEM_ERROR,
    `too many queues have an offset topic=${topic} group=${group} queueId=${queueId}; remove groups that are not used any more`,
  );
}

function onAll(desk: Desk): Reply {
  const { rows, version } = desk.offsets.table;
  return withBody(encodeConsumerOffsets(rows, version));
}
