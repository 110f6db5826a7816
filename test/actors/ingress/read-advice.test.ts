// Which broker readers are advised to ask.
import test from 'ava';
import { ReadAdvice } from '../../../src/actors/ingress/read-advice.ts';
import type { DirectoryGroup } from '../../../src/actors/messages.ts';
import { loadSettings } from '../../../src/config/load.ts';

const group: DirectoryGroup = {
  consumeEnable: true,
  consumeBroadcastEnable: true,
  sysFlag: 0,
  retryMaxTimes: 16,
  retryQueueCount: 1,
  brokerId: 2,
  slowBrokerId: 3,
  forbiddenTopics: [],
  lockedTopics: [],
  live: null,
  resets: null,
};

test('read advice: the master, unless slaves are read; then what the group says for near and far readers', (t) => {
  const of = (sets: readonly string[]): ReadAdvice => new ReadAdvice(loadSettings({ sets: [...sets] }).settings, 1_000);
  t.is(of([]).brokerFor(group, 0, 1_000_000), 0);
  const advice = of(['slaveReadEnable=true', 'accessMessageInMemoryMaxRatio=40']);
  t.is(advice.brokerFor(group, 9_600, 10_000), 2);
  t.is(advice.brokerFor(group, 9_599, 10_000), 3);
});
