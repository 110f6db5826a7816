// All requests that the coordinator serves, by code.
import { assert } from '../../../base/assert.ts';
import type { Handler } from '../request.ts';
import { brokerHandlers } from './broker.ts';
import { connectionHandlers } from './connections.ts';
import { groupHandlers } from './groups.ts';
import { lockHandlers } from './locks.ts';
import { memberHandlers } from './members.ts';
import { offsetHandlers } from './offsets.ts';
import { relayHandlers } from './relays.ts';
import { resetHandlers } from './resets.ts';
import { statsHandlers } from './stats.ts';
import { topicHandlers } from './topics.ts';

const rows = [
  ...memberHandlers,
  ...lockHandlers,
  ...offsetHandlers,
  ...resetHandlers,
  ...relayHandlers,
  ...topicHandlers,
  ...groupHandlers,
  ...connectionHandlers,
  ...statsHandlers,
  ...brokerHandlers,
];

export const handlers: ReadonlyMap<number, Handler> = new Map(rows);
assert(handlers.size === rows.length, 'a code has one handler');
