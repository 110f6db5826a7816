// Where the broker answers otherwise than Apache's on purpose, or not yet: the whole list, each with its reason.

/** Codes that this version serves; every other code must get the answer "not supported". */
export const servedCodes: ReadonlySet<number> = new Set([
  10, 11, 12, 14, 15, 17, 18, 21, 25, 26, 28, 29, 30, 31, 32, 33, 34, 35, 36, 38, 41, 42, 43, 46, 200, 201, 202, 203, 204, 207, 208, 215,
  222, 223, 225, 300, 303, 305, 306, 307, 308, 309, 310, 314, 315, 316, 317, 320, 321, 324, 325, 328, 329, 343, 345, 351, 352, 353, 361,
  907,
]);

export interface Difference {
  /** The request's code, and a pattern for its fields or its title. */
  readonly code: number;
  readonly about: RegExp;
  readonly apache: number;
  readonly ours: readonly number[];
  readonly reason: string;
}

export interface FieldDifference {
  readonly code: number;
  readonly answer: number;
  /** Fields that we lack (-) or have besides (+). */
  readonly fields: string;
  readonly reason: string;
}

const sql = 'SQL92 selectors come with a later issue; until then they are refused and not delivered unfiltered';
const timed = 'timed messages come with a later issue; until then they are refused, as they would arrive at once';
const batchDelay = 'a batch with a delayed message is refused whole: some of its messages would be stored elsewhere (BR-44)';
const illegal = 'a fault of the message is named as such, and is no exception text';

const newGroup = 'an empty queue, and a group whose joining is noted, have a known start: the client is told it';

export const captureDifferences: readonly Difference[] = [
  { code: 14, about: /./, apache: 22, ours: [0, 22], reason: newGroup },
  { code: 11, about: /"subVersion":"1796037105378"/, apache: 21, ours: [19], reason: 'a reset waited there: it came from a tool' },
  {
    code: 222,
    about: /ALI_T/,
    apache: 206,
    ours: [0, 206],
    reason: 'that broker had resets by the server turned off, in one capture by a request of it',
  },
  { code: 223, about: /ALI_T/, apache: 1, ours: [206], reason: 'nobody is online: said by its own code, and by no exception text' },
  { code: 11, about: /SQL92/, apache: 28, ours: [0, 19, 20, 21, 23, 24], reason: sql },
  ...[0, 19, 20].map((apache) => ({ code: 11, about: /"subscription":"[^"]+".*SQL92/, apache, ours: [23], reason: sql })),
  { code: 46, about: /./, apache: 0, ours: [1], reason: sql },
  { code: 46, about: /./, apache: 23, ours: [1], reason: sql },
  { code: 315, about: /./, apache: 0, ours: [0, 1], reason: 'counted of traffic that these frames do not repeat, or of the last second' },
  { code: 310, about: /./, apache: 2, ours: [0], reason: 'that broker was busy at that moment' },
];

export const probeDifferences: readonly Difference[] = [
  { code: 310, about: /empty body/, apache: 1, ours: [13], reason: illegal },
  { code: 310, about: /level not a number/, apache: 1, ours: [13], reason: illegal },
  { code: 320, about: /torn entry/, apache: 1, ours: [13], reason: illegal },
  { code: 36, about: /level -1/, apache: 1, ours: [0], reason: 'the record says of which topic it is: originTopic may be left out' },
  { code: 310, about: /timer in the past/, apache: 0, ours: [13], reason: timed },
  { code: 320, about: /batch with a delay entry/, apache: 0, ours: [13], reason: batchDelay },
  { code: 310, about: /half message/, apache: 0, ours: [13], reason: 'transactions come with a later issue' },
  {
    code: 11,
    about: /bad SQL|unknown expression type/,
    apache: 0,
    ours: [23],
    reason: 'Apache delivers unfiltered; what cannot be understood is refused',
  },
  { code: 11, about: /good SQL/, apache: 0, ours: [23], reason: sql },
  { code: 46, about: /SQL/, apache: 0, ours: [1], reason: sql },
  { code: 46, about: /SQL/, apache: 23, ours: [1], reason: sql },
  {
    code: 14,
    about: /empty queue/,
    apache: 22,
    ours: [0],
    reason: 'a new group starts an empty queue at its only place, so that nothing sent meanwhile is skipped',
  },
];

const sysFlags = 'unit flags of topic and group: no stock client reads them, and each answer would carry them';
const sendFields = 'region and trace flag go with every answer to a send, refused or not';

export const fieldDifferences: readonly FieldDifference[] = [
  ...[11, 361].flatMap((code) =>
    [0, 19, 20, 21].map((answer) => ({ code, answer, fields: '-groupSysFlag -topicSysFlag', reason: sysFlags })),
  ),
  ...[324, 325].map((code) => ({ code, answer: 0, fields: '+transactionId', reason: 'a stored reply is answered as any other message' })),
  ...[310, 324].map((code) => ({ code, answer: 1, fields: '+MSG_REGION +TRACE_ON', reason: sendFields })),
  {
    code: 11,
    answer: 16,
    fields: '+maxOffset +minOffset +nextBeginOffset +suggestWhichBrokerId',
    reason: 'clients may read these four of any answer to a pull',
  },
];
