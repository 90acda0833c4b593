/** Twice the calls that the service holds: what still completes, what is refused at once, and what is left of it afterwards. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Row } from '../../row.ts';
import { peakRssMib, rssMib } from '../accounting.ts';
import { Rig, type RigOptions } from '../rig.ts';
import { describe, isClean } from '../step.ts';

const AFTERWARDS = { rate: 50, seconds: 5 };
const RECOVERY_MS = 10_000;

export async function overloadRows(
  title: string,
  options: RigOptions,
  { limit, seconds }: { readonly limit: number; readonly seconds: number },
): Promise<readonly Row[]> {
  const rig = await Rig.start(options);
  try {
    const { pid } = rig.service;
    const before = rssMib(pid);
    const storm = await rig.step(2 * limit, seconds);
    const peak = peakRssMib(pid);
    await pause(RECOVERY_MS);
    const after = rssMib(pid);
    const again = await rig.step(AFTERWARDS.rate, AFTERWARDS.seconds);
    // The last calls are held for a second longer.
    const held = storm.completed / (storm.wallMs / 1000);
    const memory = [before, peak, after].map(Math.round).join(' · ');
    return [
      {
        name: `${title}: of the limit completes at ${2 * limit}/s, twice ${limit}`,
        value: (100 * held) / limit,
        unit: '%',
        note: `goal: ≥ 90; ${describe(storm)}; RSS before · peak · 10 s after ${memory} MiB`,
      },
      {
        name: `${title}: afterwards, ${AFTERWARDS.rate}/s`,
        value: again.msPerCall,
        unit: 'ms/call',
        note: isClean(again) ? 'every call completed' : describe(again),
      },
    ];
  } finally {
    await rig.stop();
  }
}
