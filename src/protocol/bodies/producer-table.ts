// All connected producers by group: the answer to GET_ALL_PRODUCER_INFO (328).
import { compactJson } from '../../base/json-writer.ts';

export interface ProducerInfo {
  readonly clientId: string;
  /** `/ip:port`, with the slash. */
  readonly remoteIP: string;
  readonly language: string;
  readonly version: number;
  readonly lastUpdateTimestamp: number;
}

export function encodeProducerTable(data: ReadonlyMap<string, readonly ProducerInfo[]>): Buffer {
  const rows = [...data].map(([group, producers]): [string, unknown] => [
    group,
    producers.map(({ clientId, language, lastUpdateTimestamp, remoteIP, version }) => ({
      clientId,
      language,
      lastUpdateTimestamp,
      remoteIP,
      version,
    })),
  ]);
  return Buffer.from(compactJson({ data: new Map(rows) }));
}
