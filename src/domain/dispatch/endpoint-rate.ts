import type { Clock } from '../../base/clock.ts';
import type { EndpointId } from '../../base/ids.ts';

const MINUTE_MS = 60_000;
/** Endpoints remembered at once; beyond, the longest idle one is forgotten. */
const MAX_ENDPOINTS = 100_000;

/** How many calls each endpoint has started within the last minute: a stolen password cannot dial without end. */
export class EndpointRate {
  readonly #starts = new Map<EndpointId, number[]>();
  readonly #clock: Clock;
  readonly #perMinute: number;

  constructor(clock: Clock, perMinute: number) {
    this.#clock = clock;
    this.#perMinute = perMinute;
  }

  /** False: one call too many. */
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
