// The file `abort`: it lies in the store's root while a broker runs, so that a start that finds it knows of an unclean stop.
import type { Files } from './files/files.ts';

function markerPath(root: string): string {
  return `${root}/abort`;
}

export function isMarkedRunning(files: Files, root: string): boolean {
  return files.stat(markerPath(root)) !== null;
}

/** @param pid for people: presence counts, not content. */
export function markRunning(files: Files, root: string, pid: number): void {
  const text = Buffer.from(String(pid));
  const fd = files.open(markerPath(root), 'create');
  try {
    files.truncate(fd, 0);
    files.write(fd, text, 0, text.length, 0);
    files.sync(fd);
  } finally {
    files.close(fd);
  }
  files.syncFolder(root);
}

/** Last of all at a stop, and only where queues and log agree to the last record and all is synced. */
export function markStopped(files: Files, root: string): void {
  files.remove(markerPath(root));
  files.syncFolder(root);
}
