import { RecentMap } from '../../../base/recent-map.ts';
import { type Flow, flowKey } from './flow.ts';

/** Longer than the longest time between two registrations of a phone. */
const KEPT_MS = 7_500_000;
const MAX_KEPT = 65_536;

/** Flows of peers that proved who they are, or that we spoke to first. Bounded: who was not met for long is forgotten. */
export class KnownPeers {
  readonly #metMs = new RecentMap<number>(MAX_KEPT);

  met(flow: Flow, nowMs: number): void {
    this.#metMs.set(flowKey(flow), nowMs);
  }

  knows(flow: Flow, nowMs: number): boolean {
    const metMs = this.#metMs.get(flowKey(flow));
    return metMs !== undefined && nowMs - metMs < KEPT_MS;
  }
}
