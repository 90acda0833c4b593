import type { Call } from '../call/call.ts';
import { RELAYED_DIGITS } from './tones.ts';

/** Relays keypad events from one leg to another, because a bridge carries audio only. In-band tones need no relay. */
export function relayDigits(from: Call, to: Call): () => void {
  return from.digits.observeEvents((digit) => {
    if (from.keypadEvents && !to.isEnded) void to.media.sendDigits(digit, RELAYED_DIGITS);
  });
}
