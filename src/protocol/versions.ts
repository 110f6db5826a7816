// The protocol's version ordinals that change what a peer is answered, and the numbers of the client languages.

export const Versions = {
  /** Consumers older than this cannot take an offset reset. */
  V3_0_7_SNAPSHOT: 28,
  /** Brokers older than this register with a bare topic table. */
  V3_0_11: 37,
  /** Consumers older than this do not answer relayed requests. */
  V3_1_8_SNAPSHOT: 62,
  /** From here a request's maxReconsumeTimes counts. */
  V3_4_9: 121,
  /** Clients want at least this of a broker before they use SQL expressions. */
  V4_1_0_SNAPSHOT: 232,
  V4_5_2: 317,
  /** Up to here, clients sign a query without its `_UNIQUE_KEY_QUERY` field. */
  V4_9_3: 399,
  /** From here a name server answers routes in strict JSON. */
  V4_9_4: 401,
  /** From here a compressed registration has a section of queue mappings. */
  V5_0_0: 413,
  /** Only peers above this understand GO_AWAY. */
  V5_3_1: 475,
} as const;

/** What we call ourselves in every frame: peers treat us as a 5.3 broker. */
export const BROKER_VERSION = 479;

const languages = [
  'JAVA',
  'CPP',
  'DOTNET',
  'PYTHON',
  'DELPHI',
  'ERLANG',
  'RUBY',
  'OTHER',
  'HTTP',
  'GO',
  'PHP',
  'OMS',
  'RUST',
  'NODE_JS',
] as const;
export type LanguageName = (typeof languages)[number];

const languageCodes = new Map<string, number>(languages.map((name, code) => [name, code]));
const OTHER_CODE = 7;

/** The name of a language's number; a number without a name, or a name already, stays as it came. */
export function languageName(language: number | string): string | number {
  return typeof language === 'number' ? (languages[language] ?? language) : language;
}

/** The number of a language's name, OTHER for a name without one; a number stays as it came. */
export function languageCode(language: number | string): number {
  return typeof language === 'number' ? language : (languageCodes.get(language) ?? OTHER_CODE);
}
