import type { Clock } from './clock.ts';
import type { Machine } from './machine.ts';

export interface Driver<Input> {
  notify(input: Input): void;
  stop(): void;
}

/** Runs a machine on a clock: schedules one timer for its earliest deadline and passes its outputs to `act` in order. */
export function drive<Input, Output>(
  machine: Machine<Input, Output>,
  clock: Clock,
  act: (output: Output) => void,
): Driver<Input> {
  let cancel: (() => void) | undefined;
  let armedMs: number | undefined;
  let stopped = false;
  const rearm = (): void => {
    const deadline = stopped ? undefined : machine.deadlineMs();
    if (deadline === armedMs) return;
    cancel?.();
    cancel = undefined;
    armedMs = deadline;
    if (deadline === undefined) return;
    cancel = clock.at(deadline, () => {
      cancel = undefined;
      armedMs = undefined;
      for (const output of machine.expire(clock.monotonicMs())) act(output);
      rearm();
    });
  };
  return {
    notify(input) {
      if (stopped) return;
      for (const output of machine.handle(input, clock.monotonicMs())) act(output);
      rearm();
    },
    stop() {
      stopped = true;
      rearm();
    },
  };
}
