import { RecentMap } from '../../../base/recent-map.ts';
import { type Flow, flowKey, peerOf } from '../transport/flow.ts';
import { DEFAULT_FAILURE_LIMITS, FailureLimit, type FailureLimits } from './failure-limit.ts';

/** Factor for the wider failure limits: one flow for all users, and one address for one user. */
const WIDER = 5;
const MAX_PROVEN = 20_000;

/** `lasting`: caused by failures of this flow. Otherwise caused by other flows of the address; the client may retry. */
export interface Lock {
  readonly forMs: number;
  readonly lasting: boolean;
}

/**
 * Temporarily refuses sources that guess passwords. Failures count for each flow (address and port, or connection) and
 * user. A phone that has authenticated on its flow is locked out only by failures of that flow. Many failures for one
 * user from one address also lock out new flows of that address for that user. Those flows get a retry-later response.
 */
export class LockOut {
  readonly #ofFlowAndUser: FailureLimit;
  readonly #ofFlow: FailureLimit;
  readonly #ofAddressAndUser: FailureLimit;
  readonly #proven = new RecentMap<true>(MAX_PROVEN);

  constructor(limits: FailureLimits = DEFAULT_FAILURE_LIMITS) {
    const wider = { ...limits, maxFailures: limits.maxFailures * WIDER };
    this.#ofFlowAndUser = new FailureLimit(limits);
    this.#ofFlow = new FailureLimit(wider);
    this.#ofAddressAndUser = new FailureLimit(wider);
  }

  /** Active lock of a flow and user, or undefined if requests are accepted. */
  lock(flow: Flow, username: string, nowMs: number): Lock | undefined {
    const key = flowKey(flow);
    const own =
      this.#ofFlowAndUser.blockedForMs(`${key} ${username}`, nowMs) ??
      this.#ofFlow.blockedForMs(key, nowMs);
    if (own !== undefined) return { forMs: own, lasting: true };
    if (this.#proven.get(`${key} ${username}`)) return undefined;
    const others = this.#ofAddressAndUser.blockedForMs(
      `${peerOf(flow).address} ${username}`,
      nowMs,
    );
    return others === undefined ? undefined : { forMs: others, lasting: false };
  }

  failed(flow: Flow, username: string, nowMs: number): void {
    const key = flowKey(flow);
    this.#ofFlowAndUser.note(`${key} ${username}`, nowMs);
    this.#ofFlow.note(key, nowMs);
    this.#ofAddressAndUser.note(`${peerOf(flow).address} ${username}`, nowMs);
  }

  passed(flow: Flow, username: string): void {
    this.#proven.set(`${flowKey(flow)} ${username}`, true);
  }
}
