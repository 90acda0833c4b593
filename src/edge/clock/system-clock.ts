import type { Clock } from '../../base/clock.ts';

/** Node's longest timer is 2^31-1 ms; anything later is waited for in steps. */
const LONGEST_TIMER_MS = 2_147_000_000;

/** The clock of the running service. */
export const systemClock: Clock = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
  at(dueMs, wake) {
    let timer: NodeJS.Timeout;
    const arm = (): void => {
      const leftMs = dueMs - performance.now();
      if (leftMs > LONGEST_TIMER_MS) timer = setTimeout(arm, LONGEST_TIMER_MS);
      else timer = setTimeout(fire, Math.max(0, Math.ceil(leftMs)));
    };
    // A timer may fire a fraction of a millisecond early; machines rely on `monotonicMs() >= dueMs`.
    const fire = (): void => {
      if (performance.now() < dueMs) timer = setTimeout(fire, 1);
      else wake();
    };
    arm();
    return () => clearTimeout(timer);
  },
  sleep(ms, signal) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const onAbort = (): void => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(
        () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
        Math.min(ms, LONGEST_TIMER_MS),
      );
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  },
};
