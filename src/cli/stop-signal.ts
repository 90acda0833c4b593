/** Time in ms in which further signals count as the first: a wrapper and the process group can both send one. */
const SAME_SIGNAL_MS = 500;
let serving = 0;

/** Whether the command runs until a signal. */
export const isServing = (): boolean => serving > 0;

/**
 * Resolves at SIGINT or SIGTERM, and at SIGHUP if the terminal was closed. A later signal ends the process immediately.
 */
export function untilStopped(): Promise<void> {
  const signals: NodeJS.Signals[] = ['SIGINT', 'SIGTERM'];
  if (process.stdout.isTTY) signals.push('SIGHUP');
  serving += 1;
  return new Promise((resolve) => {
    const stop = (): void => {
      resolve();
      setTimeout(() => {
        for (const signal of signals) process.off(signal, stop);
      }, SAME_SIGNAL_MS).unref();
    };
    for (const signal of signals) process.on(signal, stop);
  });
}
