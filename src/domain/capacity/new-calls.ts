import type { Clock } from '../../base/clock.ts';
import { RecentRate } from './recent-rate.ts';

/** Seconds' worth that may begin at once, and calls that may anyhow. */
const BURST_S = 0.1;
const BURST_LEAST = 10;
/** While there is a limit, who has waited so long for a new call is refused: by then a caller has asked a second time (RFC 3261 Timer A). */
const LONGEST_WAIT_MS = 1000;
/** Of what may begin at once, what is kept for known peers. */
const KEPT_FOR_KNOWN = 0.5;

/** One who asks whether a call may begin. */
export interface Asking {
  /** Since the request came to this machine. */
  readonly waitedMs: number;
  /** Proved who it is before, or is a carrier. */
  readonly isKnown: boolean;
  /** It would wait too long for those before it. */
  readonly isTooMany?: boolean;
}

const OWN: Asking = { waitedMs: 0, isKnown: true };

/** New calls a second that this node takes, over SIP and REST together: all, until there is a limit. */
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

  /** Undefined: no limit. */
  get perSecond(): number | undefined {
    return this.#perSecond;
  }

  /** Whether the next one who asks is refused; that is not counted as asking. */
  get isFull(): boolean {
    if (this.#perSecond === undefined) return false;
    this.#refill();
    return this.#tokens < 1;
  }

  /** Begun, and refused because of the limit, since the start. */
  counts(): { readonly begun: number; readonly refused: number } {
    return { begun: this.#begun, refused: this.#refused };
  }

  /** New calls a second, as the mean of the last ten seconds. */
  get recentPerSecond(): number {
    return this.#recent.perSecond();
  }

  limit(perSecond: number | undefined): void {
    this.#refill();
    const isFirst = this.#perSecond === undefined;
    this.#perSecond = perSecond;
    this.#tokens = isFirst ? this.#most() : Math.min(this.#tokens, this.#most());
  }

  /** Whether a call may begin now. A refusal is counted; what begins is told by `begin`. */
  mayBegin({ waitedMs, isKnown, isTooMany }: Asking = OWN): boolean {
    if (isTooMany) {
      this.#refused += 1;
      return false;
    }
    if (this.#perSecond === undefined) return true;
    this.#refill();
    const kept = isKnown ? 0 : this.#most() * KEPT_FOR_KNOWN;
    if (waitedMs <= LONGEST_WAIT_MS && this.#tokens - kept >= 1) return true;
    this.#refused += 1;
    return false;
  }

  begin(): void {
    this.#begun += 1;
    this.#recent.add();
    if (this.#perSecond !== undefined) this.#tokens -= 1;
  }

  /** Both: false when none may begin now. */
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
