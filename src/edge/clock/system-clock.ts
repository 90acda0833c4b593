import type { Clock } from '../../base/clock.ts';

/** Maximum delay of a Node timer (2^31-1 ms, rounded down). Longer waits use several timers. */
const LONGEST_TIMER_MS = 2_147_000_000;

interface Alarm {
  readonly dueMs: number;
  readonly wake: () => void;
  timer: NodeJS.Timeout | undefined;
}

function arm(alarm: Alarm): void {
  const leftMs = alarm.dueMs - performance.now();
  alarm.timer =
    leftMs > LONGEST_TIMER_MS
      ? setTimeout(arm, LONGEST_TIMER_MS, alarm)
      : setTimeout(fire, Math.max(0, Math.ceil(leftMs)), alarm);
}

/** Fires a timer. Node may call it a fraction of a millisecond early, but state machines rely on `monotonicMs() >= dueMs`. */
function fire(alarm: Alarm): void {
  if (performance.now() < alarm.dueMs) alarm.timer = setTimeout(fire, 1, alarm);
  else alarm.wake();
}

/** Real-time clock of the running service. */
export const systemClock: Clock = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
  at(dueMs, wake) {
    const alarm: Alarm = { dueMs, wake, timer: undefined };
    arm(alarm);
    return () => clearTimeout(alarm.timer);
  },
  sleep(ms, signal) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const onAbort = (): void => {
        cancel();
        reject(signal?.reason);
      };
      const cancel = systemClock.at(performance.now() + ms, () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      });
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  },
};
