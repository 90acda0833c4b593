/** Cost of a call with a growing number of calls in progress. */
import { setTimeout as pause } from 'node:timers/promises';
import { isQuick, type Row } from '../../row.ts';
import { cpuOf } from '../accounting.ts';
import { Rig, type RigOptions } from '../rig.ts';
import { describe, isClean } from '../step.ts';

const RATE = 50;
const SECONDS = 8;
const HELD = isQuick ? 500 : 2000;
const HELD_RATE = 100;
/** Duration of held calls, ms. The service ends calls that are silent for a minute. */
const HOLD_MS = 58_000;
const IDLE_MS = 8000;

export async function growthRows(title: string, options: RigOptions): Promise<readonly Row[]> {
  const rig = await Rig.start(options);
  const { pid } = rig.service;
  try {
    const alone = await rig.step(RATE, SECONDS);
    const held = rig.hold(HELD, HELD_RATE, HOLD_MS);
    await pause((HELD / HELD_RATE) * 1000 + 2000);
    const [beforeMs, begunMs] = [cpuOf(pid).ms, performance.now()];
    await pause(IDLE_MS);
    // Milliseconds of CPU a second, of those that are held.
    const heldMs = (1000 * (cpuOf(pid).ms - beforeMs)) / (performance.now() - begunMs);
    const begunStepMs = performance.now();
    const among = await rig.step(RATE, SECONDS);
    const seconds = (performance.now() - begunStepMs) / 1000;
    const own = among.msPerCall - (heldMs * seconds) / among.calls;
    const { completed } = await held;
    return [
      {
        name: `${title}: a held call, of ${HELD}`,
        value: (1000 * heldMs) / HELD,
        unit: 'µs/call-s',
        note: `${completed} of them completed`,
      },
      {
        name: `${title}: a call among ${HELD} held ones, ${RATE}/s`,
        value: own,
        unit: 'ms/call',
        floor: alone.msPerCall,
        ratio: own / alone.msPerCall,
        note: `floor: without them; goal: ×1.1; ${isClean(among) ? 'all completed' : describe(among)}`,
      },
    ];
  } finally {
    await rig.stop();
  }
}
