import { RecentMap } from '../../../base/recent-map.ts';
import { type Flow, flowKey } from '../transport/flow.ts';
import { DEFAULT_FAILURE_LIMITS, FailureLimit, type FailureLimits } from './failure-limit.ts';

/** Failures of all flows of one address for one user, and of one flow for all users, by times of those of one flow for one user. */
const WIDER = 5;
const MAX_PROVEN = 20_000;

/** `lasting`: by its own failures. Otherwise others at the same address guessed, and it is worth trying again. */
export interface Lock {
  readonly forMs: number;
  readonly lasting: boolean;
}

/**
 * Who is not heard for a while because passwords were guessed from there. It is per source and user: a phone that proved
 * its password on its flow (address and port, or connection) is locked by nothing but its own failures, whatever its
 * neighbours behind the same address try; only many guesses for one user from one address keep new flows of that
 * address from that user, and they are told to come again.
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
    const others = this.#ofAddressAndUser.blockedForMs(`${flow.remoteAddress} ${username}`, nowMs);
    return others === undefined ? undefined : { forMs: others, lasting: false };
  }

  failed(flow: Flow, username: string, nowMs: number): void {
    const key = flowKey(flow);
    this.#ofFlowAndUser.note(`${key} ${username}`, nowMs);
    this.#ofFlow.note(key, nowMs);
    this.#ofAddressAndUser.note(`${flow.remoteAddress} ${username}`, nowMs);
  }

  passed(flow: Flow, username: string): void {
    this.#proven.set(`${flowKey(flow)} ${username}`, true);
  }
}
