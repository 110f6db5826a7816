// Held pulls against a plain list: whatever happens in whatever order, the same pulls come out, and nothing stays behind.
import test from 'ava';
import fc from 'fast-check';
import { type HeldPull, HeldPulls } from '../../src/core/held-pulls.ts';

let lastToken = 0;

function pull(changes: Partial<HeldPull> = {}): HeldPull {
  const plain = { ingress: 0, connectionId: 1, queueKey: 1, offset: 0, maxCount: 32, codes: null, dueMs: 100, ready: false, heapAt: -1 };
  return { token: ++lastToken, ...plain, ...changes };
}

/** The same as a list that is searched from end to end. */
class ListModel {
  all: HeldPull[] = [];

  take(which: (pull: HeldPull) => boolean): number[] {
    const taken = this.all.filter(which);
    this.all = this.all.filter((held) => !which(held));
    return tokens(taken);
  }
}

function tokens(pulls: readonly HeldPull[]): number[] {
  return pulls.map(({ token }) => token).sort((a, b) => a - b);
}

const COUNT_MAX = 12;
const small = fc.nat(3);
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('add' as const),
      ingress: fc.nat(1),
      connectionId: small,
      queueKey: small,
      dueMs: fc.nat(50),
      codes: fc.option(fc.array(small, { maxLength: 2 })),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('arrive' as const), queueKey: small, code: small }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('due' as const), ms: fc.nat(10) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), ingress: fc.nat(1), connectionId: small }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), queueKey: small }) },
);

test('held pulls: any order of events takes the same pulls out as a plain list does', (t) => {
  const run = (steps: (typeof step extends fc.Arbitrary<infer S> ? S : never)[]): void => {
    const held = new HeldPulls(COUNT_MAX);
    const model = new ListModel();
    let nowMs = 0;
    for (const s of steps) {
      switch (s.kind) {
        case 'add': {
          const { ingress, connectionId, queueKey, codes } = s;
          const one = pull({ ingress, connectionId, queueKey, codes, dueMs: nowMs + s.dueMs });
          const room = model.all.length < COUNT_MAX;
          t.is(held.tryAdd(one), room);
          if (room) model.all.push(one);
          break;
        }
        case 'arrive': {
          const takes = (one: HeldPull): boolean => one.queueKey === s.queueKey && (one.codes === null || one.codes.includes(s.code));
          const expected = model.all.some(takes);
          t.is(held.arrived(s.queueKey, s.code), expected);
          t.deepEqual(tokens(held.takeReady(s.queueKey)), model.take(takes));
          break;
        }
        case 'due': {
          nowMs += s.ms;
          const out: HeldPull[] = [];
          for (let one = held.takeDue(nowMs); one !== undefined; one = held.takeDue(nowMs)) out.push(one);
          t.deepEqual(
            out.map((one) => one.dueMs),
            out.map((one) => one.dueMs).sort((a, b) => a - b),
          );
          t.deepEqual(
            tokens(out),
            model.take((one) => one.dueMs <= nowMs),
          );
          break;
        }
        case 'cancel': {
          const gone = model.take((one) => one.ingress === s.ingress && one.connectionId === s.connectionId);
          t.is(held.cancelConnection(s.ingress, s.connectionId), gone.length);
          break;
        }
        case 'remove':
          t.deepEqual(
            tokens(held.takeQueue(s.queueKey)),
            model.take((one) => one.queueKey === s.queueKey),
          );
          break;
      }
      t.is(held.count, model.all.length);
      t.is(held.nextDueMs(), Math.min(...model.all.map((one) => one.dueMs), Number.POSITIVE_INFINITY));
    }
    t.deepEqual(tokens(held.takeAll()), tokens(model.all));
    t.is(held.count, 0);
  };
  fc.assert(fc.property(fc.array(step, { maxLength: 60 }), run), { numRuns: 300 });
  t.pass();
});

test('held pulls: a message makes ready those that take its tag, once, until they are taken', (t) => {
  const held = new HeldPulls(10);
  held.tryAdd(pull({ codes: [7] }));
  t.false(held.arrived(1, 8));
  t.false(held.arrived(2, 7));
  t.true(held.arrived(1, 7));
  t.false(held.arrived(1, 7), 'it is ready already');
  t.is(held.takeReady(1).length, 1);
  t.deepEqual(held.takeReady(1), []);
});

test('held pulls: of equal connection numbers only those of the same ingress are cancelled', (t) => {
  const held = new HeldPulls(10);
  held.tryAdd(pull({ ingress: 0, connectionId: 5 }));
  held.tryAdd(pull({ ingress: 1, connectionId: 5 }));
  t.is(held.cancelConnection(0, 5), 1);
  t.is(held.cancelConnection(0, 5), 0);
  t.deepEqual(
    held.takeAll().map((one) => one.ingress),
    [1],
  );
});

test('held pulls: those of the scheduler are held whatever clients hold, and do not count as theirs', (t) => {
  const held = new HeldPulls(1, 2);
  t.true(held.tryAdd(pull({ ingress: 2, connectionId: 0 })));
  t.true(held.tryAdd(pull({ ingress: 1 })));
  t.false(held.tryAdd(pull({ ingress: 0 })));
  t.true(held.tryAdd(pull({ ingress: 2, connectionId: 0 })));
  t.deepEqual([held.count, held.clientCount], [3, 1]);
  held.cancelConnection(1, 1);
  t.deepEqual([held.count, held.clientCount], [2, 0]);
  t.true(held.tryAdd(pull({ ingress: 0 })));
});
