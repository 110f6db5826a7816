// Settings that a tool may change while the broker runs: which they are, and how all threads see a change at once.
//
// Each has a 32-bit word in shared memory: 0 while it is as configured, else its value plus one. Actors keep reading `settings.name`.
import { specs } from './schema.ts';
import type { SettingName, Settings } from './settings.ts';
import type { SettingValue } from './spec.ts';

interface Bounds {
  readonly min?: number;
  readonly max?: number;
}

/** All are read where they are used, and not only at a start. Bounds are those that rules over several settings would set at a start. */
const changeable = {
  brokerPermission: {},
  autoCreateTopicEnable: {},
  validateSystemTopicWhenUpdateTopic: {},
  clearRetryTopicWhenDeleteTopic: {},
  enableMixedMessageType: {},
  autoCreateSubscriptionGroup: {},
  enableCreateSysGroup: {},
  notifyConsumerIdsChangedEnable: {},
  strictSubscription: {},
  useServerSideResetOffset: {},
  enableRegisterProducer: {},
  flushConsumerOffsetInterval: {},
  longPollingEnable: {},
  shortPollingTimeMills: {},
  litePullMessageEnable: {},
  defaultQueryMaxNum: {},
  maxMsgsNumBatch: {},
  brokerFastFailureEnable: {},
  waitTimeMillsInSendQueue: {},
  sendThreadPoolQueueCapacity: {},
  osPageCacheBusyTimeOutMills: {},
  serverChannelMaxIdleTimeSeconds: {},
  connectionCountMax: {},
  flushIntervalCommitLog: {},
  flushCommitLogThoroughInterval: {},
  flushIntervalConsumeQueue: {},
  flushConsumeQueueThoroughInterval: {},
  fileReservedTime: {},
  deleteWhen: {},
  diskMaxUsedSpaceRatio: {},
  diskSpaceCleanForciblyRatio: { min: 30, max: 85 },
  diskSpaceWarningLevelRatio: { min: 35, max: 90 },
  cleanFileForciblyEnable: {},
  deleteUnconsumed: {},
  cleanResourceInterval: {},
  deleteCommitLogFilesInterval: {},
  deleteConsumeQueueFilesInterval: {},
  deleteFileBatchMax: {},
  forceRegister: {},
  compressedRegister: {},
  enableDetailStat: {},
} as const satisfies Partial<Record<SettingName, Bounds>>;
export type LiveName = keyof typeof changeable;

export const liveNames = Object.keys(changeable) as readonly LiveName[];
const NUMBER_MAX = 2 ** 31 - 2;

export function isLive(name: string): name is LiveName {
  return Object.hasOwn(changeable, name);
}

/** Bytes of the words of all of them. */
export const LIVE_MEMORY_SIZE = liveNames.length * Int32Array.BYTES_PER_ELEMENT;

/** The settings with changes as they come. */
export function liveSettings(configured: Settings, words: Int32Array): Settings {
  const settings = { ...configured };
  liveNames.forEach((name, slot) => {
    const value = configured[name];
    const decode = decoderOf(value);
    Object.defineProperty(settings, name, {
      enumerable: true,
      get: () => {
        const word = words[slot] as number;
        return word === 0 ? value : decode(word - 1);
      },
    });
  });
  return laidOut(settings);
}

/**
 * The same object, with fixed places for its properties: V8 keeps one with so many accessors as a hash table, where a look-up takes 10 ns (a
 * place: 2), and lays it out anew when a property is read through an object that inherits from it.
 */
function laidOut(settings: Settings): Settings {
  const heir = Object.create(settings) as Settings;
  return heir.brokerName === settings.brokerName ? settings : heir;
}

/** Shows a value to all threads; undefined: as configured again. */
export function setLive(words: Int32Array, name: LiveName, value: SettingValue | undefined): void {
  Atomics.store(words, liveNames.indexOf(name), value === undefined ? 0 : numberOf(value) + 1);
}

/** Why a value that the table allows is not allowed while the broker runs; null where it is. */
export function liveFault(name: LiveName, value: SettingValue): string | null {
  const { min = 0, max = NUMBER_MAX }: Bounds = changeable[name];
  if (typeof value !== 'number' || (value >= min && value <= max)) return null;
  return `${name}="${value}" must be a whole number from ${Math.max(min, specs.get(name)?.min ?? 0)} to ${max} while the broker runs`;
}

function decoderOf(configured: SettingValue): (number: number) => SettingValue {
  if (typeof configured === 'boolean') return (number) => number === 1;
  return typeof configured === 'number' ? (number) => number : hoursText;
}

function numberOf(value: SettingValue): number {
  if (typeof value === 'string') return hoursMask(value);
  return Number(value);
}

// The only text among them is a list of hours: a bit for each.
const HOUR_COUNT = 24;

function hoursMask(text: string): number {
  return text
    .split(';')
    .filter((hour) => hour !== '')
    .reduce((mask, hour) => mask | (1 << Number(hour)), 0);
}

function hoursText(mask: number): string {
  const hours = Array.from({ length: HOUR_COUNT }, (_, hour) => hour).filter((hour) => (mask & (1 << hour)) !== 0);
  return hours.map((hour) => String(hour).padStart(2, '0')).join(';');
}
