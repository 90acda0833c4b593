/** CPU of a whole process with calls through it whose ends talk to each other. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Cpu, cpuOf, threadsBetween } from '../calls/accounting.ts';
import { isQuick } from '../row.ts';
import { talk } from '../speech-quality/talk.ts';
import { type Received, Talkers, writePackets } from './load.ts';
import type { Side } from './sides.ts';
import type { Calls, Subject } from './subjects.ts';

/** Number of calls; half as many pairs of ends if each call has one leg. */
export interface Load {
  readonly caller: Side;
  readonly callee: Side;
  readonly calls: number;
  readonly legs?: 1;
}

/** Time until the garbage of the call setups has been collected twice; it is not part of the cost of a running call. */
const WARM_MS = 25_000;
const SECONDS = isQuick ? 4 : 8;
/** Maximum share of missing packets; above it, a call is broken. */
const MISSING = 0.02;

export interface Measured extends Received {
  readonly us: number;
  /** The busiest threads, microseconds as above. */
  readonly threads: string;
}

const THREADS = 3;

function busiest(before: Cpu, after: Cpu, usEach: (ms: number) => number): string {
  const threads = threadsBetween(before, after).slice(0, THREADS);
  return threads.map(({ name, ms }) => `${name} ${Math.round(usEach(ms))}`).join(', ');
}

/** Writes the audio packets that one side sends. */
export async function writeSpeech(folder: string, side: Side): Promise<void> {
  writePackets(fileOf(folder, side), await talk(side.codec));
}

const fileOf = (folder: string, side: Side): string => join(folder, `${side.codec.name}.packets`);

/** CPU microseconds of the whole process for each call and second. */
export async function measure(
  load: Load,
  folder: string,
  subject: (calls: Calls) => Promise<Subject>,
): Promise<Measured> {
  const { caller, callee, calls, legs = 2 } = load;
  const pairs = (calls * legs) / 2;
  const talkers = await Talkers.start(pairs, fileOf(folder, caller), fileOf(folder, callee));
  let between: Subject | undefined;
  try {
    between = await subject({ caller, callee, ports: talkers.ports });
    await talkers.talk(between.peers);
    await pause(WARM_MS);
    await talkers.beginWindow();
    const [before, startedMs] = [cpuOf(between.pid), performance.now()];
    await pause(SECONDS * 1000);
    const [after, endedMs] = [cpuOf(between.pid), performance.now()];
    const received = await talkers.received();
    const usEach = (ms: number): number => (ms * 1e6) / calls / (endedMs - startedMs);
    return {
      ...received,
      us: usEach(after.ms - before.ms),
      threads: busiest(before, after, usEach),
    };
  } finally {
    await between?.stop();
    await talkers.stop();
  }
}

export const described = ({ sent, received, silent, threads }: Measured): string => {
  const isBroken = silent > 0 || Math.abs(sent - received) > MISSING * sent;
  return `${threads}; ${received} of ${sent} packets heard${isBroken ? `, ${silent} ends received nothing: NOT VALID` : ''}`;
};
