// The table of all committed offsets, as slaves and tools copy it: GET_ALL_CONSUMER_OFFSET (43).
import { compactJson } from '../../base/json-writer.ts';
import { type DataVersion, dataVersionJson } from './data-version.ts';

/** @param rows `topic@group` -> queue id -> offset */
export function encodeConsumerOffsets(rows: ReadonlyMap<string, ReadonlyMap<number, number>>, dataVersion: DataVersion): Buffer {
  return Buffer.from(compactJson({ dataVersion: dataVersionJson(dataVersion), offsetTable: rows }));
}
