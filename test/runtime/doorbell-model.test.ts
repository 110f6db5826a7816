// The wake-up protocol in every order of its steps: none sleeps on mail, and each known mistake is found.
import test from 'ava';
import { initialState, type Model, type Mutation, type State, successors, wrong } from './bell-model.ts';

interface Exploration {
  readonly states: number;
  /** What was found wrong, with the steps that led there; empty where nothing was. */
  readonly failure: string;
}

function key(state: State): string {
  const { parked, signal, published, taken, events, step, seen, found, asleep, woken, senders } = state;
  let text = `${parked},${signal},${published},${taken},${events},${step},${seen},${found},${asleep},${woken}`;
  for (const sender of senders) text += `;${sender.step},${sender.left},${sender.saw}`;
  return text;
}

/** Visits every state that any order of steps can reach. */
function explore(model: Model): Exploration {
  const first = initialState(model);
  const visited = new Set([key(first)]);
  const open = [first];
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    const failure = wrong(state);
    if (failure !== '') return { states: visited.size, failure };
    for (const next of successors(model, state)) {
      const name = key(next);
      if (visited.has(name)) continue;
      visited.add(name);
      open.push(next);
    }
  }
  return { states: visited.size, failure: '' };
}

const blocking: Model = { owner: 'blocking', senders: 2, messages: 3, events: 0, mutation: 'none' };
const reactive: Model = { owner: 'reactive', senders: 2, messages: 2, events: 3, mutation: 'none' };

for (const model of [blocking, reactive, { ...blocking, senders: 1, messages: 5 }, { ...reactive, senders: 1, messages: 4 }]) {
  test(`doorbell: no order of steps sleeps on mail: ${model.owner}, ${model.senders} senders, ${model.messages} messages each`, (t) => {
    const found = explore(model);
    t.log(`${found.states} states`);
    t.is(found.failure, '');
    t.true(found.states > 200);
  });
}

const stall = /the owner sleeps, and nobody will ring/;
const mistakes: [Mutation, Model['owner'][], RegExp][] = [
  ['sender clears PARKED after ringing', ['blocking', 'reactive'], stall],
  ['sender clears PARKED and rings without counting', ['blocking'], stall],
  ['sender notifies without counting', ['blocking'], stall],
  ['sender reads PARKED before publishing', ['blocking', 'reactive'], stall],
  ['owner does not look again', ['blocking', 'reactive'], stall],
  ['owner loads SIGNAL after looking', ['blocking'], stall],
  ['owner parks after looking', ['blocking'], stall],
  ['owner leaves PARKED alone while a wait is armed', ['reactive'], stall],
  ['owner arms a second wait', ['reactive'], /two waits/],
];

for (const [mutation, owners, failure] of mistakes) {
  for (const owner of owners) {
    test(`doorbell: the explorer finds a mistake: ${owner}, ${mutation}`, (t) => {
      t.regex(explore({ ...(owner === 'blocking' ? blocking : reactive), mutation }).failure, failure);
    });
  }
}
