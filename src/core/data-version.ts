// How the version stamp of a configuration table moves: peers re-read the table when any of its three numbers differs.
import type { DataVersion } from '../protocol/bodies/data-version.ts';

export function firstVersion(wallMs: number): DataVersion {
  return { stateVersion: 0, timestamp: wallMs, counter: 0 };
}

/** The stamp after one more change. */
export function nextVersion(version: DataVersion, wallMs: number): DataVersion {
  return { stateVersion: version.stateVersion, timestamp: wallMs, counter: version.counter + 1 };
}

export function sameVersion(a: DataVersion, b: DataVersion): boolean {
  return a.stateVersion === b.stateVersion && a.timestamp === b.timestamp && a.counter === b.counter;
}
