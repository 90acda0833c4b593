import type { Clock } from '../../base/clock.ts';
import type { HangupCauseKey, HangupSource } from './hangup-cause.ts';

/** Part of a call that `endAt` needs. */
export interface Endable {
  /** Abort signal of the call: aborted when the call ends. */
  readonly signal: AbortSignal;
  /** Caps answered time at `atMs` (monotonic, ms). The returned function removes the cap. */
  limitTo(atMs: number): () => void;
  hangup(cause: HangupCauseKey, source: HangupSource, detail?: string): void;
}

/**
 * Ends the call at `atMs` (monotonic, ms). Answered time never exceeds that moment, even if the timer fires late or
 * another event ends the call later. The returned function cancels the scheduled end.
 */
export function endAt(
  call: Endable,
  clock: Pick<Clock, 'at' | 'monotonicMs'>,
  limit: {
    readonly atMs: number;
    readonly cause: HangupCauseKey;
    readonly source: HangupSource;
    readonly detail?: string;
  },
): () => void {
  const { atMs, cause, source, detail } = limit;
  const lift = call.limitTo(atMs);
  const cancel = clock.at(atMs, () => call.hangup(cause, source, detail));
  call.signal.addEventListener('abort', cancel, { once: true });
  return () => {
    cancel();
    // After the deadline the cap stays: the timer may still be pending, but answered time ends at the deadline.
    if (clock.monotonicMs() < atMs) lift();
  };
}
