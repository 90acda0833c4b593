import type { Clock } from '../../base/clock.ts';
import type { HangupCauseKey, HangupSource } from './hangup-cause.ts';

/** A call, as far as its end goes. */
export interface Endable {
  /** Aborted when it ends. */
  readonly signal: AbortSignal;
  /** Answered time is booked up to this moment of the monotonic clock; the returned function lifts the limit. */
  limitTo(atMs: number): () => void;
  hangup(cause: HangupCauseKey, source: HangupSource, detail?: string): void;
}

/**
 * Ends the call at a moment of the monotonic clock. It is booked there, however late the timer is, and so is an end that
 * somebody else brings about after that moment. The returned function calls it off.
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
    // After its moment the limit stays: the timer has not fired yet, but the answered time ends there.
    if (clock.monotonicMs() < atMs) lift();
  };
}
