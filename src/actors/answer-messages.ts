// What coordinator and ingresses tell each other so that the coordinator's answers have what only queues and pulls know.

/** What the queues' dispatchers are to be asked, for the coordinator; each as in `lookUp`. */
export interface LookUpsAsked {
  readonly token: number;
  readonly lookUps: readonly { readonly key: number; readonly kind: number; readonly argument: number }[];
}

/** Values in the order of the questions. */
export interface LookUpsAnswered {
  readonly token: number;
  readonly values: readonly number[];
}

/** queueKey, offset, the value where no message is there, and 0 or a wall time: then how long before it the message was stored. */
export type TimeAsk = readonly [queueKey: number, offset: number, missing: number, untilMs: number];

export interface TimedAnswer {
  readonly connectionId: number;
  readonly opaque: number;
  readonly codec: number;
  /** The body's text around the gaps: one more than there are asks. */
  readonly pieces: readonly string[];
  readonly asks: readonly TimeAsk[];
}

/** Of one group in one queue: pulls that gave something, messages, bytes, and the offset behind the last message given. */
export type ReadCount = readonly [
  group: string,
  topic: string,
  queueId: number,
  pulls: number,
  messages: number,
  bytes: number,
  nextOffset: number,
];

export interface ReadCounts {
  readonly rows: readonly ReadCount[];
  /** Messages that groups gave back. */
  readonly sentBack: readonly (readonly [group: string, topic: string, count: number])[];
}
