/** Limits simultaneous and queued requests per host, so that an unresponsive host delays only its own requests. */

export type SlotRefusal = 'queueFull' | 'aborted' | 'waitedTooLong';

export interface HostLimits {
  readonly perHost: number;
  readonly queuedPerHost: number;
}

interface Waiter {
  readonly grant: () => void;
}

interface Host {
  running: number;
  readonly waiting: Set<Waiter>;
}

export class HostLimiter {
  readonly #limits: HostLimits;
  readonly #hosts = new Map<string, Host>();

  constructor(limits: HostLimits) {
    this.#limits = limits;
  }

  /** Number of hosts with requests, and of running and waiting requests; for metrics. */
  counts(): { readonly hosts: number; readonly running: number; readonly waiting: number } {
    let running = 0;
    let waiting = 0;
    for (const host of this.#hosts.values()) {
      running += host.running;
      waiting += host.waiting.size;
    }
    return { hosts: this.#hosts.size, running, waiting };
  }

  /** Resolves with a function that releases the slot, or with the reason of a refusal. */
  acquire(
    origin: string,
    maxWaitMs: number,
    signal: AbortSignal | undefined,
  ): Promise<(() => void) | SlotRefusal> {
    if (signal?.aborted === true) return Promise.resolve('aborted');
    const host = this.#hosts.get(origin) ?? { running: 0, waiting: new Set<Waiter>() };
    this.#hosts.set(origin, host);
    if (host.running < this.#limits.perHost) {
      host.running += 1;
      return Promise.resolve(this.#releaser(origin, host));
    }
    if (host.waiting.size >= this.#limits.queuedPerHost) return Promise.resolve('queueFull');
    return new Promise((resolve) => {
      const settle = (outcome: (() => void) | SlotRefusal): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        host.waiting.delete(waiter);
        resolve(outcome);
      };
      const waiter: Waiter = { grant: () => settle(this.#releaser(origin, host)) };
      const onAbort = (): void => settle('aborted');
      const timer = setTimeout(() => settle('waitedTooLong'), maxWaitMs);
      signal?.addEventListener('abort', onAbort, { once: true });
      host.waiting.add(waiter);
    });
  }

  #releaser(origin: string, host: Host): () => void {
    let released = false;
    return () => {
      if (released) return;
      released = true;
      const [next] = host.waiting;
      // The slot passes to the next request, so `running` stays the same.
      if (next !== undefined) next.grant();
      else {
        host.running -= 1;
        if (host.running === 0) this.#hosts.delete(origin);
      }
    };
  }
}
