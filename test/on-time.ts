import { type PauseWatch, watchPauses } from './pauses.ts';

const ATTEMPTS = 5;

/**
 * Runs a check of audio in real time. If it fails and a thread that carries the audio was paused during it (`pauses.ts`),
 * the audio was not as intended, and the check is repeated. It runs at most five times. `attempt` gets the number of the attempt.
 */
export async function onTime<T>(
  attempt: (number: number) => Promise<T>,
  startWatch: () => PauseWatch = watchPauses,
): Promise<T> {
  for (let number = 1; ; number += 1) {
    const watch = startWatch();
    try {
      return await attempt(number);
    } catch (error) {
      if (number === ATTEMPTS || watch.pauseMs() === undefined) throw error;
    } finally {
      watch.end();
    }
  }
}
