// Listens on a local socket for restart.mjs and restarts the broker under test, in good order or by a kill, one restart at a time.
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * @param killed the broker is killed instead of stopped.
 * @returns the shell command for the kit, and how to stop listening.
 */
export async function offerRestarts(system, folder, killed = false) {
  const path = join(folder, 'restart.sock');
  let turn = Promise.resolve();
  const server = createServer((socket) => {
    socket.on('error', () => {});
    turn = turn.then(async () => {
      try {
        if (killed) {
          await system.kill();
          await system.start();
        } else await system.restart();
        socket.end('ok');
      } catch (error) {
        console.log(`the restart failed: ${error.message}`);
        socket.end(error.message);
      }
    });
  });
  await new Promise((resolve) => server.listen(path, resolve));
  const script = fileURLToPath(new URL('restart.mjs', import.meta.url));
  return { command: `'${process.execPath}' '${script}' '${path}'`, close: () => server.close() };
}
