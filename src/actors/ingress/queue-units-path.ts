// Shows the units of a consume queue: the dispatcher knows where each message lies, size and tag are read off the record.
import { PropertyScan, scanProperties } from '../../message/properties.ts';
import { propertiesAt, propertiesSize, readTotalSize } from '../../message/record.ts';
import { tagsCodeOf } from '../../message/tags.ts';
import type { SubscriptionData } from '../../protocol/bodies/subscription-data.ts';
import { ResponseCodes } from '../../protocol/codes.ts';
import {
  decodeQueryConsumeQueueRequest,
  encodeQueueUnits,
  type QueryConsumeQueueRequest,
  type ShownUnit,
} from '../../protocol/commands/query-consume-queue.ts';
import { encodeFrame, type Header, RESPONSE_FLAG } from '../../protocol/header.ts';
import { BROKER_VERSION } from '../../protocol/versions.ts';
import { type DirectorySubscription, LookUps } from '../messages.ts';
import type { ClientConnection } from './client-connection.ts';
import type { Desk } from './desk.ts';
import { subscriptionOf } from './directory.ts';
import type { Gatherings } from './gathering.ts';
import { type Ask, askOf } from './pending-asks.ts';

/** Units in one answer. */
const UNIT_COUNT_MAX = 1024;
const SIZE_SIZE = 4;

export class QueueUnitsPath {
  readonly #desk: Desk;
  readonly #gatherings: Gatherings;
  readonly #scan = new PropertyScan();
  readonly #size = new Uint8Array(SIZE_SIZE);

  constructor(desk: Desk, gatherings: Gatherings) {
    this.#desk = desk;
    this.#gatherings = gatherings;
  }

  handle(client: ClientConnection, header: Header): true {
    const decoded = decodeQueryConsumeQueueRequest(header);
    if (!decoded.ok) {
      this.#desk.answer(client, header, ResponseCodes.SYSTEM_ERROR, decoded.fault);
      return true;
    }
    const { topic, queueId, index, count } = decoded.value;
    const key = this.#desk.directory.queueKey(topic, queueId);
    if (key < 0) {
      this.#desk.answer(client, header, ResponseCodes.SYSTEM_ERROR, `${queueId}@${topic} is not exist!`);
      return true;
    }
    const { queueBegins, queueEnds } = this.#desk.context;
    const ends = { minQueueIndex: queueBegins.get(key), maxQueueIndex: queueEnds.get(key) };
    const until = Math.min(ends.maxQueueIndex, index + Math.min(count, UNIT_COUNT_MAX));
    const wanted: { key: number; kind: number; argument: number }[] = [];
    for (let offset = Math.max(index, ends.minQueueIndex); offset < until; offset++)
      wanted.push({ key, kind: LookUps.positionAt, argument: offset });
    const ask = askOf(client, header);
    this.#gatherings.add(ask, wanted, (positions) => this.#answer(ask, decoded.value, ends, positions));
    return true;
  }

  #answer(
    ask: Ask,
    { topic, queueId, index, consumerGroup }: QueryConsumeQueueRequest,
    ends: { readonly minQueueIndex: number; readonly maxQueueIndex: number },
    positions: readonly number[],
  ): void {
    if (ask.oneway) return;
    const group = consumerGroup === undefined ? undefined : this.#desk.directory.group(consumerGroup);
    const members = group?.live ?? null;
    const live = members === null ? undefined : subscriptionOf(members, topic);
    const units = positions.flatMap((position) => this.#unitAt(position, live) ?? []);
    const body = encodeQueueUnits({
      ...ends,
      units,
      subscriptionData: live === undefined ? undefined : dataOf(live),
      filterData: consumerGroup === undefined || live !== undefined ? undefined : `${consumerGroup}@${topic} is not online!`,
    });
    const remark = positions.length === 0 ? `Index ${index} of ${queueId}@${topic} is not exist!` : undefined;
    const { codec, opaque, client } = ask;
    const code = ResponseCodes.SUCCESS;
    this.#desk.send(client, encodeFrame({ codec, opaque, code, flag: RESPONSE_FLAG, version: BROKER_VERSION, remark, ext: {}, body }));
  }

  /** null where retention has taken the message meanwhile. */
  #unitAt(position: number, live: DirectorySubscription | undefined): ShownUnit | null {
    const { records } = this.#desk;
    if (position < 0 || !records.read(position, SIZE_SIZE, this.#size, 0)) return null;
    const size = readTotalSize(this.#size, 0);
    const record = new Uint8Array(size);
    if (!records.read(position, size, record, 0)) return null;
    const begin = propertiesAt(record, 0);
    scanProperties(record, begin, begin + propertiesSize(record, 0), this.#scan);
    const { tagsAt, tagsEnd } = this.#scan;
    const tagsCode = tagsAt < 0 ? 0 : tagsCodeOf(record, tagsAt, tagsEnd);
    const taken = live === undefined ? undefined : live.codes === null || live.codes.includes(tagsCode);
    return { physicOffset: position, physicSize: size, tagsCode, eval: taken };
  }
}

function dataOf({ topic, type, expression, codes, version }: DirectorySubscription): SubscriptionData {
  const words = codes === null ? [] : expression.split('||').map((tag) => tag.trim());
  return { topic, type, expression, codes: codes ?? [], tags: words.filter((tag) => tag !== ''), version, classFilter: false };
}
