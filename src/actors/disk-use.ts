// How full the two disks of a broker are: that of the log and that of the queues, which are often one.
import type { DiskUse } from '../core/retention.ts';
import { usedPercent } from '../store/disk-usage.ts';
import { storeFolders } from '../store/store-folders.ts';
import type { ActorContext } from './context.ts';

/** One system call a disk, whatever is stored. */
export function measureDisks({ files, settings }: Pick<ActorContext, 'files' | 'settings'>): DiskUse {
  return {
    logPercent: usedPercent(files, settings.storePathCommitLog),
    queuePercent: usedPercent(files, storeFolders(settings.storePathRootDir).consumeQueue),
  };
}
