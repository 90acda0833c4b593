/** Offers more calls than the service can carry: counts completed and refused calls and the state afterwards. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Row } from '../../row.ts';
import { peakRssMib, rssMib } from '../accounting.ts';
import { Rig, type RigOptions } from '../rig.ts';
import { describe, isClean } from '../step.ts';

const TIMES = [1, 2, 3];
const AFTERWARDS = { rate: 50, seconds: 5 };
const RECOVERY_MS = 8000;
/** Calls with audio during the overload. */
const LISTENERS = 10;

export async function overloadRows(
  title: string,
  options: RigOptions,
  { limit, seconds }: { readonly limit: number; readonly seconds: number },
): Promise<readonly Row[]> {
  const rig = await Rig.start(options);
  const rows: Row[] = [];
  const listeners = await rig.listen(LISTENERS);
  try {
    const { pid } = rig.service;
    // V8 recompiles code that it optimized for fewer concurrent calls.
    await rig.step(limit, seconds);
    listeners.takeGaps();
    await pause(RECOVERY_MS);
    const quiet = listeners.takeGaps();
    for (const times of TIMES) {
      const before = rssMib(pid);
      const storm = await rig.step(times * limit, seconds);
      // A call that one end counts as complete may have timed out at the other end.
      const received = listeners.takeGaps();
      const whole = Math.min(storm.completed, storm.answered);
      const begun = storm.calls - storm.refused;
      const memory = [before, peakRssMib(pid), rssMib(pid)].map(Math.round).join(' · ');
      rows.push({
        name: `${title}: of the limit completes at ${times * limit}/s, ${times} × ${limit}`,
        value: (100 * whole) / seconds / limit,
        unit: '%',
        note: `goal: ≥ 90; ${begun - whole} of those taken failed; ${describe(storm)}; ${received}; RSS before · peak · after ${memory} MiB`,
      });
      await pause(RECOVERY_MS);
    }
    const again = await rig.step(AFTERWARDS.rate, AFTERWARDS.seconds);
    const after = Math.round(rssMib(pid));
    return [
      ...rows,
      {
        name: `${title}: afterwards, ${AFTERWARDS.rate}/s`,
        value: again.msPerCall,
        unit: 'ms/call',
        note: `${isClean(again) ? 'every call completed' : describe(again)}; RSS ${after} MiB; before all: ${quiet}`,
      },
    ];
  } finally {
    await listeners.stop();
    await rig.stop();
  }
}
