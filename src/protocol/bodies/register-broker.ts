// The body with which a broker registers: its topics and their version, in JSON or in a compressed form.
import { crc32, deflateSync, inflateSync } from 'node:zlib';
import { asBuffer } from '../../base/bytes.ts';
import { errorText } from '../../base/errors.ts';
import { compactJson } from '../../base/json-writer.ts';
import type { Decoded } from '../ext.ts';
import { Versions } from '../versions.ts';
import { type DataVersion, dataVersionJson, dataVersionOf } from './data-version.ts';
import { entriesOf, isObject, member, parseBody, parseText, textListOf, textOf } from './json-body.ts';
import { topicConfigDataOf, topicConfigJson } from './topic-config.ts';

/** A topic as brokers describe it to name servers; field for field what a broker keeps. */
export interface RegisteredTopic {
  readonly topicName: string;
  readonly readQueueNums: number;
  readonly writeQueueNums: number;
  readonly perm: number;
  readonly topicFilterType: string;
  readonly topicSysFlag: number;
  readonly order: boolean;
  readonly attributes: Readonly<Record<string, string>>;
}

export interface BrokerRegistration {
  readonly dataVersion: DataVersion;
  readonly topics: readonly RegisteredTopic[];
  readonly filterServers: readonly string[];
  /** Static topics only: by topic, passed on as they are. */
  readonly queueMappings: ReadonlyMap<string, unknown>;
}

/** What `bodyCrc32` must be for these bytes; 0 in a request means unchecked. */
export function registrationCrc(body: Uint8Array): number {
  return crc32(body) & 0x7fff_ffff;
}

/** @param mappingVersion stamp of the static topics; name servers only look whether it is there. */
export function encodeRegistration(registration: BrokerRegistration, mappingVersion = registration.dataVersion): Buffer {
  const table = new Map(registration.topics.map((topic) => [topic.topicName, topicConfigJson(topic)]));
  const wrapper = {
    dataVersion: dataVersionJson(registration.dataVersion),
    mappingDataVersion: dataVersionJson(mappingVersion),
    topicConfigTable: table,
    topicQueueMappingDetailMap: {},
    topicQueueMappingInfoMap: registration.queueMappings,
  };
  return Buffer.from(compactJson({ filterServerList: registration.filterServers, topicConfigSerializeWrapper: wrapper }));
}

function decodeJson(body: Uint8Array, version: number): Decoded<BrokerRegistration> {
  const parsed = parseBody(body);
  if (!parsed.ok) return parsed;
  const bare = version < Versions.V3_0_11;
  const wrapper = bare ? parsed.value : member(parsed.value, 'topicConfigSerializeWrapper');
  if (!isObject(wrapper)) return { ok: false, fault: 'body has no topic table' };
  const value: BrokerRegistration = {
    dataVersion: dataVersionOf(member(wrapper, 'dataVersion')),
    topics: entriesOf(wrapper, 'topicConfigTable').map(([name, topic]) => topicConfigDataOf(topic, name)),
    filterServers: bare ? [] : textListOf(parsed.value, 'filterServerList'),
    queueMappings: new Map(entriesOf(wrapper, 'topicQueueMappingInfoMap')),
  };
  return { ok: true, value };
}

//  The compressed form, inflated. Every part is preceded by its size, every list by its count, as int32:
//
//   +------+-------------------+-------+----------------------------------+------+-------------------+-------+-----------------+
//   | size | data version JSON | count | (size, topic text) of each topic | size | filter servers    | count | (size, mapping) |
//   +------+-------------------+-------+----------------------------------+------+-------------------+-------+-----------------+
//                                                                                                     version 5.0 and later
//   topic text: name, read queues, write queues, perm, filter type and (5.x) attributes JSON, separated by blanks

/** The most a registration may inflate to. */
const INFLATED_SIZE_MAX = 64 * 1024 * 1024;

class PartReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  int(): number {
    const value = this.#bytes.readInt32BE(this.#at);
    this.#at += 4;
    if (value < 0 || value > this.#bytes.length) throw new RangeError(`part size or count is out of range value=${value}`);
    return value;
  }

  text(): string {
    const size = this.int();
    if (this.#at + size > this.#bytes.length) throw new RangeError(`part is cut size=${size}`);
    this.#at += size;
    return this.#bytes.toString('utf8', this.#at - size, this.#at);
  }

  json(): unknown {
    const parsed = parseText(this.text());
    if (!parsed.ok) throw new RangeError(parsed.fault);
    return parsed.value;
  }
}

/** The attributes come last and may hold blanks. */
function topicOfText(text: string): RegisteredTopic {
  const words = text.split(' ');
  const attributes = words.length > 5 ? parseText(words.slice(5).join(' ')) : undefined;
  const json = {
    topicName: words[0],
    readQueueNums: words[1],
    writeQueueNums: words[2],
    perm: words[3],
    topicFilterType: words[4],
    attributes: attributes?.ok ? attributes.value : {},
  };
  return topicConfigDataOf(json);
}

function readCompressed(body: Uint8Array, version: number): BrokerRegistration {
  const reader = new PartReader(inflateSync(body, { maxOutputLength: INFLATED_SIZE_MAX }));
  const dataVersion = dataVersionOf(reader.json());
  const topics: RegisteredTopic[] = [];
  for (let left = reader.int(); left > 0; left--) topics.push(topicOfText(reader.text()));
  const list = reader.json();
  const filterServers = Array.isArray(list) ? list.map(String) : [];
  const queueMappings = new Map<string, unknown>();
  if (version >= Versions.V5_0_0) {
    for (let left = reader.int(); left > 0; left--) {
      const mapping = reader.json();
      queueMappings.set(textOf(mapping, 'topic', ''), mapping);
    }
  }
  return { dataVersion, topics, filterServers, queueMappings };
}

/** @param version of the request that carries the body: brokers before 3.0.11 send a bare table. */
export function decodeRegistration(body: Uint8Array, compressed: boolean, version: number): Decoded<BrokerRegistration> {
  if (!compressed) return decodeJson(body, version);
  try {
    return { ok: true, value: readCompressed(asBuffer(body), version) };
  } catch (error) {
    return { ok: false, fault: `compressed registration cannot be read: ${errorText(error)}` };
  }
}

function part(text: string): Buffer {
  const out = Buffer.allocUnsafe(4 + Buffer.byteLength(text));
  out.writeInt32BE(out.length - 4, 0);
  out.write(text, 4);
  return out;
}

function count(value: number): Buffer {
  const out = Buffer.allocUnsafe(4);
  out.writeInt32BE(value, 0);
  return out;
}

/** The compressed form for a name server of 5.0 or later, as the request's version must say. */
export function encodeCompressedRegistration(registration: BrokerRegistration): Buffer {
  const parts = [part(compactJson(dataVersionJson(registration.dataVersion))), count(registration.topics.length)];
  for (const t of registration.topics) {
    parts.push(part(`${t.topicName} ${t.readQueueNums} ${t.writeQueueNums} ${t.perm} ${t.topicFilterType} ${compactJson(t.attributes)}`));
  }
  parts.push(part(compactJson(registration.filterServers)), count(registration.queueMappings.size));
  for (const mapping of registration.queueMappings.values()) parts.push(part(compactJson(mapping)));
  return deflateSync(Buffer.concat(parts));
}
