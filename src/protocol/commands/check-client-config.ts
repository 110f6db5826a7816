// CHECK_CLIENT_CONFIG (46): a consumer with an SQL expression asks before it starts whether the broker takes it.

//   request  no fields; body: client, group and subscription
//   answer   0, or 23 where the expression does not parse, 1 where SQL is switched off: the consumer then does not start

export { type CheckClient, decodeCheckClient, encodeCheckClient } from '../bodies/check-client.ts';
