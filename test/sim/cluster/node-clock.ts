/** Clocks of one process. Its wall clock has an offset, and external events wait while the process is paused. */
import type { Clock } from '../../../src/base/clock.ts';
import { type SimClock, sleepBy } from '../clock.ts';

export class NodeClock implements Clock {
  /** Offset of the wall clock in milliseconds. */
  offsetMs: number;
  readonly #base: SimClock;
  #state: 'runs' | 'still' | 'dead' = 'runs';
  #held: (() => void)[] = [];

  constructor(base: SimClock, offsetMs: number) {
    this.#base = base;
    this.offsetMs = offsetMs;
  }

  get isDead(): boolean {
    return this.#state === 'dead';
  }

  monotonicMs(): number {
    return this.#base.monotonicMs();
  }

  wallMs(): number {
    return this.#base.wallMs() + this.offsetMs;
  }

  at(dueMs: number, wake: () => void): () => void {
    let isCancelled = false;
    const cancel = this.#base.at(dueMs, () =>
      this.reach(() => {
        if (!isCancelled) wake();
      }),
    );
    return () => {
      isCancelled = true;
      cancel();
    };
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepBy(this, ms, signal);
  }

  /** Delivers an external event: now, when the process resumes, or never. */
  reach(act: () => void): void {
    if (this.#state === 'runs') act();
    else if (this.#state === 'still') this.#held.push(act);
  }

  /** Pauses the process, as SIGSTOP or a virtual machine migration does. */
  stand(): void {
    if (this.#state === 'runs') this.#state = 'still';
  }

  goOn(): void {
    if (this.#state !== 'still') return;
    this.#state = 'runs';
    const held = this.#held;
    this.#held = [];
    for (const act of held) this.reach(act);
  }

  /** `kill -9`. */
  die(): void {
    this.#state = 'dead';
    this.#held = [];
  }
}
