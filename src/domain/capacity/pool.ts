/** One shared limit. Tracks the usage of each account and the waiting calls, and decides which call is served next. */

import type { Clock } from '../../base/clock.ts';
import type { AccountId } from '../../base/ids.ts';
import type { CapacityLimits, CapacitySlot } from './types.ts';

/** An account and its own limits, which are its weight among the accounts that share a pool. */
export interface Sharer {
  readonly accountId: AccountId;
  readonly limits: CapacityLimits;
}

export interface ShareRefusal {
  /** `share`: the free slots are reserved for an account below its share, or for a waiting account with no larger usage. */
  readonly kind: 'concurrency' | 'cps' | 'share';
  /** Shared limit: calls per second for `cps`, otherwise concurrent calls. */
  readonly limit: number;
  readonly retryAfterMs: number;
}

/** A waiting call. */
export interface Turn {
  readonly sharer: Sharer;
  readonly granted: (slot: CapacitySlot) => void;
}

interface Usage {
  sharer: Sharer;
  running: number;
  /** Calls started within the last second. */
  recent: number;
  lastMs: number;
  /** Waiting calls, longest wait first. */
  readonly waiting: Turn[];
}

interface Start {
  readonly atMs: number;
  readonly usage: Usage;
}

class Slot implements CapacitySlot {
  readonly #pool: Pool;
  readonly #start: Start;
  #held = true;

  constructor(pool: Pool, start: Start) {
    this.#pool = pool;
    this.#start = start;
  }

