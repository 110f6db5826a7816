// Whole golden stores, unpacked into a folder of their own, with the sizes they were made with.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import type { RecoverySettings } from '../../src/store/recovery.ts';

export const goldenSizes = {
  mappedFileSizeCommitLog: 65_536,
  mappedFileSizeConsumeQueue: 1_000,
  maxHashSlotNum: 100,
  maxIndexNum: 400,
} as const;

export function settingsOf(root: string, sizes: Partial<RecoverySettings> = {}): RecoverySettings {
  return {
    storePathRootDir: root,
    storePathCommitLog: `${root}/commitlog`,
    storePathConsumeQueue: `${root}/consumequeue`,
    mappedFileSizeCommitLog: goldenSizes.mappedFileSizeCommitLog,
    mappedFileSizeConsumeQueue: goldenSizes.mappedFileSizeConsumeQueue,
    checkCRCOnRecover: true,
    ...sizes,
  };
}

/** The root folder of an unpacked copy, removed at the test's end. */
export function unpackGoldenStore(t: ExecutionContext, stores: string, name: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'ringmq-golden-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  execFileSync('tar', ['xzf', join(stores, `${name}.tar.gz`), '-C', folder, '--exclude', `${name}/timerwheel`]);
  return join(folder, name);
}
