// The registration at one name server as a state machine: when to connect, when to register, how long to wait, when to try again.

export const REGISTER_TIMEOUT_MS = 3000;
const BACK_OFF_MIN_MS = 200;
const BACK_OFF_MAX_MS = 5000;

export type NameServerStep = 'connect' | 'register' | 'none';

export class NameServerState {
  readonly #periodMs: number;
  #link: 'closed' | 'connecting' | 'open' = 'closed';
  /** When to connect, or, while connected, when to register next. */
  #dueMs: number;
  #backOffMs = BACK_OFF_MIN_MS;
  /** Of the registration that waits for its answer; -1 for none. */
  #opaque = -1;
  #timeoutMs = Number.POSITIVE_INFINITY;
  /** Something changed after the registration that is under way was written. */
  #stale = false;
  #registeredOnce = false;

  constructor(periodMs: number, steadyMs: number) {
    this.#periodMs = periodMs;
    this.#dueMs = steadyMs;
  }

  get isOpen(): boolean {
    return this.#link === 'open';
  }

  /** It has answered a registration since the broker's start. */
  get registeredOnce(): boolean {
    return this.#registeredOnce;
  }

  /** It is connected and knows everything up to the last change. */
  get isCurrent(): boolean {
    return this.#link === 'open' && this.#registeredOnce && this.#opaque < 0 && !this.#stale;
  }

  nextMs(): number {
    if (this.#link === 'connecting') return Number.POSITIVE_INFINITY;
    return this.#opaque >= 0 ? this.#timeoutMs : this.#dueMs;
  }

  /** What is to be done now; the caller does it. */
  step(steadyMs: number): NameServerStep {
    if (this.#link === 'connecting') return 'none';
    if (this.#opaque >= 0) {
      if (steadyMs < this.#timeoutMs) return 'none';
      this.#fail(steadyMs);
    }
    if (steadyMs < this.#dueMs) return 'none';
    if (this.#link === 'open') return 'register';
    this.#link = 'connecting';
    return 'connect';
  }

  onOpen(steadyMs: number): void {
    this.#link = 'open';
    this.#dueMs = steadyMs;
    this.#forgetPending();
  }

  /** The connection could not be made, or is gone. */
  onClosed(steadyMs: number): void {
    this.#link = 'closed';
    this.#fail(steadyMs);
  }

  onSent(opaque: number, steadyMs: number): void {
    this.#opaque = opaque;
    this.#timeoutMs = steadyMs + REGISTER_TIMEOUT_MS;
    this.#stale = false;
  }

  /** False: the answer is not to the registration that is waited for. */
  onAnswer(opaque: number, accepted: boolean, steadyMs: number): boolean {
    if (opaque !== this.#opaque) return false;
    if (!accepted) {
      this.#fail(steadyMs);
      return true;
    }
    this.#forgetPending();
    this.#backOffMs = BACK_OFF_MIN_MS;
    this.#registeredOnce = true;
    this.#dueMs = this.#stale ? steadyMs : steadyMs + this.#periodMs;
    return true;
  }

  /** What is registered has changed: tell it at once, or as soon as the registration under way is through. */
  onChange(steadyMs: number): void {
    this.#stale = true;
    if (this.#link === 'open' && this.#opaque < 0) this.#dueMs = Math.min(this.#dueMs, steadyMs);
  }

  #fail(steadyMs: number): void {
    this.#forgetPending();
    this.#stale = true;
    this.#dueMs = steadyMs + this.#backOffMs;
    this.#backOffMs = Math.min(BACK_OFF_MAX_MS, this.#backOffMs * 2);
  }

  #forgetPending(): void {
    this.#opaque = -1;
    this.#timeoutMs = Number.POSITIVE_INFINITY;
  }
}
