import { RecentMap } from '../../../base/recent-map.ts';
import { type Flow, flowKey } from './flow.ts';

/** Retention in milliseconds, longer than the longest registration interval of a phone. */
const RETENTION_MS = 7_500_000;
const MAX_KEPT = 65_536;

/** Flows of peers that authenticated or that we contacted first. Bounded: inactive peers expire. */
export class KnownPeers {
  readonly #metMs = new RecentMap<number>(MAX_KEPT);

  met(flow: Flow, nowMs: number): void {
    this.#metMs.set(flowKey(flow), nowMs);
  }

  knows(flow: Flow, nowMs: number): boolean {
    const metMs = this.#metMs.get(flowKey(flow));
    return metMs !== undefined && nowMs - metMs < RETENTION_MS;
  }
}
