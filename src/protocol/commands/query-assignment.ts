// QUERY_ASSIGNMENT (400), with which a client leaves its share of queues to the broker, and SET_MESSAGE_REQUEST_MODE (401) of tools.

//   400      no fields; body: topic, group, client, strategy. Answer 0 with the queues as body; none: keep what you have
//   401      no fields; body: topic, group, PULL or POP, and how many neighbours share a queue. Answer 0

export {
  type AssignmentQuery,
  decodeAssignmentQuery,
  decodeAssignments,
  decodeRequestMode,
  encodeAssignmentQuery,
  encodeAssignments,
  encodeRequestMode,
  type QueueAssignment,
  type RequestMode,
  type RequestModeSetting,
} from '../bodies/assignment.ts';
