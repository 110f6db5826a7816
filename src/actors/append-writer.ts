// Hands a record that is stored again to the commit log, as an append of one record.

import { SysFlags } from '../message/record.ts';
import { type RecordCopy, writeCopy } from '../message/record-copy.ts';
import type { RingWriter } from '../runtime/ring.ts';
import { keyFlags } from './key-flags.ts';
import { Messages, RECORD_HEAD_SIZE, RecordFlags } from './messages.ts';

const APPEND_HEAD_SIZE = 12;

/**
 * Commits an `append` of the copy to the ring; the caller publishes. False: the ring is full, and nothing was written. The copy must fit
 * (`copy.fits`), and into half of the ring.
 * @param token comes back in the `appended`. @param queueKey of the copy's topic and queue.
 */
export function tryAppendCopy(ring: RingWriter, token: number, queueKey: number, copy: RecordCopy): boolean {
  const at = ring.claim(APPEND_HEAD_SIZE + RECORD_HEAD_SIZE + ((copy.size + 3) & ~3));
  if (at < 0) return false;
  writeCopy(copy, ring.bytes, at + APPEND_HEAD_SIZE + RECORD_HEAD_SIZE);
  const { words } = ring;
  const word = at >> 2;
  const flags = flagsOf(copy);
  words[word] = token;
  words[word + 1] = queueKey;
  words[word + 2] = 1;
  words[word + 3] = copy.size;
  words[word + 4] = copy.tagsCode;
  words[word + 5] = flags;
  words[word + 6] = (flags & RecordFlags.uniqueKeyHashed) === 0 ? 0 : copy.uniqueKeyHash;
  words[word + 7] = (flags & RecordFlags.tagHashed) === 0 ? 0 : copy.tagKeyHash;
  ring.commit(Messages.append);
  return true;
}

/** Halves and rolled back messages have no place in their queue. */
function flagsOf(copy: RecordCopy): number {
  const transaction = copy.sysFlag & SysFlags.transactionMask;
  const unnumbered = transaction === SysFlags.prepared || transaction === SysFlags.rollback;
  return keyFlags(copy.hasUniqueKey, copy.hasKeys, copy.hasTag, copy.sysFlag) | (unnumbered ? RecordFlags.noQueueOffset : 0);
}
