// Reads a program's arguments: what is wrong with them is one line that names the way to help.
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { ErrorCodes, RingmqError } from './base/errors.ts';

/** Throws RingmqError `config`. */
export function readArguments<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    throw usageError((error as Error).message.split('\n')[0] ?? '');
  }
}

export function usageError(text: string): RingmqError {
  return new RingmqError(ErrorCodes.config, `${text}; --help shows what is allowed`);
}
