// What to do when an actor fails: a pure decision from its kind and its recent failures, carried out elsewhere.

export const Directives = {
  /** A new actor of this name takes its place after `delayMs`. */
  restart: 'restart',
  /** All actors of its kind stop and start together: they share what broke. */
  restartGroup: 'restart-group',
  /** The broker stops in order; nothing is acknowledged that is not stored. */
  stopBroker: 'stop-broker',
} as const;
export type Directive = (typeof Directives)[keyof typeof Directives];

export interface SupervisionRule {
  readonly onFailure: Directive;
  /** More failures than this within the window turn into an ordered stop. */
  readonly failureCountMax: number;
  readonly windowMs: number;
  readonly delayMsMin: number;
  readonly delayMsMax: number;
}

export interface Decision {
  readonly directive: Directive;
  readonly delayMs: number;
}

/** Failure times of one actor, oldest first, older ones than the window dropped. */
export class FailureWindow {
  readonly #rule: SupervisionRule;
  #times: number[] = [];

  constructor(rule: SupervisionRule) {
    this.#rule = rule;
  }

  /** Notes a failure now and decides: each further one within the window waits twice as long. */
  decide(steadyMs: number): Decision {
    const rule = this.#rule;
    this.#times = this.#times.filter((time) => steadyMs - time < rule.windowMs);
    this.#times.push(steadyMs);
    if (rule.onFailure === Directives.stopBroker || this.#times.length > rule.failureCountMax) {
      return { directive: Directives.stopBroker, delayMs: 0 };
    }
    const delayMs = Math.min(rule.delayMsMax, rule.delayMsMin * 2 ** (this.#times.length - 1));
    return { directive: rule.onFailure, delayMs };
  }
}
