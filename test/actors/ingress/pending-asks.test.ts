// Tokens, counts and forgetting of requests that wait for another actor.
import test from 'ava';
import type { ClientConnection } from '../../../src/actors/ingress/client-connection.ts';
import { type Ask, PendingAsks } from '../../../src/actors/ingress/pending-asks.ts';
import { HeaderCodecs } from '../../../src/protocol/frame.ts';

const clientOf = (id: number) => ({ id, pendingCount: 0 }) as ClientConnection;
const ask = (client: ClientConnection, opaque: number): Ask => ({ client, opaque, codec: HeaderCodecs.json, oneway: false });

test('pending asks: each is taken once, by the token told before it was added', (t) => {
  const asks = new PendingAsks(0x7fffffff);
  const client = clientOf(1);
  const first = asks.nextToken;
  asks.add(ask(client, 10));
  const second = asks.nextToken;
  asks.add(ask(client, 11));
  t.deepEqual([first, second], [0x7fffffff, -0x80000000], 'tokens are words and wrap as such');
  t.is(client.pendingCount, 2);
  t.is(asks.take(second)?.opaque, 11);
  t.is(asks.take(second), undefined);
  t.is(asks.take(first)?.opaque, 10);
  t.is(client.pendingCount, 0);
  t.is(asks.count, 0);
});

test('pending asks: a closed connection loses its own and nobody else’s', (t) => {
  const asks = new PendingAsks<Ask>(0);
  const [closing, staying] = [clientOf(1), clientOf(2)];
  closing.pendingCount = 1; // a send of another path
  for (let i = 0; i < 10; i++) asks.add(ask(i % 2 === 0 ? closing : staying, i));
  t.is(asks.forget(closing), 5);
  t.is(asks.forget(closing), 0);
  t.is(closing.pendingCount, 1);
  t.is(staying.pendingCount, 5);
  const left = Array.from({ length: 10 }, (_, token) => asks.take(token)?.opaque);
  t.deepEqual(
    left.filter((opaque) => opaque !== undefined),
    [1, 3, 5, 7, 9],
  );
});
