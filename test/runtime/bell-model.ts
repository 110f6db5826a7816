// The wake-up protocol as step machines: every shared access is one step, and all orders of steps of all threads are explored.

/** One known mistake at a time, to show that the explorer would find it. */
export type Mutation =
  | 'none'
  | 'sender clears PARKED after ringing'
  | 'sender clears PARKED and rings without counting'
  | 'sender reads PARKED before publishing'
  | 'sender notifies without counting'
  | 'owner does not look again'
  | 'owner loads SIGNAL after looking'
  | 'owner parks after looking'
  | 'owner leaves PARKED alone while a wait is armed'
  | 'owner arms a second wait';

export interface Model {
  readonly owner: 'blocking' | 'reactive';
  readonly senders: number;
  readonly messages: number;
  /** Socket events that start duty cycles of a reactive owner. */
  readonly events: number;
  readonly mutation: Mutation;
}

/** All of a state: shared words, then what each thread knows. */
export interface State {
  parked: number;
  signal: number;
  published: number;
  taken: number;
  events: number;
  /** The owner's next step. */
  step: string;
  seen: number;
  /** What the last look found. */
  found: boolean;
  /** Outstanding waits: asleep in the list of waiters, and taken from it by a ring. */
  asleep: number;
  woken: number;
  senders: { step: string; left: number; saw: number }[];
}

export function initialState(model: Model): State {
  return {
    parked: 0,
    signal: 0,
    published: 0,
    taken: 0,
    events: model.owner === 'reactive' ? model.events : 0,
    step: 'look',
    seen: 0,
    found: false,
    asleep: 0,
    woken: 0,
    senders: Array.from({ length: model.senders }, () => ({ step: 'idle', left: model.messages, saw: 0 })),
  };
}

function copyOf(state: State): State {
  return { ...state, senders: state.senders.map((sender) => ({ ...sender })) };
}

/** S1 publish, S2 load PARKED, S3 add to SIGNAL, S4 notify. */
function sendStep(model: Model, state: State, index: number): boolean {
  const me = state.senders[index] as State['senders'][number];
  const early = model.mutation === 'sender reads PARKED before publishing';
  const uncounted =
    model.mutation === 'sender notifies without counting' || model.mutation === 'sender clears PARKED and rings without counting';
  const done = (): void => {
    me.step = 'idle';
    me.left--;
  };
  switch (me.step) {
    case 'idle':
      if (me.left === 0) return false;
      if (early) me.saw = state.parked;
      else state.published++;
      me.step = early ? 'publish late' : 'load';
      return true;
    case 'publish late':
      state.published++;
      if (me.saw === 0) done();
      else me.step = 'add';
      return true;
    case 'load':
      if (state.parked === 0) done();
      else me.step = uncounted ? 'notify' : 'add';
      if (model.mutation === 'sender clears PARKED and rings without counting') state.parked = 0;
      return true;
    case 'add':
      state.signal++;
      me.step = 'notify';
      return true;
    case 'notify':
      state.woken += state.asleep;
      state.asleep = 0;
      if (model.mutation === 'sender clears PARKED after ringing') me.step = 'clear';
      else done();
      return true;
    default:
      state.parked = 0;
      done();
      return true;
  }
}

function look(state: State): void {
  state.found = state.published > state.taken;
  if (state.found) state.taken = state.published;
}

/** look until nothing is found; R1 seen, R2 park, R3 look again, R4 sleep, R5 unpark. */
function blockingStep(model: Model, state: State): boolean {
  const lateSeen = model.mutation === 'owner loads SIGNAL after looking';
  const latePark = model.mutation === 'owner parks after looking';
  switch (state.step) {
    case 'look':
      look(state);
      if (!state.found) state.step = lateSeen ? 'park' : 'seen';
      return true;
    case 'seen':
      state.seen = state.signal;
      if (lateSeen) state.step = 'sleep';
      else state.step = latePark ? 'look again' : 'park';
      return true;
    case 'park':
      state.parked = 1;
      if (model.mutation === 'owner does not look again' || latePark) state.step = 'sleep';
      else state.step = 'look again';
      return true;
    case 'look again':
      look(state);
      if (state.found) state.step = 'unpark';
      else if (lateSeen) state.step = 'seen';
      else state.step = latePark ? 'park' : 'sleep';
      return true;
    case 'sleep':
      if (state.signal === state.seen) state.asleep++;
      state.step = state.asleep > 0 ? 'asleep' : 'unpark';
      return true;
    case 'asleep':
      if (state.woken === 0) return false;
      state.woken = 0;
      state.step = 'unpark';
      return true;
    default:
      state.parked = 0;
      state.step = 'look';
      return true;
  }
}

/** A turn of the event loop that starts a duty cycle: the wait's call-back, or a socket event. */
function turns(state: State): State[] {
  const next: State[] = [];
  if (state.woken > 0) next.push({ ...state, woken: state.woken - 1, step: 'unpark' });
  if (state.events > 0) next.push({ ...state, events: state.events - 1, step: 'unpark' });
  return next.map((s) => copyOf(s));
}

/** unpark, look until nothing is found; then arm: R1 seen, R2 park, R4 wait unless one is armed; R3 look again. */
function reactiveStep(model: Model, state: State): void {
  const armed = state.asleep + state.woken > 0;
  switch (state.step) {
    case 'look':
      look(state);
      if (!state.found) state.step = 'seen';
      return;
    case 'seen':
      state.seen = state.signal;
      state.step = armed && model.mutation === 'owner leaves PARKED alone while a wait is armed' ? 'look again' : 'park';
      return;
    case 'park':
      state.parked = 1;
      state.step = armed && model.mutation !== 'owner arms a second wait' ? 'look again' : 'arm';
      return;
    case 'arm':
      // A ring since R1: the call-back is queued at once.
      if (state.signal === state.seen) state.asleep++;
      else state.woken++;
      state.step = model.mutation === 'owner does not look again' ? 'event loop' : 'look again';
      return;
    case 'look again':
      look(state);
      state.step = state.found ? 'unpark' : 'event loop';
      return;
    default:
      state.parked = 0;
      state.step = 'look';
  }
}

export function successors(model: Model, state: State): State[] {
  const next: State[] = [];
  for (let i = 0; i < model.senders; i++) {
    const copy = copyOf(state);
    if (sendStep(model, copy, i)) next.push(copy);
  }
  if (state.step === 'event loop') return next.concat(turns(state));
  const copy = copyOf(state);
  if (model.owner === 'reactive') {
    reactiveStep(model, copy);
    next.push(copy);
  } else if (blockingStep(model, copy)) next.push(copy);
  return next;
}

/** What must hold in every state; empty where it does. */
export function wrong(state: State): string {
  if (state.asleep + state.woken > 1) return 'two waits are outstanding';
  const sleeps = (state.step === 'asleep' || state.step === 'event loop') && state.woken === 0;
  const ringing = state.senders.some((sender) => sender.step !== 'idle');
  return sleeps && !ringing && state.published > state.taken ? 'mail is there, the owner sleeps, and nobody will ring' : '';
}
