import { type Flow, flowKey } from './flow.ts';

/** Longer than the longest time between two registrations of a phone. */
const KEPT_MS = 7_500_000;
const MAX_KEPT = 65_536;

/** Flows of peers that proved who they are, or that we spoke to first. Bounded: the one not met for longest is forgotten. */
export class Acquaintances {
  readonly #metMs = new Map<string, number>();

  met(flow: Flow, nowMs: number): void {
    const key = flowKey(flow);
    this.#metMs.delete(key);
    this.#metMs.set(key, nowMs);
    if (this.#metMs.size <= MAX_KEPT) return;
    for (const oldest of this.#metMs.keys()) {
      this.#metMs.delete(oldest);
      return;
    }
  }

  knows(flow: Flow, nowMs: number): boolean {
    const metMs = this.#metMs.get(flowKey(flow));
    return metMs !== undefined && nowMs - metMs < KEPT_MS;
  }
}
