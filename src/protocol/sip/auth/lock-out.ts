import { RecentMap } from '../../../base/recent-map.ts';
import { type Flow, flowKey, peerOf } from '../transport/flow.ts';
import { DEFAULT_FAILURE_LIMITS, FailureLimit, type FailureLimits } from './failure-limit.ts';

/** How many times more failures one flow may have for all users, and one address for one user, than one flow for one user. */
const WIDER = 5;
const MAX_PROVEN = 20_000;

/** `lasting`: by failures of the flow itself. Otherwise by those of other flows of its address: it may try again. */
export interface Lock {
  readonly forMs: number;
  readonly lasting: boolean;
}

/**
 * Refuses sources for a while from which passwords were guessed. Failures count for each flow (address and port, or
 * connection) and user. A phone that has proved its password on its flow is locked out by failures of that flow alone,
 * whatever others behind the same address do. Many failures for one user from one address also lock new flows of that
 * address out for that user; those are told to try again later.
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

  /** Undefined: it is heard. */
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
