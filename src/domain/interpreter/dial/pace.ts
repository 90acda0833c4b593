/** How fast the documents of one call may dial: a few `Dial`s at once, further ones at intervals. */
import type { Call } from '../../call/call.ts';
import type { VerbContext } from '../needs.ts';

/** `Dial`s that may follow one another without a pause. */
const AT_ONCE = 3;
/** Least time between the beginnings of further ones. */
const INTERVAL_MS = 1000;

interface Pace {
  /** When the next `Dial` would begin if all of them were that far apart. */
  dueMs: number;
  /** `Dial`s in a row that connected nobody. */
  failed: number;
}

const paces = new WeakMap<Call, Pace>();

/** Resolves when this call may dial (again); true: it dials over and over. Rejects with the reason of the context's signal. */
export async function turnToDial({ call, needs, signal }: VerbContext): Promise<boolean> {
  const nowMs = needs.clock.monotonicMs();
  const pace = paces.get(call) ?? { dueMs: nowMs, failed: 0 };
  paces.set(call, pace);
  const waitMs = pace.dueMs - nowMs - (AT_ONCE - 1) * INTERVAL_MS;
  pace.dueMs = Math.max(pace.dueMs, nowMs) + INTERVAL_MS;
  if (waitMs > 0) {
    call.log.add('call', 'Dial waits: this call dials over and over', {
      waitMs: Math.round(waitMs),
    });
    await needs.clock.sleep(waitMs, signal);
  }
  return pace.failed >= AT_ONCE;
}

/** What came of a `Dial`: one that connected somebody begins a new row. */
export function dialEnded(call: Call, isConnected: boolean): void {
  const pace = paces.get(call);
  if (pace !== undefined) pace.failed = isConnected ? 0 : pace.failed + 1;
}
