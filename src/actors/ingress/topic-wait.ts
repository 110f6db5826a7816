// A frame whose topic does not exist yet waits in its connection until the coordinator has said what becomes of that.
import { type EnsureTopic, Messages } from '../messages.ts';
import type { ClientConnection } from './client-connection.ts';
import type { Desk } from './desk.ts';
import type { Refusal } from './send-checks.ts';

/** Why there will be no such topic; null: it is asked for, and the frame has to be offered again. */
export function awaitTopic(desk: Desk, client: ClientConnection, wish: Omit<EnsureTopic, 'token'>): Refusal | null {
  const { verdict } = client;
  client.verdict = null;
  if (verdict !== null && verdict.topic === wish.topic && verdict.code !== 0) return verdict;
  client.waitsForTopic = wish.topic;
  desk.coordinator.sendJson(Messages.ensureTopic, { token: client.id, ...wish });
  desk.stall(client);
  return null;
}

/** For a topic that belongs to a group: the group is made with it where that is allowed. */
export function awaitGroupTopic(desk: Desk, client: ClientConnection, topic: string, unit: boolean): Refusal | null {
  return awaitTopic(desk, client, { topic, defaultTopic: '', queueCount: 1, unit });
}
