/** One rate of calls against one server: what it costs, and whether every call was what it should be. */
import { setTimeout as pause } from 'node:timers/promises';
import { cpuOf, rssMib, threadsBetween } from './accounting.ts';
import { type Callee, type CallerRun, placeCalls } from './sipp.ts';

/** Time after the last BYE that is part of the measurement: settlement and callbacks. */
const AFTERWARDS_MS = 2000;
const HOLD_MS = 1000;

export interface StepOptions {
  readonly pid: number;
  readonly port: number;
  readonly number: string;
  readonly folder: string;
  readonly callee: Callee;
  readonly rate: number;
  readonly seconds: number;
  readonly trace?: boolean;
}

export interface Step extends CallerRun {
  readonly rate: number;
  readonly calls: number;
  /** Completed at the other end. */
  readonly answered: number;
  /** CPU of the whole process tree. */
  readonly msPerCall: number;
  /** Share of its core while calls came. */
  readonly core: number;
  readonly threads: readonly { readonly name: string; readonly ms: number }[];
  readonly rssMib: number;
}

export async function step(options: StepOptions): Promise<Step> {
  const { pid, rate, callee } = options;
  const calls = Math.round(rate * options.seconds);
  const [heardBefore, before] = [callee.counted(), cpuOf(pid)];
  const run = await placeCalls({ ...options, calls, holdMs: HOLD_MS });
  await pause(AFTERWARDS_MS);
  const after = cpuOf(pid);
  const spentMs = after.ms - before.ms;
  return {
    ...run,
    rate,
    calls,
    answered: callee.counted().completed - heardBefore.completed,
    msPerCall: spentMs / calls,
    core: spentMs / run.wallMs,
    threads: threadsBetween(before, after).map(({ name, ms }) => ({ name, ms: ms / calls })),
    rssMib: rssMib(pid),
  };
}

export function isClean({ completed, answered, calls, failed, refused }: Step): boolean {
  return completed === calls && answered === calls && failed === 0 && refused === 0;
}

/** Returns the text for the note of a row. */
export function describe(one: Step): string {
  const threads = one.threads
    .filter(({ ms }) => ms >= 0.05)
    .map(({ name, ms }) => `${name} ${ms.toFixed(2)}`);
  const outcome = isClean(one)
    ? `all ${one.calls} completed`
    : `${one.completed} of ${one.calls} completed, ${one.answered} at the callee, ${one.refused} refused with 503, ${one.failed} failed`;
  const again = one.retransmissions > 0 ? `, ${one.retransmissions} retransmissions` : '';
  return `${outcome}${again}; core ${one.core.toFixed(2)}, RSS ${Math.round(one.rssMib)} MiB; threads: ${threads.join(', ')}`;
}
