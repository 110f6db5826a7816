// Every state file against every damage: cut, zeroed, lengthened, lost, and a power cut or a full disk at any step of a save (BR-04).
import test from 'ava';
import type { Log } from '../../src/base/log.ts';
import { silentLog } from '../../src/base/log.ts';
import { SeededRandom } from '../../src/base/random.ts';
import { DelayOffsetsFile } from '../../src/store/delay-offsets-file.ts';
import type { Files } from '../../src/store/files/files.ts';
import { MemoryFiles } from '../../src/store/files/memory-files.ts';
import { GroupsFile } from '../../src/store/groups-file.ts';
import { JoinsFile } from '../../src/store/joins-file.ts';
import { LocksFile } from '../../src/store/locks-file.ts';
import { OffsetsFile } from '../../src/store/offsets-file.ts';
import { ResetsFile } from '../../src/store/resets-file.ts';
import { TopicsFile } from '../../src/store/topics-file.ts';
import { Killer } from '../faults/fault-points.ts';
import { type CutOrder, PowerCutDisk } from '../faults/power-cut-disk.ts';
import { Failure } from '../faults/rules.ts';
import { type OperationKind, WatchedFiles } from '../faults/watched-files.ts';
import { getFile, putFile } from './file-bytes.ts';

const dataVersion = { stateVersion: 0, timestamp: 7, counter: 1 };

/** A state that is told by one number. */
interface StateKind {
  readonly name: string;
  open(files: Files, log: Log): { save(number: number): void; load(): number | null };
}

const kinds: readonly StateKind[] = [
  {
    name: 'consumerOffset.json',
    open: (files, log) => {
      const file = new OffsetsFile(files, '/config', log);
      return {
        save: (number) => file.save({ dataVersion, rows: new Map([['T@g', new Map([[0, number]])]]) }),
        load: () => file.load()?.rows.get('T@g')?.get(0) ?? null,
      };
    },
  },
  {
    name: 'topics.json',
    open: (files, log) => {
      const file = new TopicsFile(files, '/config', log);
      return {
        save: (number) => file.save({ dataVersion, topics: new Map([['T', { topicName: 'T', readQueueNums: number }]]) }),
        load: () => (file.load()?.topics.get('T')?.['readQueueNums'] as number | undefined) ?? null,
      };
    },
  },
  {
    name: 'subscriptionGroup.json',
    open: (files, log) => {
      const file = new GroupsFile(files, '/config', log);
      return {
        save: (number) =>
          file.save({ dataVersion, groups: new Map([['g', { groupName: 'g', retryMaxTimes: number }]]), forbidden: new Map() }),
        load: () => (file.load()?.groups.get('g')?.['retryMaxTimes'] as number | undefined) ?? null,
      };
    },
  },
  {
    name: 'groupJoins.json',
    open: (files, log) => {
      const file = new JoinsFile(files, '/config', log);
      return {
        save: (number) => file.save(new Map([['T@g', { joinedAtMs: number, consumeFromWhere: 'X', ends: [1] }]])),
        load: () => file.load()?.get('T@g')?.joinedAtMs ?? null,
      };
    },
  },
  {
    name: 'offsetResets.json',
    open: (files, log) => {
      const file = new ResetsFile(files, '/config', log);
      return {
        save: (number) => file.save(new Map([['T@g', new Map([[3, number]])]])),
        load: () => file.load()?.get('T@g')?.get(3) ?? null,
      };
    },
  },
  {
    name: 'queueLocks.json',
    open: (files, log) => {
      const file = new LocksFile(files, '/config', log);
      return {
        save: (number) => file.save(new Map([['g', new Map([['c', new Map([['T', [number]]])]])]])),
        load: () => file.load()?.get('g')?.get('c')?.get('T')?.[0] ?? null,
      };
    },
  },
  {
    name: 'delayOffset.json',
    open: (files, log) => {
      const file = new DelayOffsetsFile(files, '/config', log);
      return {
        save: (number) => file.save({ dataVersion, offsets: new Map([[3, number]]), later: new Map() }),
        load: () => file.load()?.offsets.get(3) ?? null,
      };
    },
  },
];

function load(kind: StateKind, files: Files): { number: number | null; errors: string[] } {
  const errors: string[] = [];
  const log: Log = { ...silentLog, error: (message) => errors.push(message) };
  return { number: kind.open(files, log).load(), errors };
}

