import type { Clock } from '../../base/clock.ts';
import type { Call } from '../call/call.ts';

/** Time for three repetitions of a 200, in case it or its ACK was lost (RFC 3261 §13.3.1.4). */
const PATIENCE_MS = 4000;

/**
 * Waits for the ACK of a 200 that was sent. A call counts as answered at its ACK, but its caller sees it answered with
 * the 200: a request that comes between the two must not be refused. Never rejects.
 */
export async function confirmed(
  call: Call,
  clock: Pick<Clock, 'monotonicMs' | 'at'>,
): Promise<void> {
  const { confirming } = call;
  if (confirming === undefined) return;
  await new Promise<void>((resolve) => {
    const cancel = clock.at(clock.monotonicMs() + PATIENCE_MS, resolve);
    // A failure is reported where the call was answered.
    confirming
      .catch(() => undefined)
      .finally(() => {
        cancel();
        resolve();
      });
  });
}
