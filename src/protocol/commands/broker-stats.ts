// What tools ask about traffic: one figure's windows (315), and how far all groups of a broker are (317).
import { javaJson } from '../../base/json-writer.ts';
import { type ConsumeStats, consumeStatsJson } from '../bodies/queue-stats.ts';
import { bool, defineExt, type ExtOf, text } from '../ext.ts';

//   315      statsName! s, statsKey! s; answer 0 with the sums of a minute, an hour and a day as body; 1 without such a figure
//   317      isOrder! b; answer 0 with the progress of each group as body

const statsRequest = { statsName: text, statsKey: text };
export type BrokerStatsRequest = ExtOf<typeof statsRequest>;
export const { decode: decodeBrokerStatsRequest, encode: encodeBrokerStatsRequest } = defineExt(statsRequest);

/** How much a figure has grown within a time: in all, each second, and at each event. */
export interface StatsWindow {
  readonly sum: number;
  readonly tps: number;
  readonly avgpt: number;
}

export interface BrokerStats {
  readonly minute: StatsWindow;
  readonly hour: StatsWindow;
  readonly day: StatsWindow;
}

export function encodeBrokerStats({ minute, hour, day }: BrokerStats): Buffer {
  const json = ({ sum, tps, avgpt }: StatsWindow) => ({ avgpt, sum, tps });
  return Buffer.from(javaJson({ statsDay: json(day), statsHour: json(hour), statsMinute: json(minute) }));
}

const allRequest = { isOrder: bool };
export type AllConsumeStatsRequest = ExtOf<typeof allRequest>;
export const { decode: decodeAllConsumeStatsRequest, encode: encodeAllConsumeStatsRequest } = defineExt(allRequest);

export interface AllConsumeStats {
  readonly brokerAddr: string;
  readonly groups: ReadonlyMap<string, readonly ConsumeStats[]>;
  /** Messages that all groups together have not read. */
  readonly totalDiff: number;
  /** Messages that were given out and not committed. */
  readonly totalInflightDiff: number;
}

export function encodeAllConsumeStats({ brokerAddr, groups, totalDiff, totalInflightDiff }: AllConsumeStats): Buffer {
  const consumeStatsList = [...groups].map(([group, stats]) => ({ [group]: stats.map(consumeStatsJson) }));
  return Buffer.from(javaJson({ brokerAddr, consumeStatsList, totalDiff, totalInflightDiff }));
}
