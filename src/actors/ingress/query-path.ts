// Messages by id and by key: an offset id leads straight to its record, keys are asked of the indexer.
import { high32, join64, low32 } from '../../base/bytes.ts';
import { tagKey } from '../../message/index-key.ts';
import { readProperty } from '../../message/properties.ts';
import { propertiesAt, propertiesSize, topicAt, topicSize } from '../../message/record.ts';
import { ResponseCodes } from '../../protocol/codes.ts';
import { decodeQueryMessageRequest } from '../../protocol/commands/query-message.ts';
import { decodeViewMessageRequest } from '../../protocol/commands/view-message.ts';
import { encodeFrame, type Header, RESPONSE_FLAG } from '../../protocol/header.ts';
import { BROKER_VERSION } from '../../protocol/versions.ts';
import type { RingReader } from '../../runtime/ring.ts';
import { Messages } from '../messages.ts';
import type { ClientConnection } from './client-connection.ts';
import type { Desk } from './desk.ts';
import { type Ask, askOf, PendingAsks } from './pending-asks.ts';
import { recordAt } from './record-at.ts';

/** A query by unique key begins at the client's own time, which may be ahead of ours by so much. */
const CLOCK_SKEW_MS = 600_000;
/** The value of `indexType` with which the key is a tag. */
const BY_TAG = 'T';
/** Bytes of topic and key: as many as the ring to the indexer takes, and about as many as a message's properties have room for. */
const KEY_SIZE_MAX = 32_700;
/** Upper bound of an answer's body. */
const BODY_SIZE_MAX = 12 * 1024 * 1024;

interface PendingQuery extends Ask {
  readonly topic: string;
  readonly key: string;
  readonly byUniqueKey: boolean;
  readonly byTag: boolean;
}

export class QueryPath {
  readonly #desk: Desk;
  readonly pending: PendingAsks<PendingQuery>;

  constructor(desk: Desk, firstToken: number) {
    this.#desk = desk;
    this.pending = new PendingAsks(firstToken);
  }

  onViewById(client: ClientConnection, header: Header): true {
    const decoded = decodeViewMessageRequest(header);
    if (!decoded.ok) {
      this.#desk.answer(client, header, ResponseCodes.SYSTEM_ERROR, decoded.fault);
      return true;
    }
    const record = recordAt(this.#desk, decoded.value.offset);
    if (typeof record !== 'string') this.#desk.answer(client, header, ResponseCodes.SUCCESS, undefined, {}, record);
    else this.#desk.answer(client, header, ResponseCodes.SYSTEM_ERROR, `can not find message by the offset, ${decoded.value.offset}`);
    return true;
  }

  tryQuery(client: ClientConnection, header: Header): boolean {
    const decoded = decodeQueryMessageRequest(header);
    if (!decoded.ok) {
      this.#desk.answer(client, header, ResponseCodes.SYSTEM_ERROR, decoded.fault);
      return true;
    }
    const { topic, key, maxNum, beginTimestamp, endTimestamp, indexType } = decoded.value;
    const byUniqueKey = decoded.value._UNIQUE_KEY_QUERY === true;
    const byTag = !byUniqueKey && indexType === BY_TAG;
    const wanted = Buffer.from(byTag ? tagKey(topic, key) : `${topic}#${key}`, 'utf8');
    if (wanted.length > KEY_SIZE_MAX) {
      const remark = `topic and key are too long to be those of a message size=${wanted.length} max=${KEY_SIZE_MAX} bytes`;
      this.#desk.answer(client, header, ResponseCodes.SYSTEM_ERROR, remark);
      return true;
    }
    if (this.#desk.indexer.hasWaiting) return this.#desk.stall(client);
    const { defaultQueryMaxNum, maxMsgsNumBatch } = this.#desk.context.settings;
    const maxCount = byUniqueKey ? defaultQueryMaxNum : Math.max(1, Math.min(maxNum, maxMsgsNumBatch));
    const skewMs = byUniqueKey ? CLOCK_SKEW_MS : 0;
    const begin = clampTime(beginTimestamp - skewMs);
    const end = clampTime(endTimestamp + skewMs);
    const words = [this.pending.nextToken, maxCount, high32(begin), low32(begin), high32(end), low32(end)];
    this.#desk.indexer.send(Messages.queryKey, words, wanted);
    this.pending.add({ ...askOf(client, header), topic, key, byUniqueKey, byTag });
    return true;
  }

  /** Takes one `keyQueried`. */
  onAnswer(ring: RingReader, at: number): void {
    const { words } = ring;
    const word = at >> 2;
    const query = this.pending.take(words[word] as number);
    if (query === undefined || query.oneway) return;
    const bodies: Buffer[] = [];
    let size = 0;
    const count = words[word + 5] as number;
    // The index does not forget a topic that was removed: what it knows of a former life of this name is no answer.
    const from = this.#desk.directory.topic(query.topic)?.from ?? 0;
    for (let i = 0; i < count; i++) {
      const position = join64(words[word + 6 + i * 2] as number, words[word + 7 + i * 2] as number);
      const record = position < from ? 'of a former life' : recordAt(this.#desk, position);
      if (typeof record === 'string' || !matches(record, query) || size + record.length > BODY_SIZE_MAX) continue;
      bodies.push(record);
      size += record.length;
    }
    const ext = {
      indexLastUpdateTimestamp: join64(words[word + 1] as number, words[word + 2] as number),
      indexLastUpdatePhyoffset: join64(words[word + 3] as number, words[word + 4] as number),
    };
    this.#reply(query, bodies, ext);
  }

  #reply(query: PendingQuery, bodies: Buffer[], ext: Record<string, number>): void {
    const { codec, opaque } = query;
    const found = bodies.length > 0;
    const code = found ? ResponseCodes.SUCCESS : ResponseCodes.QUERY_NOT_FOUND;
    const remark = found ? undefined : 'can not find message, maybe time range not correct';
    const frame = encodeFrame({
      codec,
      opaque,
      code,
      flag: RESPONSE_FLAG,
      version: BROKER_VERSION,
      remark,
      ext,
      body: Buffer.concat(bodies),
    });
    this.#desk.send(query.client, frame);
  }
}

/** Equal hashes are not equal keys. */
function matches(record: Buffer, query: PendingQuery): boolean {
  const topic = topicAt(record, 0);
  if (record.toString('utf8', topic, topic + topicSize(record, 0)) !== query.topic) return false;
  const at = propertiesAt(record, 0);
  const end = at + propertiesSize(record, 0);
  if (query.byTag) return readProperty(record, at, end, 'TAGS') === query.key;
  if (readProperty(record, at, end, 'UNIQ_KEY') === query.key) return true;
  return !query.byUniqueKey && (readProperty(record, at, end, 'KEYS') ?? '').split(' ').includes(query.key);
}

function clampTime(timeMs: number): number {
  return Math.max(0, Math.min(timeMs, Number.MAX_SAFE_INTEGER));
}
