// What the system knows of a store's folder beyond its contents: its identity, and who holds a lock on a file in it.
import { readdirSync, readFileSync, readlinkSync, realpathSync, rmSync, statSync } from 'node:fs';

/** Device and inode as text, the same under every path to the folder; null where no such folder is on a real file system. */
export function folderIdentity(path: string): string | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? null : `${stat.dev}-${stat.ino}`;
}

/**
 * A name for this folder on this run of the system's kernel: what any process wrote there is still to be read while the name is the same.
 * Empty where the system has no name for its runs.
 */
export function runningPlace(folder: string): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    const identity = folderIdentity(folder);
    return boot === '' || identity === null ? '' : `${boot}-${identity}`;
  } catch {
    return '';
  }
}

export function removeSocketFile(path: string): void {
  rmSync(path, { force: true });
}

/**
 * Process that holds a POSIX lock on the file, as brokers on a JVM do; 0 where none is known: also on systems that do not tell.
 *
 *   /proc/locks:   1: POSIX  ADVISORY  WRITE 4711 08:01:131090 0 EOF        device in hex, inode in decimal
 */
export function lockHolder(path: string): number {
  let table: string;
  let stat: { dev: bigint; ino: bigint } | undefined;
  try {
    table = readFileSync('/proc/locks', 'utf8');
    stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return 0;
  }
  if (stat === undefined) return 0;
  for (const line of table.split('\n')) {
    const fields = line.trim().split(/\s+/);
    const [, kind, , , pid = '', place = ''] = fields;
    if (kind !== 'POSIX' && kind !== 'OFDLCK') continue;
    const [major = '', minor = '', inode = ''] = place.split(':');
    if (inode !== String(stat.ino)) continue;
    const holder = Number(pid);
    if (sameDevice(stat.dev, Number.parseInt(major, 16), Number.parseInt(minor, 16)) || hasOpen(holder, path)) return holder;
  }
  return 0;
}

function sameDevice(device: bigint, major: number, minor: number): boolean {
  const seenMajor = ((device >> 8n) & 0xfffn) | ((device >> 32n) & ~0xfffn);
  const seenMinor = (device & 0xffn) | ((device >> 12n) & ~0xffn);
  return seenMajor === BigInt(major) && (seenMinor & 0xffff_ffffn) === BigInt(minor);
}

/** Some file systems show another device there than to `stat`. */
function hasOpen(pid: number, path: string): boolean {
  try {
    const real = realpathSync(path);
    return readdirSync(`/proc/${pid}/fd`).some((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`) === real;
      } catch {
        return false;
      }
    });
  } catch {
    return false;
  }
}
