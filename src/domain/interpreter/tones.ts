/** Tones that elements play. */
import type { Tone } from '../call/needs.ts';

/** Frequencies in Hz; cadence in ms, alternating tone and silence. */
interface Ringing {
  readonly hz: readonly number[];
  readonly cadence: readonly number[];
}

const EUROPEAN: Ringing = { hz: [425], cadence: [1000, 4000] };
const NORTH_AMERICAN: Ringing = { hz: [440, 480], cadence: [2000, 4000] };
/** Double ring. */
const DOUBLE = [400, 200, 400, 2000];
const BRITISH: Ringing = { hz: [400, 450], cadence: DOUBLE };

/**
 * Ringing tones by country, ISO 3166-1 alpha-2 (ITU-T E.180 supplement 2, "Various tones used in national networks"). A
 * modulated carrier f × m in E.180 is the sum of f - m and f + m.
 */
const RINGING: ReadonlyMap<string, Ringing> = new Map(
  Object.entries({
    AT: { hz: [420], cadence: [1000, 5000] },
    AU: BRITISH,
    BE: { hz: [425], cadence: [1000, 3000] },
    BR: EUROPEAN,
    CA: NORTH_AMERICAN,
    CH: EUROPEAN,
    CL: { hz: [400], cadence: [1000, 3000] },
    CN: { hz: [450], cadence: [1000, 4000] },
    CZ: EUROPEAN,
    DE: EUROPEAN,
    DK: EUROPEAN,
    ES: { hz: [425], cadence: [1500, 3000] },
    FI: EUROPEAN,
    FR: { hz: [440], cadence: [1500, 3500] },
    GB: BRITISH,
    GR: EUROPEAN,
    HK: { hz: [440, 480], cadence: [400, 200, 400, 3000] },
    HU: { hz: [425], cadence: [1250, 3750] },
    IE: BRITISH,
    IL: { hz: [400], cadence: [1000, 3000] },
    IN: { hz: [375, 425], cadence: DOUBLE },
    IT: EUROPEAN,
    JP: { hz: [384, 416], cadence: [1000, 2000] },
    KR: { hz: [440, 480], cadence: [1000, 2000] },
    MX: EUROPEAN,
    MY: { hz: [425], cadence: DOUBLE },
    NL: EUROPEAN,
    NO: EUROPEAN,
    NZ: BRITISH,
    PH: { hz: [425, 480], cadence: [1000, 4000] },
    PL: EUROPEAN,
    PT: { hz: [425], cadence: [1000, 5000] },
    RU: { hz: [425], cadence: [800, 3200] },
    SE: { hz: [425], cadence: [1000, 5000] },
    SG: { hz: [401, 449], cadence: DOUBLE },
    TH: { hz: [400], cadence: [1000, 4000] },
    TR: { hz: [450], cadence: [2000, 4000] },
    TW: { hz: [440, 480], cadence: [1000, 2000] },
    US: NORTH_AMERICAN,
  }),
);

/** Returns the ringing tone of a country; the North American tone if it is unknown. */
export function ringingTone(country: string): Tone {
  const { hz, cadence } = RINGING.get(country) ?? NORTH_AMERICAN;
  const steps: Tone['steps'][number][] = [];
  for (let i = 0; i + 1 < cadence.length; i += 2) {
    steps.push({ frequenciesHz: hz, onMs: cadence[i] ?? 0, offMs: cadence[i + 1] ?? 0 });
  }
  return { steps, loop: true, levelDbm0: -19 };
}

/** Beep at the start of a recording and after the prompts of a `Gather`. */
export const BEEP: Tone = {
  steps: [{ frequenciesHz: [1000], onMs: 300, offMs: 0 }],
  loop: false,
  levelDbm0: -15,
};

/** One or two short beeps, for members joining or leaving a conference. */
export const beeps = (count: 1 | 2): Tone => ({
  steps: Array.from({ length: count }, () => ({ frequenciesHz: [880], onMs: 150, offMs: 100 })),
  loop: false,
  levelDbm0: -18,
});

/** Timing of keypad presses relayed from one leg to another. */
export const RELAYED_DIGITS = { toneMs: 160, gapMs: 80, inband: false } as const;
