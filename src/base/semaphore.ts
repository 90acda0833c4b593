/** Gives the slot back. Further calls do nothing. */
export type Release = () => void;

/** Reason why a slot was not given: too many wait, or the signal was aborted. */
export type AcquireRefusal = 'queueFull' | 'aborted';

/** Limits how much work runs at the same time. More work waits, first come first served, up to a limit. */
export class Semaphore {
  readonly #slots: number;
  readonly #maxWaiting: number;
  readonly #waiting = new Set<(release: Release) => void>();
  #running = 0;

  /** `slots`: maximum running. `maxWaiting`: maximum waiting. */
  constructor({ slots, maxWaiting }: { readonly slots: number; readonly maxWaiting: number }) {
    this.#slots = slots;
    this.#maxWaiting = maxWaiting;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Takes a slot without waiting. Undefined if none is free. */
  tryAcquire(): Release | undefined {
    if (this.#running >= this.#slots) return undefined;
    this.#running += 1;
    return this.#release();
  }

  /** Waits for a slot. Resolves with the function that gives it back, or with the reason of a refusal. */
  acquire(signal?: AbortSignal): Promise<Release | AcquireRefusal> {
    if (signal?.aborted === true) return Promise.resolve('aborted');
    const free = this.tryAcquire();
    if (free !== undefined) return Promise.resolve(free);
    if (this.#waiting.size >= this.#maxWaiting) return Promise.resolve('queueFull');
    return new Promise((resolve) => {
      const settle = (outcome: Release | AcquireRefusal): void => {
        signal?.removeEventListener('abort', abort);
        this.#waiting.delete(settle);
        resolve(outcome);
      };
      const abort = (): void => settle('aborted');
      signal?.addEventListener('abort', abort, { once: true });
      this.#waiting.add(settle);
    });
  }

  #release(): Release {
    let released = false;
    return () => {
      if (released) return;
      released = true;
      const [next] = this.#waiting;
      // The slot passes to the next in the queue, so `running` stays the same.
      if (next === undefined) this.#running -= 1;
      else next(this.#release());
    };
  }
}
