// When sends are refused before they are looked at: full disks, a slow log, and too many that wait.
import test from 'ava';
import { type ActorContext, Positions } from '../../../src/actors/context.ts';
import { PendingSends } from '../../../src/actors/ingress/pending-sends.ts';
import { SendGate } from '../../../src/actors/ingress/send-gate.ts';
import { FakeClock } from '../../../src/base/clock.ts';
import { loadSettings } from '../../../src/config/load.ts';
import { packDiskState } from '../../../src/core/retention.ts';
import { ResponseCodes } from '../../../src/protocol/codes.ts';
import { SharedNumbers, sharedNumbersMemorySize } from '../../../src/runtime/shared-numbers.ts';

class Rig {
  readonly clock = new FakeClock();
  readonly positions = new SharedNumbers(new SharedArrayBuffer(sharedNumbersMemorySize(32)));
  readonly pending = new PendingSends(1024, 0);
  readonly gate: SendGate;
  #nextAck = 0;

  constructor(sets: readonly string[] = []) {
    const { settings } = loadSettings({ sets });
    this.gate = new SendGate({ settings, clock: this.clock, positions: this.positions } as unknown as ActorContext, this.pending);
  }

  send(count: number): this {
    for (let i = 0; i < count; i++) this.pending.push();
    return this;
  }

  ack(count: number): this {
    for (let i = 0; i < count; i++) this.pending.takeAcked(this.#nextAck++);
    return this;
  }

  /** Looks every `everyMs`, and says what it came to. */
  pass(ms: number, everyMs = 10): string {
    for (let passed = 0; passed < ms; passed += everyMs) {
      this.clock.advance(everyMs);
      this.gate.look(this.clock.steadyMs());
    }
    const { refusal } = this.gate;
    return refusal === null ? 'open' : `${refusal.code} ${/^\[\w+\]/.exec(refusal.remark)?.[0] ?? refusal.remark}`;
  }
}

test('send gate: sends that wait 200 ms for the log make it busy for those that come after, until they are acknowledged', (t) => {
  const rig = new Rig();
  t.is(rig.pass(50), 'open');
  rig.send(3);
  t.is(rig.pass(200), 'open');
  t.is(rig.pass(20), '2 [TIMEOUT_CLEAN_QUEUE]');
  t.regex(rig.gate.refusal?.remark ?? '', /period in queue: 2\d\dms, size of queue: 3, allowed=200ms \(waitTimeMillsInSendQueue\)/);
  rig.ack(3);
  t.is(rig.pass(10), 'open');
});

test('send gate: a log that keeps up is not busy, however many sends are under way', (t) => {
  const rig = new Rig().send(30);
  for (let i = 0; i < 200; i++) {
    rig.send(3).ack(3);
    t.is(rig.pass(10), 'open');
  }
  const slow = new Rig().send(500);
  let seen = '';
  for (let i = 0; i < 100 && seen !== '2 [TIMEOUT_CLEAN_QUEUE]'; i++) {
    slow.send(1).ack(1);
    seen = slow.pass(10);
  }
  t.is(seen, '2 [TIMEOUT_CLEAN_QUEUE]', 'one that moves, but too slowly');
});

test('send gate: an append that takes a second is told as a busy page cache', (t) => {
  const rig = new Rig(['brokerFastFailureEnable=false']).send(1);
  t.is(rig.pass(990), 'open');
  t.is(rig.pass(20), '2 [PC_SYNCHRONIZED]');
  t.is(rig.ack(1).pass(10), 'open');
});

test('send gate: more than may wait is told as overload, but not what one round of reading brings', (t) => {
  const rig = new Rig(['sendThreadPoolQueueCapacity=100', 'brokerFastFailureEnable=false']).send(150);
  t.is(rig.pass(10), 'open');
  t.is(rig.ack(100).pass(10), 'open');
  rig.send(60);
  t.is(rig.pass(30), '2 [OVERLOAD]');
  t.is(rig.ack(20).pass(10), 'open');
});

test('send gate: a pause of its own thread is not taken for one of the log', (t) => {
  const rig = new Rig().send(1);
  rig.pass(20);
  rig.clock.advance(5_000);
  t.is(rig.pass(10), 'open');
});

test('send gate: it asks for its looks only while sends are under way', (t) => {
  const rig = new Rig();
  rig.pass(10);
  t.is(rig.gate.deadlineMs(), Number.POSITIVE_INFINITY);
  rig.send(1);
  t.true(rig.gate.deadlineMs() <= rig.clock.steadyMs() + 50);
});

test('send gate: full disks refuse with their reasons, and a broker that is not to serve yet does not', (t) => {
  const rig = new Rig();
  rig.positions.set(Positions.diskState, packDiskState({ refuses: 1, logPercent: 91, queuePercent: 20 }));
  rig.pass(10);
  t.is(rig.gate.refusal?.code, ResponseCodes.SERVICE_NOT_AVAILABLE);
  t.regex(rig.gate.refusal?.remark ?? '', /used=91% allowed=90%/);
  rig.positions.set(Positions.diskState, packDiskState({ refuses: 0, logPercent: 89, queuePercent: 20 }));
  t.is(rig.pass(10), 'open');
  const early = new Rig([`startAcceptSendRequestTimeStamp=${rig.clock.wallMs() + 1_000}`]);
  t.regex(early.pass(10), /^1 broker unable to service, until 20/);
  t.is(early.pass(2_000), 'open');
});
