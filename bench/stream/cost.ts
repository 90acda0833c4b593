/** CPU time and JavaScript heap of this process. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { systemClock as clock } from '../../src/edge/clock/system-clock.ts';

/** Microseconds of CPU, all threads of this process, per call and second. */
export async function cpuPerCallSecond(calls: number, measureMs: number): Promise<number> {
  const before = process.cpuUsage();
  const startMs = clock.monotonicMs();
  await clock.sleep(measureMs);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls / ((clock.monotonicMs() - startMs) / 1000);
}

/** Bytes in use after two full collections: finalizers free more after the first. */
export function heapInUse(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}