for (const kind of kinds) {
  const path = `/config/${kind.name}`;
  /** 1 in the backup, 2 in the file. */
  const twice = (): MemoryFiles => {
    const files = new MemoryFiles();
    const file = kind.open(files, silentLog);
    for (const number of [1, 2]) file.save(number);
    return files;
  };

  test(`state file: ${kind.name} cut at every length, zeroed or with an older end behind it gives way to its backup, and says so (BR-04)`, (t) => {
    const files = twice();
    const main = getFile(files, path);
    t.deepEqual(load(kind, files), { number: 2, errors: [] });
    const older = Buffer.concat([main, Buffer.from(`${'"old":[7],'.repeat(9)}"x":1}}`)]);
    const damaged = [...Array(main.length).keys()].map((size) => main.subarray(0, size));
    for (const bytes of [...damaged, new Uint8Array(main.length), older, Buffer.concat([main, main.subarray(-100)])]) {
      putFile(files, path, bytes);
      const { number, errors } = load(kind, files);
      t.is(number, 1, `${bytes.length} bytes`);
      t.is(errors.length, 1);
    }
  });

  test(`state file: ${kind.name} that is lost is read from its backup, and without one nothing is taken for empty (BR-04)`, (t) => {
    const files = twice();
    files.remove(path);
    const { number, errors } = load(kind, files);
    t.is(number, 1);
    t.is(errors.length, 1);
    putFile(files, `${path}.bak`, Buffer.from('{"x"'));
    t.throws(() => load(kind, files), { message: /cannot be read/ });
    putFile(files, path, Buffer.from('{}'));
    t.throws(() => load(kind, files), { message: /cannot be read/ });
  });

  test(`state file: ${kind.name} is never lost by a power cut, whatever the disk keeps (BR-04)`, (t) => {
    for (let seed = 1; seed <= 120; seed++) {
      const random = new SeededRandom(seed);
      const disk = new PowerCutDisk();
      disk.makeFolder('/config');
      disk.syncTree('/');
      let saved = 0;
      for (let life = 0; life < 3; life++) {
        const killer = new Killer(null, random.below(2) === 0 ? 'before' : 'after', 1 + random.below(25));
        const file = kind.open(new WatchedFiles(disk, killer), silentLog);
        let under = saved;
        try {
          const found = file.load();
          t.true((found ?? 0) >= saved && (found ?? 0) <= saved + 1, `seed ${seed}: ${found} after ${saved}`);
          saved = found ?? 0;
          for (under = saved + 1; under <= saved + 6; under++) {
            file.save(under);
            saved = under;
          }
        } catch (error) {
          if (!killer.ended) throw error;
        }
        const order: CutOrder = random.below(2) === 0 ? 'journal' : 'folders';
        if (random.below(4) === 0) disk.endProcess();
        else disk.cutPower(random, order);
        const { number } = load(kind, disk);
        t.true(
          (number ?? 0) === saved || (number ?? 0) === under,
          `seed ${seed} life ${life}: ${number}, saved ${saved}, under way ${under}`,
        );
        saved = number ?? 0;
      }
    }
  });

  test(`state file: ${kind.name} as a killed process left it, and as a start has found it, stays through a power cut (BR-04)`, (t) => {
    for (let step = 1; step <= 8; step++) {
      for (let seed = 1; seed <= 30; seed++) {
        const disk = new PowerCutDisk();
        disk.makeFolder('/config');
        disk.syncTree('/');
        kind.open(disk, silentLog).save(1);
        const killer = new Killer(null, 'after', step);
        try {
          kind.open(new WatchedFiles(disk, killer), silentLog).save(2);
        } catch (error) {
          if (!killer.ended) throw error;
        }
        disk.endProcess();
        const { number } = load(kind, disk);
        disk.cutPower(new SeededRandom(seed), seed % 2 === 0 ? 'journal' : 'folders');
        t.is(load(kind, disk).number, number, `step ${step}, seed ${seed}`);
      }
    }
  });

  test(`state file: ${kind.name} survives a full or failing disk at any step of a save, and the next save goes through (BR-04)`, (t) => {
    const steps: OperationKind[] = ['make', 'truncate', 'write', 'sync', 'rename', 'syncFolder'];
    for (const step of steps) {
      for (const first of [1, 2]) {
        const files = new WatchedFiles(twice());
        const failure = files.watch(new Failure({ kinds: [step] }, { code: 'ENOSPC', first, tornSizeBytes: 7 }));
        const file = kind.open(files, silentLog);
        failure.isOn = false;
        t.is(file.load(), 2);
        failure.isOn = true;
        let failed = false;
        try {
          file.save(3);
        } catch {
          failed = true;
        }
        failure.isOn = false;
        t.is(failed, failure.seenCount >= first, step);
        const { number } = load(kind, files);
        t.true(number === 2 || number === 3, `${step} ${first}: ${number}`);
        file.save(4);
        t.deepEqual(load(kind, files), { number: 4, errors: [] });
      }
    }
  });
}
