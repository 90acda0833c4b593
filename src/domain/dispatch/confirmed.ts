import type { Clock } from '../../base/clock.ts';
import type { Call } from '../call/call.ts';

/** Maximum wait in ms, enough for three retransmissions of the 200 if it or its ACK is lost (RFC 3261 §13.3.1.4). */
const TIMEOUT_MS = 4000;

/**
 * Waits for the ACK if a 200 has been sent. A call counts as answered at its ACK, but the caller sees it as answered
 * with the 200. A request between the two must not be refused. Never rejects.
 */
export async function confirmed(
  call: Call,
  clock: Pick<Clock, 'monotonicMs' | 'at'>,
): Promise<void> {
  const { confirming } = call;
  if (confirming === undefined) return;
  await new Promise<void>((resolve) => {
    const cancel = clock.at(clock.monotonicMs() + TIMEOUT_MS, resolve);
    // The code that answered the call reports a failure.
    confirming
      .catch(() => undefined)
      .finally(() => {
        cancel();
        resolve();
      });
  });
}
