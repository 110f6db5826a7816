// Which part of a table a tool that reads in pages gets.
import { sameVersion } from '../../core/data-version.ts';
import { type DataVersion, dataVersionOf } from '../../protocol/bodies/data-version.ts';
import { isObject, parseText } from '../../protocol/bodies/json-body.ts';

/** A table that changed since the page before is read from its start again; without a page size all of it is meant. */
export function pageOf(
  from: number | undefined,
  count: number | undefined,
  seen: string | undefined,
  version: DataVersion,
  size: number,
): { from: number; count: number } {
  if (count === undefined || count <= 0) return { from: 0, count: size };
  const stamp = seen === undefined ? undefined : parseText(seen);
  const isStale = stamp?.ok === true && isObject(stamp.value) && !sameVersion(dataVersionOf(stamp.value), version);
  return { from: isStale ? 0 : Math.max(0, from ?? 0), count };
}
