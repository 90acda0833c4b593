/** Cost of a call with a large number of stored records. */
import { setTimeout as pause } from 'node:timers/promises';
import { isQuick, type Row } from '../../row.ts';
import { Rig, type RigOptions } from '../rig.ts';
import { describe, isClean } from '../step.ts';

const RATE = 100;
const SECONDS = 10;
/** The caches of the store fill with other pages. */
const AGAIN_SECONDS = 5;
const RECORDS = isQuick ? 100_000 : 1_000_000;
const SETTLE_MS = 5000;

export async function recordRows(title: string, options: RigOptions): Promise<readonly Row[]> {
  const rig = await Rig.start(options);
  try {
    const empty = await rig.step(RATE, SECONDS);
    rig.service.addOldCalls(RECORDS);
    await pause(SETTLE_MS);
    await rig.step(RATE, AGAIN_SECONDS);
    const full = await rig.step(RATE, SECONDS);
    return [
      {
        name: `${title}: a call with ${RECORDS} stored records and entries, ${RATE}/s`,
        value: full.msPerCall,
        unit: 'ms/call',
        floor: empty.msPerCall,
        ratio: full.msPerCall / empty.msPerCall,
        note: `floor: without them; goal: ×1.1; ${isClean(full) ? 'all completed' : describe(full)}`,
      },
    ];
  } finally {
    await rig.stop();
  }
}
