// Sends to a group's retry topic: by consumers that could not send a message back, and by ordered ones that give a message up.
import { isOrdered, isPastRetries, retryLimit } from '../../core/retries.ts';
import { dlqTopicOf, groupOfRetryTopic } from '../../message/names.ts';
import { PropertyNames, parseProperties } from '../../message/properties.ts';
import type { SendRequest } from '../../protocol/commands/send-message.ts';
import type { ClientConnection } from './client-connection.ts';
import type { Desk } from './desk.ts';
import type { RoutedTopic } from './directory.ts';
import type { Refusal } from './send-checks.ts';
import { awaitGroupTopic } from './topic-wait.ts';

/** The topic that the message goes to: the retry topic or the group's dead letters; or why it goes nowhere; null: offer it again. */
export function routeRetry(
  desk: Desk,
  client: ClientConnection,
  topic: RoutedTopic,
  request: SendRequest,
  clientVersion: number,
): RoutedTopic | Refusal | null {
  const name = groupOfRetryTopic(topic.name) as string;
  const group = desk.directory.group(name);
  if (group === undefined) return awaitGroupTopic(desk, client, topic.name, request.unitMode);
  const limit = retryLimit(group.retryMaxTimes, request.maxReconsumeTimes, clientVersion);
  const dead =
    isPastRetries(request.reconsumeTimes, limit) ||
    (group.lockedTopics.length > 0 && isOrdered(group.lockedTopics, name, originOf(request.properties)));
  if (!dead) return topic;
  const deadName = dlqTopicOf(name);
  return desk.directory.topic(deadName) ?? awaitGroupTopic(desk, client, deadName, request.unitMode);
}

function originOf(properties: string): string | undefined {
  return parseProperties(properties).get(PropertyNames.retryTopic);
}
