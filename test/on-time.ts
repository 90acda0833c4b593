import { monitorEventLoopDelay } from 'node:perf_hooks';

const ATTEMPTS = 5;
const RESOLUTION_MS = 5;
const NS_PER_MS = 1e6;

/**
 * Runs a check of audio that this process sends in real time. If the check fails and the process was late by `lateMs` or more,
 * the audio was not as intended, and the check is repeated, up to five times. `attempt` gets the number of the attempt.
 */
export async function onTime<T>(attempt: (number: number) => Promise<T>, lateMs = 60): Promise<T> {
  for (let number = 1; ; number += 1) {
    const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
    delay.enable();
    try {
      return await attempt(number);
    } catch (error) {
      if (number === ATTEMPTS || delay.max < lateMs * NS_PER_MS) throw error;
    } finally {
      delay.disable();
    }
  }
}
