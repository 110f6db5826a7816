// Broken invariants stop the actor: they are bugs, never input errors.

export class AssertionError extends Error {
  override readonly name = 'AssertionError';
}

export function assert(condition: unknown, message = 'broken invariant'): asserts condition {
  if (!condition) throw new AssertionError(message);
}

export function unreachable(value: never): never {
  throw new AssertionError(`unreachable value=${String(value)}`);
}

/** The value, where the code around it knows that it is there. */
export function present<T>(value: T | undefined | null, what = 'value'): T {
  if (value === undefined || value === null) throw new AssertionError(`${what} is absent`);
  return value;
}
