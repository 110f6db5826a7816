// Turns `auto`, a number or a ratio per core into a number of actors.
import { RingmqError } from '../base/errors.ts';

/**
 * @param autoRatio actors per core that `auto` stands for.
 * @returns at least 1, whatever the ratio.
 */
export function resolveCount(text: string, cores: number, autoRatio = 0.5): number {
  if (text === 'auto') return Math.max(1, Math.round(cores * autoRatio));
  const ratio = /^(\d+|\d*\.\d+)x$/.exec(text)?.[1];
  if (ratio !== undefined) return Math.max(1, Math.round(cores * Number(ratio)));
  const count = /^\d+$/.test(text) ? Number(text) : 0;
  if (count >= 1) return count;
  throw new RingmqError('config', `actor count "${text}" must be "auto", a number from 1, or a ratio per core such as "0.5x"`);
}
