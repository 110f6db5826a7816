// Resets of offsets: whose commits count while not everybody knows.
import test from 'ava';
import { OffsetResets, RESET_GUARD_MS, type ResetKind } from '../../src/core/offset-resets.ts';
import { ResetTellings } from '../../src/core/reset-tellings.ts';

function withReset(kind: ResetKind = 'pull', offline = false): { resets: OffsetResets; epoch: number } {
  const resets = new OffsetResets(10);
  const { epoch } = resets.reset({ group: 'G', topic: 'T', queueId: 0, offset: 2000, kind, offline }, 0);
  return { resets, epoch };
}

const may = (resets: OffsetResets, offset: number, link: number, now = 0): boolean => resets.mayCommit('G', 'T', 0, offset, link, now);

test('offset resets: a connection commits again once it has pulled after it was told, not before (BR-08)', (t) => {
  const { resets, epoch } = withReset();
  t.false(may(resets, 10_001, 1), 'nobody knows');
  t.true(resets.mayCommit('G', 'T', 1, 10_001, 1, 0), 'another queue');
  t.true(resets.mayCommit('H', 'T', 0, 10_001, 1, 0), 'another group');
  resets.told(epoch, 1);
  t.false(may(resets, 10_001, 1), 'what it sent before it was told may arrive only now');
  resets.knows(epoch, 1, 0);
  t.true(may(resets, 2001, 1));
  t.false(may(resets, 10_001, 2), 'another member from before the reset');
  t.false(may(resets, 10_001, -1), 'a connection that is gone');
  t.false(may(resets, 10_001, 2, RESET_GUARD_MS - 1));
  resets.expire(RESET_GUARD_MS);
  t.is(resets.size, 0);
  t.true(may(resets, 10_001, 2));
});

test('offset resets: who commits the offset that it was moved to knows', (t) => {
  const { resets, epoch } = withReset();
  t.false(may(resets, 2000, 1), 'not told yet: a coincidence');
  resets.told(epoch, 1);
  t.true(may(resets, 2000, 1));
  t.true(may(resets, 2050, 1));
});

test('offset resets: where the told connection closes before it showed that it knows, the next one is told', (t) => {
  const { resets, epoch } = withReset();
  resets.takeChanged();
  resets.told(epoch, 1);
  t.is(resets.ofGroup('G')[0]?.state, 'told');
  resets.linkClosed(1);
  t.is(resets.ofGroup('G')[0]?.state, 'open');
  t.deepEqual(resets.takeChanged(), ['G']);
  resets.told(epoch, 2);
  resets.knows(epoch, 2, 5);
  resets.linkClosed(2);
  t.is(resets.ofGroup('G')[0]?.state, 'known', 'it has gone on from there');
});

test('offset resets: the newest one of a queue counts; answers to those before change nothing', (t) => {
  const { resets, epoch } = withReset();
  const second = resets.reset({ group: 'G', topic: 'T', queueId: 0, offset: 5, kind: 'pull', offline: false }, 0);
  t.true(second.epoch > epoch);
  resets.told(epoch, 1);
  resets.knows(epoch, 1, 0);
  t.false(may(resets, 2001, 1));
  t.is(resets.size, 1);
});

test('offset resets: what a restart must know is all that nobody knows', (t) => {
  const { resets, epoch } = withReset();
  resets.reset({ group: 'G', topic: 'T', queueId: 1, offset: 7, kind: 'client', offline: false }, 0);
  t.deepEqual(resets.stored(), [{ group: 'G', topic: 'T', queueId: 0, offset: 2000 }]);
  resets.told(epoch, 1);
  t.is(resets.stored().length, 1, 'the answer may not have arrived');
  resets.markSaved();
  resets.knows(epoch, 1, 0);
  t.true(resets.dirty);
  t.deepEqual(resets.stored(), []);
  const next = new OffsetResets(10);
  next.load([{ group: 'G', topic: 'T', queueId: 0, offset: 2000 }]);
  t.false(next.dirty);
  t.false(may(next, 10_001, 1));
  t.is(next.nextMs(), Number.POSITIVE_INFINITY, 'it waits for its group as long as that takes');
});

test('offset resets: members that were asked to move commit from the new offset on; after a while anything counts', (t) => {
  const { resets } = withReset('client');
  t.false(may(resets, 10_001, 1));
  t.true(may(resets, 2000, 1));
  t.true(may(resets, 2001, 1));
  t.false(may(resets, 10_001, 2));
  resets.expire(RESET_GUARD_MS);
  t.true(may(resets, 10_001, 2));
});

test('offset resets: they go with their topic and group, and stay within their limit (BR-12)', (t) => {
  const { resets } = withReset();
  t.true(resets.hasRoom(9));
  t.false(resets.hasRoom(10));
  resets.dropTopic('T');
  t.is(resets.size, 0);
  t.true(may(resets, 1, 1));
  resets.reset({ group: 'G', topic: 'T', queueId: 0, offset: 1, kind: 'pull', offline: false }, 0);
  resets.dropGroup('G');
  t.is(resets.size, 0);
});

const open = { epoch: 1, offset: 2000, kind: 'pull', state: 'open', offline: false } as const;

test('reset tellings: the first pull of each connection is moved, the next one shows that it knows', (t) => {
  const tellings = new ResetTellings();
  t.is(tellings.judge(open, 1, 10_000), 'tell');
  t.is(tellings.judge({ ...open, state: 'told' }, 1, 2000), 'know');
  t.is(tellings.judge({ ...open, state: 'known' }, 1, 2032), 'serve');
  t.is(tellings.judge({ ...open, state: 'told' }, 2, 10_000), 'tell', 'another one that was under way');
  t.is(tellings.judge({ ...open, state: 'known' }, 3, 2500), 'serve', 'a later one starts from what was committed since');
  t.is(tellings.judge({ ...open, state: 'known' }, 3, 2532), 'know', 'if it goes on');
});

test('reset tellings: standing at the new offset is knowledge only where nobody could have been there before', (t) => {
  const tellings = new ResetTellings();
  t.is(tellings.judge(open, 1, 2000), 'tell', 'what it has in hand lies before');
  t.is(tellings.judge({ ...open, epoch: 2, offline: true }, 1, 2000), 'know');
  t.is(tellings.judge({ ...open, epoch: 3, offline: true }, 1, 2001), 'tell');
  t.is(tellings.judge({ ...open, epoch: 4, kind: 'client' }, 1, 10_000), 'serve', 'it was asked to move by a request');
  t.is(tellings.judge({ ...open, epoch: 4, kind: 'client' }, 1, 2000), 'know');
});

test('reset tellings: a pull that waited is moved and shows nothing; what is over is forgotten', (t) => {
  const tellings = new ResetTellings();
  tellings.tell(1, 1);
  t.is(tellings.judge(open, 1, 2000), 'know');
  tellings.tell(1, 2);
  tellings.forget(2);
  t.is(tellings.judge(open, 2, 10_000), 'tell');
  tellings.keep(() => false);
  t.is(tellings.size, 0);
});
