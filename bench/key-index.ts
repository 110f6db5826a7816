// The key index: an entry for each key of a record, and the search for one.
import { MemoryFiles } from '../src/store/files/memory-files.ts';
import { IndexFiles } from '../src/store/index-files.ts';
import { type Cell, expect, timed, type Work } from './cell.ts';

const SLOT_COUNT = 500_000;
const ENTRY_COUNT = 2_000_000;
const RECORD_SIZE = 1_200;
const BEGIN_MS = 1_764_500_000_000;
const KNOWN_COUNT = 4096;

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

export function indexCells(): Cell[] {
  return [timed('key index', 'insert', 200_000, inserting), timed('key index', 'query of one key', 50_000, searching)];
}
