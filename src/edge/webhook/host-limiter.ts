/** Limits simultaneous and queued requests per host, so that an unresponsive host delays only its own requests. */
import { type AcquireRefusal, type Release, Semaphore } from '../../base/semaphore.ts';

export type SlotRefusal = AcquireRefusal | 'waitedTooLong';

export interface HostLimits {
  readonly perHost: number;
  readonly queuedPerHost: number;
}

export class HostLimiter {
  readonly #limits: HostLimits;
  readonly #hosts = new Map<string, Semaphore>();

  constructor(limits: HostLimits) {
    this.#limits = limits;
  }

  /** Number of hosts with requests, and of running and waiting requests; for metrics. */
  counts(): { readonly hosts: number; readonly running: number; readonly waiting: number } {
    let running = 0;
    let waiting = 0;
    for (const host of this.#hosts.values()) {
      running += host.running;
      waiting += host.waiting;
    }
    return { hosts: this.#hosts.size, running, waiting };
  }

  /** Resolves with a function that releases the slot, or with the reason of a refusal. */
  async acquire(
    origin: string,
    maxWaitMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Release | SlotRefusal> {
    const host = this.#hostOf(origin);
    const free = signal?.aborted === true ? undefined : host.tryAcquire();
    if (free !== undefined) return this.#released(origin, host, free);
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), maxWaitMs);
    const either = signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]);
    const slot = await host.acquire(either);
    clearTimeout(timer);
    if (typeof slot !== 'string') return this.#released(origin, host, slot);
    this.#forgetIdle(origin, host);
    return slot === 'aborted' && signal?.aborted !== true ? 'waitedTooLong' : slot;
  }

  #hostOf(origin: string): Semaphore {
    let host = this.#hosts.get(origin);
    if (host === undefined) {
      const { perHost, queuedPerHost } = this.#limits;
      host = new Semaphore({ slots: perHost, maxWaiting: queuedPerHost });
      this.#hosts.set(origin, host);
    }
    return host;
  }

  #released(origin: string, host: Semaphore, release: Release): Release {
    return () => {
      release();
      this.#forgetIdle(origin, host);
    };
  }

  #forgetIdle(origin: string, host: Semaphore): void {
    if (host.running === 0) this.#hosts.delete(origin);
  }
}
