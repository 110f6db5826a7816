// One process per store: holds a socket named by the folder's identity, which the system frees with the process, however it ends.
//
// A JVM's broker locks a byte of the file `lock` instead. Node cannot take such a lock, but it can see one; so a broker of that
// kind is found when it runs first, and not kept out when it comes later.
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { ErrorCodes, RingmqError } from '../base/errors.ts';
import type { Files } from './files/files.ts';
import { folderIdentity, lockHolder, removeSocketFile } from './files/folder-identity.ts';

const WORD = 'lock';
const ASK_TIMEOUT_MS = 500;
const GO_ELSEWHERE = 'another broker has this store; stop it, or give this one a folder of its own with storePathRootDir';
const STOP_IT = 'a broker runs on this store: stop it first';

export interface StoreLock {
  release(): Promise<void>;
}

/** Throws RingmqError `store` where another process has the store. A store that is on no real file system needs no lock. */
export async function lockStore(files: Files, root: string): Promise<StoreLock> {
  const identity = folderIdentity(root);
  if (identity === null) return { release: () => Promise.resolve() };
  writeWord(files, root);
  const server = await listen(root, socketPath(identity));
  const holder = lockHolder(`${root}/lock`);
  if (holder !== 0) {
    await closed(server);
    throw inUse(root, holder > 0 ? holder : null);
  }
  return { release: () => closed(server) };
}

/** Throws as `lockStore` does where another process has the store, and takes and writes nothing: for those who only read. */
export async function refuseUsedStore(root: string): Promise<void> {
  const identity = folderIdentity(root);
  if (identity === null) return;
  const holder = await askHolder(socketPath(identity));
  if (holder.alive) throw inUse(root, holder.pid, STOP_IT);
  const pid = lockHolder(`${root}/lock`);
  if (pid !== 0) throw inUse(root, pid > 0 ? pid : null, STOP_IT);
}

function socketPath(identity: string): string {
  const name = `ringmq-store-${identity}`;
  if (process.platform === 'linux') return `\0${name}`;
  if (process.platform === 'win32') return `\\\\.\\pipe\\${name}`;
  return `${tmpdir()}/${name}.sock`;
}

async function listen(root: string, path: string): Promise<Server> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await tryListen(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') {
        throw new RingmqError(ErrorCodes.store, 'the store cannot be locked', { root }, error);
      }
      const holder = await askHolder(path);
      // A socket file outlives its process; nobody answers behind it.
      if (holder.alive || attempt > 0 || !path.startsWith('/')) throw inUse(root, holder.pid);
      removeSocketFile(path);
    }
  }
}

function tryListen(path: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.end(String(process.pid));
    });
    server.once('error', reject);
    server.listen({ path }, () => {
      server.unref();
      resolve(server);
    });
  });
}

/** The holder tells its process id; one that is busy is alive all the same. */
function askHolder(path: string): Promise<{ alive: boolean; pid: number | null }> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect({ path });
    socket.setTimeout(ASK_TIMEOUT_MS, () => finish(true));
    socket.on('data', (chunk) => {
      text += chunk.toString();
    });
    socket.on('end', () => finish(true));
    socket.on('error', (error: NodeJS.ErrnoException) => finish(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT'));

    function finish(alive: boolean): void {
      socket.destroy();
      resolve({ alive, pid: /^\d+$/.test(text) ? Number(text) : null });
    }
  });
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}

/** The file of that name is what other brokers expect to find; its presence alone means nothing. */
function writeWord(files: Files, root: string): void {
  const path = `${root}/lock`;
  if ((files.stat(path)?.sizeBytes ?? 0) > 0) return;
  const fd = files.open(path, 'create');
  try {
    files.write(fd, Buffer.from(WORD), 0, WORD.length, 0);
  } finally {
    files.close(fd);
  }
}

function inUse(root: string, pid: number | null, text = GO_ELSEWHERE): RingmqError {
  return new RingmqError(ErrorCodes.store, text, { storePathRootDir: root, ...(pid === null ? {} : { pid }) });
}
