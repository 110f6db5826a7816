// A connection's answers: the places they lie in go back to the pool, whether the bytes left or the connection closed under them.
import test from 'ava';
import { CHUNK_SIZE, ChunkPool } from '../../../src/actors/ingress/chunk-pool.ts';
import { ClientConnection, PEER_NONE } from '../../../src/actors/ingress/client-connection.ts';
import { Arena, allocateRegion } from '../../../src/base/arena.ts';
import type { Connection } from '../../../src/runtime/transport.ts';

const nothing = (): void => {};

function rig() {
  const region = allocateRegion(2 * CHUNK_SIZE);
  const pool = new ChunkPool(region);
  const written: Uint8Array[] = [];
  const connection: Connection = {
    id: 1,
    remoteHost: '127.0.0.1',
    remotePort: 1,
    bufferedBytes: 0,
    write: (bytes) => void written.push(bytes),
    pause: nothing,
    resume: nothing,
    end: nothing,
    destroy: nothing,
  };
  const client = new ClientConnection(connection, () => ({ onFrame: () => true }), pool, PEER_NONE, false, 0);
  const { bytes } = Arena.of(region.memory);
  /** How many places in the arena the pool has left; takes them. */
  const left = (): number => [1, 2, 3].filter(() => pool.take().bytes === bytes).length;
  const say = (text: string): void => {
    const out = client.reserve(text.length);
    client.wrote(client.outputAt + out.write(text, client.outputAt));
    client.flush();
  };
  return { client, written, left, say };
}

test('client connection: what has left gives its place back', (t) => {
  const { client, written, left, say } = rig();
  say('one');
  client.onWritten();
  t.deepEqual(
    written.map((bytes) => Buffer.from(bytes).toString()),
    ['one'],
  );
  t.is(left(), 2);
});

test('client connection: what was under way when it closed gives its place back too', (t) => {
  const { client, left, say } = rig();
  say('one');
  say('two');
  client.onClosed();
  t.is(left(), 2);
});

test('client connection: an answer that comes after the close is dropped, and keeps no place', (t) => {
  const { client, written, left, say } = rig();
  client.onClosed();
  say('late');
  t.deepEqual(written, []);
  t.is(left(), 2);
});
