/** Options and messages of lists with pages. */
import type { Command } from 'commander';
import type { Json } from './output.ts';

export interface PageFlags {
  readonly limit: string;
  readonly offset: string;
}

/** Adds the options that choose a part of a list. */
export const withPages = (command: Command, limit = 100): Command =>
  command
    .option('--limit <n>', 'maximum number of rows', String(limit))
    .option('--offset <n>', 'number of rows to skip', '0');

/** Returns the number of all rows of a list that the reply has a part of, or undefined if it does not contain the number. */
export function totalOf(reply: Json): number | undefined {
  const { total = (reply['meta'] as Json | undefined)?.['total'] } = reply;
  return typeof total === 'number' ? total : undefined;
}
