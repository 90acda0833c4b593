import type { Clock } from '../../base/clock.ts';
import type { Call } from '../call/call.ts';

/** Three repetitions of a 200 that was lost, or of one whose ACK was (RFC 3261 §13.3.1.4). */
const PATIENCE_MS = 4000;

/**
 * A phone is off the hook with our 200, its call answered with the ACK that comes after: who acts on the call between the
 * two sees an answered phone, so he waits for the second. Never rejects.
 */
export async function confirmed(
  call: Call,
  clock: Pick<Clock, 'monotonicMs' | 'at'>,
): Promise<void> {
  const { confirming } = call;
  if (confirming === undefined) return;
  await new Promise<void>((resolve) => {
    const cancel = clock.at(clock.monotonicMs() + PATIENCE_MS, resolve);
    // Why an answer failed is told by whoever answered.
    confirming
      .catch(() => undefined)
      .finally(() => {
        cancel();
        resolve();
      });
  });
}
