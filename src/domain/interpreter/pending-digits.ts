/** Digits that are sent in the background. The document ends the call only after the last of them. */

import { unlessAborted } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import type { Call } from '../call/call.ts';

/** Maximum wait at the end of a document, in ms. */
const TIMEOUT_MS = 120_000;

const onTheirWay = new WeakMap<Call, Promise<void>>();

/** Registers digits; `sent` resolves when the last of them has been sent. */
export function keepPendingDigits(call: Call, sent: Promise<void>): void {
  const before = onTheirWay.get(call) ?? Promise.resolve();
  onTheirWay.set(
    call,
    before.then(() => sent),
  );
}

/** Waits until all registered digits have been sent. Rejects with the signal's reason. */
export async function untilDigitsSent(
  call: Call,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const sent = onTheirWay.get(call);
  if (sent === undefined) return;
  const over = new AbortController();
  const timeout = clock.sleep(TIMEOUT_MS, AbortSignal.any([signal, over.signal]));
  try {
    await unlessAborted(signal, Promise.race([sent, timeout]));
  } finally {
    over.abort();
  }
}
