// What a record's flags tell the indexer of its keys: the same whether the record was just sent or is read again from the log.
import { SysFlags } from '../message/record.ts';
import { RecordFlags } from './messages.ts';

/** With `uniqueKeyHashed` and `tagHashed` the hashes go along; a rolled back message has no keys to find it by. */
export function keyFlags(hasUniqueKey: boolean, hasKeys: boolean, hasTag: boolean, sysFlag: number): number {
  if ((sysFlag & SysFlags.transactionMask) === SysFlags.rollback) return 0;
  if (hasKeys) return RecordFlags.furtherKeys;
  return (hasUniqueKey ? RecordFlags.uniqueKeyHashed : 0) | (hasTag ? RecordFlags.tagHashed : 0);
}
