import type { Clock } from '../../base/clock.ts';

/** Acts now, and every so often until it is stopped. */
export async function every(
  ms: number,
  act: () => void,
  clock: Pick<Clock, 'sleep'>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    act();
    await clock.sleep(ms, signal).catch(() => undefined); // stopped
  }
}
