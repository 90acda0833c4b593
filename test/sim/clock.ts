import type { Clock } from '../../src/base/clock.ts';

interface Wake {
  readonly dueMs: number;
  readonly order: number;
  readonly wake: () => void;
}

/** Virtual time, which only a test advances. Promise continuations run between wakeups. */
export class SimClock implements Clock {
  /** Delay of each wakeup in milliseconds, as on an overloaded machine. */
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

  /** Sets the wall clock forwards or back. */
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

  /** Earliest requested wakeup in monotonic milliseconds. */
  nextMs(): number | undefined {
    let next: number | undefined;
    for (const { dueMs } of this.#wakes) if (next === undefined || dueMs < next) next = dueMs;
    return next;
  }

  /** Advances time by `ms`. Fires due wakeups in order and lets promises settle after each. */
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

/** `Clock.sleep` based on `Clock.at`. */
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

/** Runs all promise continuations that are ready, including those that they make ready. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 20; i += 1) await Promise.resolve();
  await new Promise<void>((resolve) => setImmediate(resolve));
}
