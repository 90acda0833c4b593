/** Compares the observations of a call with the expectations of its file. */
import type { Observed } from './observed.ts';
import type { Expected } from './rehearsal-file.ts';

export interface Verdict {
  /** Failed expectations and faults, in plain words; empty if the call passed. */
  readonly failures: readonly string[];
}

/** Value below which the share (0 to 1) of the values lies; undefined without values. */
export function percentile(values: readonly number[], share: number): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
}

/** `transcript`: words of the bot, if a recognizer is configured. */
export function judge(
  expected: Expected,
  observed: Observed,
  transcript: string | undefined,
): Verdict {
  const failures = [...observed.faults];
  const atMost = (what: string, value: number | undefined, limit: number | undefined): void => {
    if (limit === undefined) return;
    if (value === undefined)
      failures.push(`${what}: nothing was measured, at most ${limit} expected`);
    else if (value > limit)
      failures.push(`${what}: ${Math.round(value)}, at most ${limit} expected`);
  };
  const { latencies, interruptions } = observed;
  atMost('answerMs', observed.answeredMs, expected.answerMs);
  atMost('latencyMs.p50', percentile(latencies, 0.5), expected.latencyMs?.p50);
  atMost('latencyMs.p95', percentile(latencies, 0.95), expected.latencyMs?.p95);
  atMost('latencyMs.max', percentile(latencies, 1), expected.latencyMs?.max);
  atMost('interruptionMs', percentile(interruptions, 1), expected.interruptionMs);
  atMost('silenceSeconds', observed.longestSilenceMs / 1000, expected.silenceSeconds);
  const seconds = observed.durationMs / 1000;
  atMost('durationSeconds', seconds, expected.durationSeconds?.max);
  const { min } = expected.durationSeconds ?? {};
  if (min !== undefined && seconds < min)
    failures.push(`durationSeconds: ${seconds.toFixed(1)}, at least ${min} expected`);
  if (expected.turns !== undefined && latencies.length < expected.turns)
    failures.push(`turns: ${latencies.length}, at least ${expected.turns} expected`);
  if (expected.digits !== undefined && observed.digits !== expected.digits)
    failures.push(`digits: "${observed.digits}", "${expected.digits}" expected`);
  failures.push(...transferFailures(expected, observed.transfers));
  if (expected.endedBy !== undefined && observed.endedBy !== expected.endedBy)
    failures.push(`endedBy: ${observed.endedBy}, ${expected.endedBy} expected`);
  failures.push(...missing('spoken', expected.spoken, observed.spoken.join('\n')));
  failures.push(...missing('transcript', expected.transcript, transcript ?? ''));
  const { lateMs } = observed;
  if (failures.length > 0 && lateMs > 0)
    failures.push(
      `the rehearsal sent audio up to ${Math.round(lateMs)} ms late, which may be the cause: use fewer callers or a faster machine`,
    );
  return { failures };
}

function transferFailures(expected: Expected, transfers: readonly string[]): readonly string[] {
  const { transfer, noTransfer } = expected;
  const seen = transfers.length === 0 ? 'none' : transfers.join(', ');
  if (transfer !== undefined && !transfers.includes(transfer))
    return [`transfer: ${seen}, ${transfer} expected`];
  return noTransfer && transfers.length > 0 ? [`transfer: ${seen}, none expected`] : [];
}

const missing = (
  what: string,
  patterns: readonly string[] | undefined,
  text: string,
): readonly string[] =>
  (patterns ?? [])
    .filter((pattern) => !new RegExp(pattern, 'i').test(text))
    .map((pattern) => `${what}: /${pattern}/ not found in "${text.slice(0, 500)}"`);
