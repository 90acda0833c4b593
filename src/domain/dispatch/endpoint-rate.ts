import type { Clock } from '../../base/clock.ts';
import type { EndpointId } from '../../base/ids.ts';

const MINUTE_MS = 60_000;
/** Maximum number of tracked endpoints; beyond that, the least recently active one is dropped. */
const MAX_ENDPOINTS = 100_000;

/** Limits calls per minute and endpoint (sliding window), to contain abuse of stolen passwords. */
export class EndpointRate {
  readonly #starts = new Map<EndpointId, number[]>();
  readonly #clock: Clock;
  readonly #perMinute: number;

  constructor(clock: Clock, perMinute: number) {
    this.#clock = clock;
    this.#perMinute = perMinute;
  }

  /** Counts a call start. Returns false if the limit is exceeded. */
  take(endpointId: EndpointId): boolean {
    const nowMs = this.#clock.monotonicMs();
    const recent = (this.#starts.get(endpointId) ?? []).filter((at) => at > nowMs - MINUTE_MS);
    const free = recent.length < this.#perMinute;
    if (free) recent.push(nowMs);
    this.#starts.delete(endpointId);
    this.#starts.set(endpointId, recent);
    if (this.#starts.size > MAX_ENDPOINTS) {
      const [oldest] = this.#starts.keys();
      if (oldest !== undefined) this.#starts.delete(oldest);
    }
    return free;
  }
}
