import type { Clock } from '../../base/clock.ts';
import { RecentRate } from './recent-rate.ts';

/** Token bucket size: the number of seconds of rate that may start in a burst, and its minimum in calls. */
const BURST_S = 0.1;
const BURST_LEAST = 10;
/**
 * Maximum age of a request while a limit is active. Older requests are refused, because the caller has retransmitted
 * by then (RFC 3261 Timer A).
 */
const LONGEST_WAIT_MS = 1000;
/** Fraction of the token bucket that is reserved for known peers. */
const KEPT_FOR_KNOWN = 0.5;

/** A request to start a call. */
export interface Asking {
  /** Time since the request reached this machine. */
  readonly waitedMs: number;
  /** True if the peer authenticated before or is a carrier. */
  readonly isKnown: boolean;
  /** True if the queue ahead of the request is too long. */
  readonly isTooMany?: boolean;
}

const OWN: Asking = { waitedMs: 0, isKnown: true };

/** Limits the new calls per second that this node accepts over SIP and REST together. Unlimited until a limit is set. */
export class NewCalls {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #recent: RecentRate;
  #perSecond: number | undefined;
  #tokens = 0;
  #atMs = 0;
  #begun = 0;
  #refused = 0;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
    this.#recent = new RecentRate(clock);
  }

  /** Limit in calls per second. Undefined: unlimited. */
  get perSecond(): number | undefined {
    return this.#perSecond;
  }

  /** Whether the next request would be refused. Reading it does not count as a request. */
  get isFull(): boolean {
    if (this.#perSecond === undefined) return false;
    this.#refill();
    return this.#tokens < 1;
  }

  /** Returns the calls started, and those refused because of the limit, since the process started. */
  counts(): { readonly begun: number; readonly refused: number } {
    return { begun: this.#begun, refused: this.#refused };
  }

  /** New calls per second, averaged over the last 10 s. */
  get recentPerSecond(): number {
    return this.#recent.perSecond();
  }

  limit(perSecond: number | undefined): void {
    this.#refill();
    const isFirst = this.#perSecond === undefined;
    this.#perSecond = perSecond;
    this.#tokens = isFirst ? this.#most() : Math.min(this.#tokens, this.#most());
  }

  /** Returns whether a call may start now. Counts a refusal; the caller reports a start with `begin`. */
  mayBegin({ waitedMs, isKnown, isTooMany }: Asking = OWN): boolean {
    if (isTooMany) {
      this.#refused += 1;
      return false;
    }
    if (this.#perSecond === undefined) return true;
    this.#refill();
    const retained = isKnown ? 0 : this.#most() * KEPT_FOR_KNOWN;
    if (waitedMs <= LONGEST_WAIT_MS && this.#tokens - retained >= 1) return true;
    this.#refused += 1;
    return false;
  }

  begin(): void {
    this.#begun += 1;
    this.#recent.add();
    if (this.#perSecond !== undefined) this.#tokens -= 1;
  }

  /** Combines `mayBegin` and `begin`. Returns false if no call may start now. */
  take(): boolean {
    const may = this.mayBegin();
    if (may) this.begin();
    return may;
  }

  #most(): number {
    return this.#perSecond === 0 ? 0 : Math.max(BURST_LEAST, (this.#perSecond ?? 0) * BURST_S);
  }

  #refill(): void {
    const nowMs = this.#clock.monotonicMs();
    const gained = ((nowMs - this.#atMs) * (this.#perSecond ?? 0)) / 1000;
    this.#tokens = Math.min(this.#most(), this.#tokens + gained);
    this.#atMs = nowMs;
  }
}
