// What an actor is: a handful of methods, a name and a next deadline. It does not know its thread, and it never waits.

export interface Actor {
  /** Also the name of its class's file, its thread's label, its counters' prefix and its log scope: `ingress-0`. */
  readonly name: string;

  /** Opens what the actor owns. Runs once on the actor's thread, before the first doWork. */
  start(): void | Promise<void>;

  /** One duty cycle: control mail first, then data. Returns how much it did; 0 lets the thread park. Never blocks. */
  doWork(): number;

  /** Steady time in ms at which doWork has something to do although no mail arrives; Infinity for none. */
  deadlineMs(): number;

  /** Finishes what is in hand and closes; doWork of this and of the other actors goes on until the promise settles. */
  stop(): void | Promise<void>;

  /** In the place of `stop` after doWork has thrown: gives up at once what would stand in a successor's way, such as ports. Never throws. */
  abandon?(): void;
}

/** Asks the runner for a duty cycle soon: for reactive actors, after a socket event. */
export type Wake = () => void;
