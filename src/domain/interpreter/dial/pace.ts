/** How fast the documents of one call may dial: a list of parties at once, a loop at its leisure. */
import type { Call } from '../../call/call.ts';
import type { VerbContext } from '../needs.ts';

/** So many `Dial`s follow one another as fast as they fail; … */
const AT_ONCE = 3;
/** … further ones begin so far apart. */
const INTERVAL_MS = 1000;

/** When the next `Dial` of a call would begin if all of them were that far apart. */
const paced = new WeakMap<Call, number>();

/** Resolves when this call may dial (again); true: it had to wait. Rejects with the reason of the context's signal. */
export async function turnToDial({ call, needs, signal }: VerbContext): Promise<boolean> {
  const nowMs = needs.clock.monotonicMs();
  const dueMs = Math.max(paced.get(call) ?? nowMs, nowMs);
  paced.set(call, dueMs + INTERVAL_MS);
  const waitMs = dueMs - nowMs - (AT_ONCE - 1) * INTERVAL_MS;
  if (waitMs <= 0) return false;
  call.log.add('call', 'Dial waits: this call dials over and over', { waitMs: Math.round(waitMs) });
  await needs.clock.sleep(waitMs, signal);
  return true;
}
