// The key index: an entry for each key of a record, and the search for one.
import { Positions } from '../src/actors/context.ts';
import { CounterIds } from '../src/runtime/counters.ts';
import { MemoryFiles } from '../src/store/files/memory-files.ts';
import { IndexFiles } from '../src/store/index-files.ts';
import { type Cell, expect, timed, type Work } from './cell.ts';
import { propertiesText, uniqueKey } from './frames.ts';
import { Stage } from './stage.ts';

const SLOT_COUNT = 500_000;
const ENTRY_COUNT = 2_000_000;
const RECORD_SIZE = 1_200;
const BEGIN_MS = 1_764_500_000_000;
const KNOWN_COUNT = 4096;
/** Less than the feed holds. */
const FOLLOWED_COUNT = 30_000;
const FOLLOWED_COUNT_MIN = 256;

function opened(): IndexFiles {
  const files = new MemoryFiles();
  files.makeFolder('/store/index');
  return IndexFiles.open(files, '/store/index', SLOT_COUNT, ENTRY_COUNT);
}

/** Spreads numbers over all slots, each once. */
function hashOf(n: number): number {
  return Math.imul(n, 0x9e3779b1) & 0x7fffffff;
}

function inserting(): Work {
  const index = opened();
  let done = 0;
  return {
    pass: (count) => {
      for (let i = 0; i < count; i++, done++) index.insertHashed(hashOf(done), done * RECORD_SIZE + 1, BEGIN_MS + (done >> 8));
    },
    check: (count) => {
      expect('inserted', done, count);
      expect('newest position', index.newestPosition, (count - 1) * RECORD_SIZE + 1);
    },
  };
}

function searching(): Work {
  const index = opened();
  const keys = Array.from({ length: KNOWN_COUNT }, (_, n) => `topic#key-${n}`);
  for (const [n, key] of keys.entries()) index.insert(key, n * RECORD_SIZE + 1, BEGIN_MS + n);
  let found = 0;
  let next = 0;
  return {
    pass: (count) => {
      for (let i = 0; i < count; i++) {
        const positions = index.query(keys[next] as string, 32, BEGIN_MS, BEGIN_MS + KNOWN_COUNT);
        if (positions.includes(next * RECORD_SIZE + 1)) found++;
        next = (next + 1) % KNOWN_COUNT;
      }
    },
    check: (count) => expect('found', found, count),
  };
}

/** The whole indexer behind a commit log; only its own cycles count. */
function following(what: string, properties: string, keyCount: number): Cell {
  return {
    bench: 'key index',
    case: `follow, ${what}`,
    unit: 'ns',
    open: (scale) => {
      const stage = new Stage(true, 1024, undefined, properties);
      const indexer = stage.build('indexer');
      void indexer.start();
      const { positions } = stage.assembly;
      const count = Math.max(FOLLOWED_COUNT_MIN, Math.round(FOLLOWED_COUNT * scale));
      let followed = 0;
      const follow = (): number => {
        stage.append(count, FOLLOWED_COUNT_MIN);
        const beganMs = performance.now();
        while (positions.get(Positions.indexed) < stage.appendedPosition) indexer.doWork();
        const tookMs = performance.now() - beganMs;
        followed += count;
        expect('index entries', stage.assembly.countersOf('indexer').get(CounterIds.records), followed * keyCount);
        return (tookMs * 1e6) / count;
      };
      follow();
      return {
        measure: follow,
        close: () => {
          void indexer.stop();
          stage.close();
        },
      };
    },
  };
}

export function indexCells(): Cell[] {
  const withoutTag = propertiesText.replace(/TAGS\u0001[^\u0002]*\u0002/, '');
  return [
    timed('key index', 'insert', 200_000, inserting),
    timed('key index', 'query of one key', 50_000, searching),
    following('a unique key', withoutTag, 1),
    following('a unique key and a tag', propertiesText, 2),
    following('a unique key and two more', `${withoutTag}KEYS\u0001order-4711 customer-42\u0002`, 3),
    following('no key', withoutTag.replace(`UNIQ_KEY\u0001${uniqueKey}\u0002`, ''), 0),
  ];
}
