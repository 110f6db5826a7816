// A second descriptor of a listening socket, so that each thread that shares the port owns, and closes, one of its own.
//
// Two handles over one descriptor number close it twice, and in between the number may have become another thread's file. Node has no
// `dup`, but a child process inherits a copy, and handing it back over the child's channel makes a new number here:
//
//     fd 19 ──spawn──▶ child's fd 4 ──channel──▶ fd 23
import { spawn } from 'node:child_process';
import { systemError } from './address-error.ts';

/** What `server.listen` takes as a handle. */
export type ListenHandle = object;

const channelIndex = 3;
const inheritedIndex = 4;

// Not a server: the child must never accept.
const childScript = `
const { Socket } = require('node:net');
const socket = new Socket({ fd: ${inheritedIndex}, readable: false, writable: false });
process.send('copy', socket._handle, () => process.disconnect());
`;

/** Costs the start of a small process. */
export function copyDescriptor(fd: number): Promise<ListenHandle> {
  return new Promise((resolve, reject) => {
    const stdio: (number | 'ignore' | 'ipc')[] = ['ignore', 'ignore', 'ignore'];
    stdio[channelIndex] = 'ipc';
    stdio[inheritedIndex] = fd;
    // Options meant for this process, such as a debugger's port, are not the child's.
    const child = spawn(process.execPath, ['-e', childScript], { stdio, env: { ...process.env, NODE_OPTIONS: '' } });
    child.once('message', (_message, handle) => {
      if (handle) resolve(handle);
      else reject(systemError('EBADF', 'the descriptor is no socket'));
    });
    child.once('error', reject);
    child.once('exit', () => reject(systemError('EBADF', 'the descriptor could not be inherited')));
  });
}
