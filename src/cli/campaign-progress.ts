/** Formats the progress of a campaign as one line. */
import { type Json, progressBar } from './output.ts';

const OVER: ReadonlySet<unknown> = new Set(['completed', 'cancelled', 'archived']);
/** Contact counters in display order: field of the reply, label. */
const COUNTERS = [
  ['answered', 'answered'],
  ['busy', 'busy'],
  ['no_answer', 'no answer'],
  ['failed', 'failed'],
  ['expired', 'expired'],
  ['dialling', 'dialling'],
  ['retry_pending', 'to retry'],
  ['pending', 'pending'],
] as const;
const ENDED = ['answered', 'busy', 'no_answer', 'failed', 'expired'] as const;

export const isOver = (campaign: Json): boolean => OVER.has(campaign['status']);

export function progressLine(campaign: Json): string {
  const count = (name: string): number => Number(campaign[name] ?? 0);
  const total = count('total_contacts');
  const done = ENDED.reduce((sum, name) => sum + count(name), 0);
  const reason = campaign['pause_reason'];
  const state = reason === null ? `${campaign['status']}` : `${campaign['status']} (${reason})`;
  const health = campaign['status'] === 'running' ? `, ${campaign['health']}` : '';
  const share = total > 0 && done === total ? '[all]' : progressBar(total === 0 ? 0 : done / total);
  const counts = COUNTERS.filter(([name]) => count(name) > 0).map(
    ([name, words]) => `${count(name)} ${words}`,
  );
  return [`${share} ${done} of ${total}`, state + health, ...counts].join('  ');
}
