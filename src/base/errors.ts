// The one error class, with a closed union of codes; messages say what was seen, what is allowed and what to do.

export const ErrorCodes = {
  /** A start-up setting is unknown or has a value that is not allowed. */
  config: 'config',
  /** A port is in use or an address cannot be bound. */
  address: 'address',
  /** The store folder cannot be used: locked, unwritable, or not as configured. */
  store: 'store',
  /** A read, write or sync of a file failed. */
  io: 'io',
  /** Bytes do not follow their grammar (a frame, a header, a record, a file). */
  malformed: 'malformed',
  /** A named limit is exceeded. */
  limit: 'limit',
  /** The broker or actor is closed or stopping. */
  closed: 'closed',
  /** A call to another thread or process took too long. */
  timeout: 'timeout',
} as const;
export type ErrorCode = (typeof ErrorCodes)[keyof typeof ErrorCodes];

const retryable: ReadonlySet<ErrorCode> = new Set([ErrorCodes.timeout]);

export class RingmqError extends Error {
  override readonly name = 'RingmqError';
  readonly code: ErrorCode;
  readonly values: Readonly<Record<string, unknown>>;

  /** @param values appended to the message as `name=value`, in order. */
  constructor(code: ErrorCode, message: string, values: Record<string, unknown> = {}, cause?: unknown) {
    const tail = Object.entries(values)
      .map(([name, value]) => `${name}=${String(value)}`)
      .join(' ');
    super(tail === '' ? message : `${message} ${tail}`, cause === undefined ? undefined : { cause });
    this.code = code;
    this.values = values;
  }

  get retryable(): boolean {
    return retryable.has(this.code);
  }
}

/** The text of anything thrown, with the first cause behind it. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${error.message}${cause}`;
}
