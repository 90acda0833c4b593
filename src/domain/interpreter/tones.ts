/** Tones that elements play on their own account. */
import type { Tone } from '../call/needs.ts';

/** North American ringing tone: 440 and 480 Hz, two seconds in six (ITU-T E.180 supplement 2). */
export const RINGBACK_TONE: Tone = {
  steps: [{ frequenciesHz: [440, 480], onMs: 2000, offMs: 4000 }],
  loop: true,
  levelDbm0: -19,
};

/** What a recording begins with, and what ends the prompts of a `Gather`. */
export const BEEP: Tone = {
  steps: [{ frequenciesHz: [1000], onMs: 300, offMs: 0 }],
  loop: false,
  levelDbm0: -15,
};

/** One or two short beeps: somebody has come, or gone. */
export const beeps = (count: 1 | 2): Tone => ({
  steps: Array.from({ length: count }, () => ({ frequenciesHz: [880], onMs: 150, offMs: 100 })),
  loop: false,
  levelDbm0: -18,
});

/** Keypad presses that are passed on from one leg to another. */
export const RELAYED_DIGITS = { toneMs: 160, gapMs: 80, inband: false } as const;
