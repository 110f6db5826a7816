// Members of groups against a slow model that recomputes everything.

import test from 'ava';
import fc from 'fast-check';
import { type ConsumerBeat, ConsumerGroups } from '../../src/core/consumer-groups.ts';
import { compareVersions, type Subscription } from '../../src/core/subscription.ts';

const sub = (topic: string, expression: string, version: number): Subscription => ({
  topic,
  expression,
  type: 'TAG',
  tags: [],
  codes: [],
  version: String(version),
  classFilter: false,
});

function beat(
  link: number,
  clientId: string,
  subscriptions: readonly Subscription[] | null,
  more: Partial<ConsumerBeat> = {},
): ConsumerBeat {
  return {
    link,
    group: 'G',
    clientId,
    language: 'JAVA',
    version: 1,
    lastSeenMs: 0,
    consumeType: 'CONSUME_PASSIVELY',
    messageModel: 'CLUSTERING',
    consumeFromWhere: 'CONSUME_FROM_LAST_OFFSET',
    subscriptions,
    fingerprint: 0,
    ...more,
  };
}

test('consumer groups: what a beat changed', (t) => {
  const groups = new ConsumerGroups();
  const first = groups.beat(beat(1, 'a', [sub('T', '*', 1)]));
  t.like(first, { told: true, directory: true, mismatch: null });
  t.like(groups.beat(beat(1, 'a', [sub('T', '*', 1)])), { told: false, directory: false });
  t.like(groups.beat(beat(1, 'a', null)), { told: false, directory: false });
  t.like(groups.beat(beat(2, 'b', [sub('T', '*', 1)])), { told: true, directory: false, mismatch: null });
  t.like(groups.beat(beat(2, 'b', [sub('T', '*', 2)])), { told: false, directory: true }, 'a version alone is for ingress only');
  t.like(groups.beat(beat(2, 'b', [sub('T', 'X', 3)])), { told: true, directory: true, mismatch: { own: 'T[TAG X]', other: 'T[TAG *]' } });
  t.like(groups.beat(beat(3, 'c', [sub('T', 'Y', 4)])), { mismatch: null }, 'told already');
  t.like(groups.beat(beat(3, 'c', [sub('T', 'Y', 4)], { messageModel: 'BROADCASTING' })), { directory: true });
});

test('consumer groups: the last one out takes the group along', (t) => {
  const groups = new ConsumerGroups();
  groups.beat(beat(1, 'a', []));
  t.is(groups.leave('G', 2), null);
  t.like(groups.leave('G', 1), { told: false, directory: true });
  t.is(groups.leave('G', 1), null);
  t.deepEqual([groups.size, groups.linkCount], [0, 0]);
});

test('consumer groups: a client that changes its id on one connection is one member', (t) => {
  const groups = new ConsumerGroups();
  groups.beat(beat(1, 'a', []));
  t.true(groups.beat(beat(1, 'z', [])).told);
  t.deepEqual(
    [...(groups.get('G')?.members.values() ?? [])].map((member) => member.clientId),
    ['z'],
  );
  t.like(groups.beat(beat(2, 'a', [])), { replacedLink: -1, refused: false });
});

type Step = { link: number; client: number; topics: number[]; version: number; leave: boolean };

test('consumer groups: all members together have a limited size, and those that are there may go on', (t) => {
  const groups = new ConsumerGroups(20_000);
  const large = (link: number, size: number): ConsumerBeat => beat(link, `c${link}`, [sub('T', 'x'.repeat(size), 1)]);
  t.is(groups.sizeBytes, 0);
  for (const link of [1, 2]) {
    t.true(groups.hasRoom(large(link, 4_000)));
    groups.beat(large(link, 4_000));
  }
  t.false(groups.hasRoom(large(3, 4_000)));
  t.true(groups.hasRoom(large(1, 4_000)), 'as it was before');
  t.true(groups.hasRoom(beat(3, 'c3', null)));
  t.false(groups.hasRoom(large(1, 9_000)));
  groups.leave('G', 2);
  t.true(groups.hasRoom(large(3, 4_000)));
  groups.beat(beat(1, 'c1', [sub('T', '*', 2)]));
  t.true(groups.sizeBytes < 1_000);
  groups.leave('G', 1);
  t.is(groups.sizeBytes, 0);
});

test('consumer groups: members and merged subscriptions are those of a model that recomputes them', (t) => {
  const step: fc.Arbitrary<Step> = fc.record({
    link: fc.integer({ min: 1, max: 5 }),
    client: fc.integer({ min: 1, max: 3 }),
    topics: fc.uniqueArray(fc.integer({ min: 0, max: 3 })),
    version: fc.integer({ min: 0, max: 3 }),
    leave: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const groups = new ConsumerGroups();
      const model = new Map<number, { clientId: string; subs: Subscription[] }>();
      for (const s of steps) {
        const clientId = `c${s.client}`;
        if (s.leave) {
          groups.leave('G', s.link);
          model.delete(s.link);
        } else {
          const subs = s.topics.map((topic) => sub(`T${topic}`, `tag${s.version}`, s.version));
          groups.beat(beat(s.link, clientId, subs));
          const rival = [...model].find(([, member]) => member.clientId === clientId);
          if (rival === undefined || rival[0] <= s.link) {
            if (rival !== undefined) model.delete(rival[0]);
            model.set(s.link, { clientId, subs });
          }
        }
        if (!agrees(groups, model)) return false;
      }
      for (const link of [1, 2, 3, 4, 5]) groups.leave('G', link);
      return groups.size === 0 && groups.linkCount === 0;
    }),
    { numRuns: 300 },
  );
  t.pass();
});

function agrees(groups: ConsumerGroups, model: ReadonlyMap<number, { clientId: string; subs: Subscription[] }>): boolean {
  const live = groups.get('G');
  if (live === undefined) return model.size === 0;
  const links = [...live.members.keys()].sort();
  if (JSON.stringify(links) !== JSON.stringify([...model.keys()].sort())) return false;
  const best = new Map<string, string>();
  for (const { subs } of model.values()) {
    for (const s of subs)
      if (!best.has(s.topic) || compareVersions(s.version, best.get(s.topic) as string) > 0) best.set(s.topic, s.version);
  }
  const merged = [...live.merged.values()].map((s) => `${s.topic} ${s.version}`).sort();
  return JSON.stringify(merged) === JSON.stringify([...best].map(([topic, version]) => `${topic} ${version}`).sort());
}
