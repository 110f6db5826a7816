// Settings: delayed, timed and recalled messages, and transactions.
import { flag, integer, text } from '../spec.ts';

export const delaySettings = {
  messageDelayLevel: text('1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h', 'Delays of level 1, 2, …, separated by blanks', {
    pattern: /^\s*\d{1,8}[smhd](\s+\d{1,8}[smhd])*\s*$/,
    allowed: 'delays such as "1s 5m 2h 1d", separated by blanks',
  }),
  timerWheelEnable: flag(true, 'Messages may ask for delivery at a given time'),
  timerPrecisionMs: integer(1000, 'ms', 'Steps of that time', { min: 1, max: 60_000 }),
  timerMaxDelaySec: integer(259_200, 's', 'How far ahead that time may be', { min: 1 }),
  timerRollWindowSlot: integer(172_800, '', 'Steps after which a waiting message is written anew', { min: 2 }),
  timerFlushIntervalMs: integer(1000, 'ms', 'Progress of timed messages is written to disk this often', { min: 10 }),
  timerInterceptDelayLevel: flag(false, 'Delay levels are served like timed messages', 'later'),
  timerEnableRetryUntilSuccess: flag(false, 'A due message that cannot be stored is tried for ever, and not three times'),
  mappedFileSizeTimerLog: integer(104_857_600, 'bytes', 'Size of a timer log file', { min: 1024, max: 2 ** 31 - 1 }),
  recallMessageEnable: flag(false, 'Timed messages may be recalled'),
} as const;

export const transactionSettings = {
  transactionTimeOut: integer(6000, 'ms', 'A half message is asked about after this long', { min: 1 }),
  transactionCheckMax: integer(15, '', 'It is asked about this often, and given up then', { min: 1, max: 10_000 }),
  transactionCheckInterval: integer(30_000, 'ms', 'Undecided half messages are looked for this often', { min: 10 }),
  transactionOpBatchInterval: integer(3000, 'ms', 'Decisions are written in batches this far apart', { min: 1 }),
  transactionOpMsgMaxSize: integer(4096, 'bytes', 'Largest such batch', { min: 64, max: 1_000_000 }),
} as const;
