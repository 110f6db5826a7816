// How full the disks of the store are, in whole percent rounded up; null where the system does not tell.
import type { Files } from './files/files.ts';

/** Of the disk that holds this folder; one that is not made yet lies where its parent does. */
export function usedPercent(files: Files, folder: string): number | null {
  const usage = files.usage?.(nearestFolder(files, folder)) ?? null;
  if (usage === null) return null;
  const totalBytes = usage.usedBytes + usage.freeBytes;
  return totalBytes > 0 && usage.usedBytes >= 0 && usage.freeBytes >= 0 ? Math.ceil((100 * usage.usedBytes) / totalBytes) : null;
}

function nearestFolder(files: Files, folder: string): string {
  let path = folder;
  try {
    while (path !== '' && files.stat(path) === null) path = path.slice(0, Math.max(0, path.lastIndexOf('/')));
  } catch {
    // A folder that cannot even be looked at: the answer is for `usage` to give.
    return folder;
  }
  return path === '' ? '/' : path;
}
