// Members, ingress and coordinator around one queue, in random order: no commit from before a reset undoes it, and all go on at last.
import test from 'ava';
import { SeededRandom } from '../../src/base/random.ts';
import { OffsetResets } from '../../src/core/offset-resets.ts';
import { ResetTellings } from '../../src/core/reset-tellings.ts';

type Frame = { readonly kind: 'pull' | 'commit'; readonly offset: number; readonly basis: number };

/** A connection of a member: its frames and its answers keep their order. */
class Member {
  readonly id: number;
  readonly frames: Frame[] = [];
  readonly answers: { readonly moved: number | null; readonly basis: number }[] = [];
  /** Where it reads, and the newest reset that this comes after. */
  position: number;
  basis: number;
  pulls = false;

  constructor(id: number, position: number, basis: number) {
    this.id = id;
    this.position = position;
    this.basis = basis;
  }
}

const END = 1000;

class Model {
  readonly random: SeededRandom;
  readonly resets = new OffsetResets(10);
  readonly tellings = new ResetTellings();
  member: Member;
  /** Members that lost the queue, with frames that are still on their way. */
  readonly former: Member[] = [];
  committed = 0;
  newest = 0;
  resetCount = 0;
  fault = '';
  #nextId = 2;

  constructor(seed: number) {
    this.random = new SeededRandom(seed);
    this.member = new Member(1, 0, 0);
  }

  step(): void {
    const choice = this.random.below(20);
    if (choice === 0) this.#reset();
    else if (choice === 1) this.#handOver();
    else if (choice < 6) this.#send();
    else if (choice < 9) this.#answer();
    else this.#receive();
  }

  #reset(): void {
    const offset = this.random.below(END);
    this.newest = this.resets.reset({ group: 'G', topic: 'T', queueId: 0, offset, kind: 'pull', offline: false }, 0).epoch;
    this.committed = offset;
    this.resetCount++;
  }

  /** The queue goes to a member that begins at the committed offset; the one before closes or stays for something else. */
  #handOver(): void {
    const { member } = this;
    this.former.push(member);
    if (this.random.below(2) === 0) {
      // What it sent before it closed still arrives first.
      while (member.frames.length > 0) this.#take(member);
      this.tellings.forget(member.id);
      this.resets.linkClosed(member.id);
    }
    this.member = new Member(this.#nextId++, this.committed, this.newest);
  }

  /** It pulls, or a timer commits where it stands. */
  #send(): void {
    const { member, random } = this;
    if (!member.pulls && random.below(2) === 0) {
      member.pulls = true;
      member.frames.push({ kind: 'pull', offset: member.position, basis: member.basis });
    } else member.frames.push({ kind: 'commit', offset: member.position, basis: member.basis });
  }

  #answer(): void {
    const { member } = this;
    const answer = member.answers.shift();
    if (answer === undefined) return;
    member.pulls = false;
    if (answer.moved === null) member.position++;
    else {
      member.position = answer.moved;
      member.basis = answer.basis;
    }
  }

  #receive(): void {
    const all = [this.member, ...this.former].filter(({ frames }) => frames.length > 0);
    const member = all[this.random.below(all.length)];
    if (member !== undefined) this.#take(member);
  }

  #take(member: Member): void {
    const frame = member.frames.shift();
    if (frame === undefined) return;
    if (frame.kind === 'commit') {
      if (!this.resets.mayCommit('G', 'T', 0, frame.offset, member.id, 0)) return;
      const [reset] = this.resets.ofGroup('G');
      // Where both stand at one place there is nothing to undo.
      if (frame.basis < this.newest && frame.offset !== reset?.offset)
        this.fault = `a commit of ${frame.offset} from before reset ${this.newest} counts`;
      this.committed = frame.offset;
      return;
    }
    const [reset] = this.resets.ofGroup('G');
    if (reset === undefined) {
      member.answers.push({ moved: null, basis: 0 });
      return;
    }
    const fate = this.tellings.judge(reset, member.id, frame.offset);
    if (fate === 'tell') {
      this.resets.told(reset.epoch, member.id);
      member.answers.push({ moved: reset.offset, basis: reset.epoch });
    } else {
      if (fate === 'know') this.resets.knows(reset.epoch, member.id, 0);
      member.answers.push({ moved: null, basis: 0 });
    }
  }
}

test('offset resets: 2000 seeds of pulls, timers, hand-overs and closings: no late commit undoes a reset (BR-08)', (t) => {
  let resetCount = 0;
  for (let seed = 1; seed <= 2000; seed++) {
    const model = new Model(seed);
    for (let i = 0; i < 400 && model.fault === ''; i++) model.step();
    t.is(model.fault, '', `seed ${seed}`);
    resetCount += model.resetCount;
  }
  t.true(resetCount > 10_000);
});