  release(): void {
    if (!this.#held) return;
    this.#held = false;
    this.#pool.end(this.#start);
  }

  undo(): void {
    if (this.#held) this.#pool.forgetStart(this.#start);
    this.release();
  }
}

const SECOND_MS = 1000;
/** Time for which an idle account still counts when shares are computed, since its last call or wait. */
const REMEMBERED_MS = 3_600_000;
const MAX_REMEMBERED = 10_000;
const MAX_WAITING = 2000;
const MAX_WAITING_PER_ACCOUNT = 200;
/** Smallest limit for which slots are reserved for accounts below their share. */
const LEAST_TO_KEEP = 4;

export class Pool {
  limits: CapacityLimits = { concurrentCalls: 0, cps: 0 };
  readonly #clock: Clock;
  /** Usage per account, longest idle first. */
  readonly #usages = new Map<string, Usage>();
  /** Starts of the last second, oldest first. */
  readonly #starts: Start[] = [];
  #running = 0;
  #waiting = 0;
  #cancelWake: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get running(): number {
    return this.#running;
  }

  refusal(sharer: Sharer): ShareRefusal | undefined {
    const { concurrentCalls, cps } = this.limits;
    if (this.#running >= concurrentCalls) {
      return { kind: 'concurrency', limit: concurrentCalls, retryAfterMs: SECOND_MS };
    }
    if (this.#recentStarts() >= cps) {
      return { kind: 'cps', limit: cps, retryAfterMs: this.#untilNextMs() };
    }
    if (this.#isRetained(sharer) || this.#wouldOvertake(sharer)) {
      return { kind: 'share', limit: concurrentCalls, retryAfterMs: SECOND_MS };
    }
    return undefined;
  }

  start(sharer: Sharer): CapacitySlot {
    const usage = this.#usage(sharer);
    const start = { atMs: this.#clock.monotonicMs(), usage };
    this.#starts.push(start);
    this.#running += 1;
    usage.running += 1;
    usage.recent += 1;
    return new Slot(this, start);
  }

  /** Ends the call of `start` and serves waiting calls. */
  end({ usage }: Start): void {
    this.#running -= 1;
    usage.running -= 1;
    this.#serve();
  }

  /** Removes a start whose call was never placed. */
  forgetStart(start: Start): void {
    const at = this.#starts.indexOf(start);
    if (at < 0) return;
    this.#starts.splice(at, 1);
    start.usage.recent -= 1;
  }

  /** Adds a waiting call. Returns false if too many calls wait. `granted` may run before this method returns. */
  join(turn: Turn): boolean {
    const { waiting } = this.#usage(turn.sharer);
    if (this.#waiting >= MAX_WAITING || waiting.length >= MAX_WAITING_PER_ACCOUNT) return false;
    waiting.push(turn);
    this.#waiting += 1;
    this.#serve();
    return true;
  }

  leave(turn: Turn): void {
    const waiting = this.#usages.get(turn.sharer.accountId)?.waiting ?? [];
    const at = waiting.indexOf(turn);
    if (at < 0) return;
    waiting.splice(at, 1);
    this.#waiting -= 1;
  }

  // ---------------------------------------------------------------- scheduling

  /** Grants free slots. Considers the first waiting call of each account; the account with the smallest usage goes first. */
  #serve(): void {
    while (this.#waiting > 0) {
      if (this.#running >= this.limits.concurrentCalls) break;
      if (this.#recentStarts() >= this.limits.cps) break;
      const turn = this.#next();
      if (turn === undefined) break;
      this.leave(turn);
      turn.granted(this.start(turn.sharer));
    }
    this.#wakeInTime();
  }

  #next(): Turn | undefined {
    let best: { readonly turn: Turn; readonly used: number } | undefined;
    for (const { waiting } of this.#usages.values()) {
      const [turn] = waiting;
      if (turn === undefined || this.#isRetained(turn.sharer)) continue;
      const used = this.#used(turn.sharer);
      if (best === undefined || used < best.used) best = { turn, used };
    }
    return best?.turn;
  }

  #wouldOvertake(sharer: Sharer): boolean {
    if (this.#waiting === 0) return false;
    const next = this.#next();
    return next !== undefined && this.#used(next.sharer) <= this.#used(sharer);
  }

  /** Returns an account's usage relative to its own limits: active calls plus starts within the last second. */
  #used({ accountId, limits }: Sharer): number {
    const { recent = 0, running = 0 } = this.#usages.get(accountId) ?? {};
    return recent / Math.max(1, limits.cps) + running / Math.max(1, limits.concurrentCalls);
  }

  /** Returns whether the free slots are reserved. The last tenth is reserved for accounts below their share. */
  #isRetained(sharer: Sharer): boolean {
    const { concurrentCalls } = this.limits;
    if (concurrentCalls < LEAST_TO_KEEP) return false;
    if (this.#running < concurrentCalls - Math.ceil(concurrentCalls / 10)) return false;
    const own = this.#usages.get(sharer.accountId)?.running ?? 0;
    return own >= this.#shareOf(sharer);
  }

  #shareOf({ accountId, limits }: Sharer): number {
    const sinceMs = this.#clock.monotonicMs() - REMEMBERED_MS;
    let others = 0;
    for (const usage of this.#usages.values()) {
      const isPresent = usage.running > 0 || usage.lastMs >= sinceMs;
      if (usage.sharer.accountId === accountId || !isPresent) continue;
      others += usage.sharer.limits.concurrentCalls;
    }
    const own = Math.max(1, limits.concurrentCalls);
    return Math.max(1, (this.limits.concurrentCalls * own) / (own + others));
  }

  // ---------------------------------------------------------------- bookkeeping

  /** Returns the number of calls started within the last second. */
  #recentStarts(): number {
    const sinceMs = this.#clock.monotonicMs() - SECOND_MS;
    let old = 0;
    for (const { atMs, usage } of this.#starts) {
      if (atMs > sinceMs) break;
      usage.recent -= 1;
      old += 1;
    }
    if (old > 0) this.#starts.splice(0, old);
    return this.#starts.length;
  }

  #untilNextMs(): number {
    const [oldest] = this.#starts;
    const dueMs = (oldest?.atMs ?? this.#clock.monotonicMs()) + SECOND_MS;
    return Math.max(1, dueMs - this.#clock.monotonicMs());
  }

  /**
   * Schedules the next attempt to serve waiting calls, for a `cps` limit or a raised limit. Ended calls trigger it
   * themselves.
   */
  #wakeInTime(): void {
    this.#cancelWake?.();
    this.#cancelWake = undefined;
    if (this.#waiting === 0) return;
    const wakeMs = this.#clock.monotonicMs() + this.#untilNextMs();
    this.#cancelWake = this.#clock.at(wakeMs, () => this.#serve());
  }

  #usage(sharer: Sharer): Usage {
    const { accountId } = sharer;
    const known = this.#usages.get(accountId);
    const usage = known ?? { sharer, running: 0, recent: 0, lastMs: 0, waiting: [] };
    usage.sharer = sharer;
    usage.lastMs = this.#clock.monotonicMs();
    this.#usages.delete(accountId);
    this.#usages.set(accountId, usage);
    if (this.#usages.size > MAX_REMEMBERED) this.#forget();
    return usage;
  }

  #forget(): void {
    for (const [accountId, { running, recent, waiting }] of this.#usages) {
      if (running > 0 || recent > 0 || waiting.length > 0) continue;
      this.#usages.delete(accountId);
      return;
    }
  }
}
