import type { Call } from '../call/call.ts';
import { RELAYED_DIGITS } from './tones.ts';

/**
 * Keypad events do not travel with the audio that a bridge carries, so they are sent on. Tones within the audio have
 * arrived already.
 */
export function relayDigits(from: Call, to: Call): () => void {
  return from.digits.observeEvents((digit) => {
    if (from.keypadEvents && !to.isEnded) void to.media.sendDigits(digit, RELAYED_DIGITS);
  });
}
