// The one door to nanoid: random names for runs and clients, and the unique keys of messages that come without one.
import { customAlphabet } from 'nanoid';

const runName = customAlphabet('0123456789abcdefghijklmnopqrstuvwxyz', 12);
const hexKey = customAlphabet('0123456789ABCDEF', 32);

/** A short name that no other run has. */
export function newRunId(): string {
  return runName();
}

/** A message's UNIQ_KEY in the form stock clients make: 32 upper-case hex digits. */
export function newUniqueKey(): string {
  return hexKey();
}
