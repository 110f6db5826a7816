// What runs: the fast choice of CI, and the whole of what is due, as parts of the kit.
import { due } from './scenarios.mjs';

const java = (version, dialect, only) => ({ name: `Java ${version} ${dialect}`, client: 'java', version, dialect, only });
const go = () => ({ name: 'Go', client: 'go', only: due('go') });
const node = () => ({ name: 'Node', client: 'node', only: due('node') });

/** One variant in full, of the others what depends on the dialect or the version: headers, routes, properties, records. */
export const fast = [
  java('5.5.0', 'JSON', due('java')),
  java('5.5.0', 'ROCKETMQ', '^(send|content|offset): |^push: (1,000|two groups|committed)|^pull status: |^route: a created'),
  java('4.9.8', 'JSON', '^(send|refuse): |^push: 1,000|^pull: (a subscribed|assigned|a held)|^route: (a created|a first)'),
  java('4.9.8', 'ROCKETMQ', '^(send|content): |^push: 1,000|^route: a created'),
  go(),
  node(),
];

export const all = [
  java('5.5.0', 'JSON', due('java', true)),
  java('5.5.0', 'ROCKETMQ', due('java', true)),
  java('4.9.8', 'JSON', due('java', true)),
  java('4.9.8', 'ROCKETMQ', due('java', true)),
  go(),
  node(),
];

const kept = '^restart(-|: )(messages|producer and consumer|a group goes on|offsets)';

/** The restarts once more, the broker killed with -9 instead of stopped: what was acknowledged is there, and groups go on where they were. */
export const killed = [
  { ...java('5.5.0', 'JSON', kept), name: 'Java 5.5.0 JSON, killed' },
  { ...go(), name: 'Go, killed', only: kept },
  { ...node(), name: 'Node, killed', only: kept },
];

/** Through Apache's own name server a few are enough: clients find the broker, or they do not. */
export const throughApache = java('5.5.0', 'JSON', '^send: sync|^push: 1,000|^route: a created');

/** What a client sees of newGroupOffset=apache: a new group reads a young topic from its start, whatever it asked for. */
export const apacheRule = {
  settings: { newGroupOffset: 'apache' },
  parts: [
    { ...node(), name: 'Node, newGroupOffset=apache', only: '^from-last-young-topic$' },
    { ...go(), name: 'Go, newGroupOffset=apache', only: '^from-last-young-topic$' },
    java('5.5.0', 'JSON', '^offset: a group that never committed|^push: from the last'),
  ],
};
