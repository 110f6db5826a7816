// Finds free ports on the loopback, below the range from which the system takes the ports of outgoing connections.
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

const first = 20_000;
const last = 31_000;
let next = first + 10 * randomInt((last - first) / 10); // other runs on this machine begin elsewhere

/** A port p such that p - 2 … p + 3 are free: a broker's neighbours are its fast port and its replication port. */
export async function freeBlock() {
  for (let tries = 0; tries < 500; tries++) {
    // The other lane may ask for a block while these are tried.
    const block = next + 10 > last ? first : next + 10;
    next = block;
    const free = await Promise.all([-2, -1, 0, 1, 2, 3].map((step) => isFree(block + step)));
    if (free.every(Boolean)) return block;
  }
  throw new Error(`no free block of ports between ${first} and ${last}`);
}

function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1' }, () => server.close(() => resolve(true)));
  });
}
