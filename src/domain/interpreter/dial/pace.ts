/** Rate limit for `Dial` elements per call: a small burst, then fixed intervals. */
import type { Call } from '../../call/call.ts';
import type { VerbContext } from '../needs.ts';

/** Burst size: number of `Dial`s without a delay. */
const AT_ONCE = 3;
/** Minimum interval between further `Dial`s, in ms. */
const INTERVAL_MS = 1000;

interface Pace {
  /** Monotonic time (ms) of the next `Dial` if all were evenly spaced. */
  dueMs: number;
  /** Number of consecutive `Dial`s without a connection. */
  failed: number;
}

const paces = new WeakMap<Call, Pace>();

/**
 * Waits until this call may dial. Returns true if several Dials in a row have failed. Rejects with the reason of the
 * context's signal.
 */
export async function turnToDial({ call, needs, signal }: VerbContext): Promise<boolean> {
  const nowMs = needs.clock.monotonicMs();
  const pace = paces.get(call) ?? { dueMs: nowMs, failed: 0 };
  paces.set(call, pace);
  const waitMs = pace.dueMs - nowMs - (AT_ONCE - 1) * INTERVAL_MS;
  pace.dueMs = Math.max(pace.dueMs, nowMs) + INTERVAL_MS;
  if (waitMs > 0) {
    call.log.add('call', 'Dial delayed: this call dials too often', {
      waitMs: Math.round(waitMs),
    });
    await needs.clock.sleep(waitMs, signal);
  }
  return pace.failed >= AT_ONCE;
}

/** Records the result of a `Dial`. A connection resets the count of failures. */
export function dialEnded(call: Call, isConnected: boolean): void {
  const pace = paces.get(call);
  if (pace !== undefined) pace.failed = isConnected ? 0 : pace.failed + 1;
}
