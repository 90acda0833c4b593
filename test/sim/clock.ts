import type { Clock } from '../../src/base/clock.ts';

interface Wake {
  readonly dueMs: number;
  readonly order: number;
  readonly wake: () => void;
}

/** Virtual time: nothing moves until a test advances it. Promise continuations run between wake-ups. */
export class SimClock implements Clock {
  /** Wake-ups come so much too late, as on a machine that has too much to do. */
  lateMs = 0;
  #nowMs = 0;
  #order = 0;
  #wallStartMs: number;
  readonly #wakes = new Set<Wake>();

  constructor(wallStartMs = Date.UTC(2026, 0, 1)) {
    this.#wallStartMs = wallStartMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return this.#wallStartMs + this.#nowMs;
  }

  /** Somebody sets the wall clock, forwards or back. */
  stepWall(ms: number): void {
    this.#wallStartMs += ms;
  }

  at(dueMs: number, wake: () => void): () => void {
    const entry = { dueMs, order: this.#order++, wake };
    this.#wakes.add(entry);
    return () => this.#wakes.delete(entry);
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepBy(this, ms, signal);
  }

  /** The earliest wake-up asked for, in monotonic milliseconds. */
  nextMs(): number | undefined {
    let next: number | undefined;
    for (const { dueMs } of this.#wakes) if (next === undefined || dueMs < next) next = dueMs;
    return next;
  }

  /** Moves time on by `ms`, firing what falls due in order and letting promises settle after each. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    await settle();
    for (;;) {
      const due = [...this.#wakes].filter((entry) => entry.dueMs <= endMs);
      due.sort((a, b) => a.dueMs - b.dueMs || a.order - b.order);
      const first = due[0];
      if (first === undefined) break;
      this.#wakes.delete(first);
      this.#nowMs = Math.max(this.#nowMs, first.dueMs + this.lateMs);
      first.wake();
      await settle();
    }
    this.#nowMs = Math.max(this.#nowMs, endMs);
    await settle();
  }
}

/** `Clock.sleep` over `Clock.at`. */
export function sleepBy(
  clock: Pick<Clock, 'at' | 'monotonicMs'>,
  ms: number,
  signal?: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = (): void => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.at(clock.monotonicMs() + ms, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** Lets every promise continuation that is ready run, and those that it makes ready. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 20; i += 1) await Promise.resolve();
  await new Promise<void>((resolve) => setImmediate(resolve));
}
