// Chooses the handler of a request; nothing that one throws gets past here.
import { errorText } from '../../base/errors.ts';
import { ResponseCodes } from '../../protocol/codes.ts';
import { adminHandlers } from './admin.ts';
import { brokerHandlers } from './brokers.ts';
import { type Answer, type Handler, type NameRequest, type NameState, refused } from './handler.ts';
import { keyValueHandlers } from './key-values.ts';
import { routeHandlers } from './routes.ts';
import { topicHandlers } from './topics.ts';

const handlers = new Map<number, Handler>();
for (const table of [keyValueHandlers, brokerHandlers, routeHandlers, topicHandlers, adminHandlers]) {
  for (const [code, handler] of Object.entries(table)) handlers.set(Number(code), handler);
}

/** Every request that this server knows. */
export const nameServerCodes: readonly number[] = [...handlers.keys()];

export function answerOf(request: NameRequest, state: NameState): Answer {
  const { code } = request.header;
  const handler = handlers.get(code);
  if (handler === undefined) return { code: ResponseCodes.REQUEST_CODE_NOT_SUPPORTED, remark: ` request type ${code} not supported` };
  try {
    return handler(request, state);
  } catch (error) {
    return refused(`name server failed: ${errorText(error)}`);
  }
}
