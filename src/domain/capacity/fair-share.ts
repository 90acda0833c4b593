/**
 * Shares the limits of a carrier or of this node among accounts, in proportion to each account's own limits. A call
 * may wait a short time for a slot. The account that uses the smallest part of its own limits goes first, so an
 * account that places calls in a loop cannot block others.
 */
import type { Clock } from '../../base/clock.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { Pool, type ShareRefusal, type Sharer, type Turn } from './pool.ts';
import type { CapacityLimits, CapacitySlot } from './types.ts';

export type { ShareRefusal, Sharer } from './pool.ts';

/** One shared limit, such as that of a carrier. */
export interface Place {
  readonly key: string;
  readonly limits: CapacityLimits;
}

export interface Taken {
  /** Index of the granted place in the list. */
  readonly index: number;
  readonly slot: CapacitySlot;
  readonly waitedMs: number;
}

export interface Full {
  /** Refusal of each place, in the order of the list. */
  readonly refusals: readonly ShareRefusal[];
  readonly waitedMs: number;
}

export class FairShare {
  readonly #clock: Clock;
  readonly #pools = new Map<string, Pool>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  running(key: string): number {
    return this.#pools.get(key)?.running ?? 0;
  }

  /** Returns why `sharer` cannot start a call now, or undefined if it can. */
  refusal(place: Place, sharer: Sharer): ShareRefusal | undefined {
    return this.#pool(place).refusal(sharer);
  }

  /** Reserves a slot without waiting. Refuses while another account waits whose relative usage is not larger. */
  take(place: Place, sharer: Sharer): Result<CapacitySlot, ShareRefusal> {
    const pool = this.#pool(place);
    const refusal = pool.refusal(sharer);
    return refusal === undefined ? ok(pool.start(sharer)) : err(refusal);
  }

  /**
   * Reserves a slot at the first of `places` that has one for `sharer`. If all are full, waits up to `waitMs` for the
   * first that becomes free. An abort ends the wait like the time limit does.
   */
  async wait(
    places: readonly Place[],
    sharer: Sharer,
    { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal },
  ): Promise<Result<Taken, Full>> {
    const refusals: ShareRefusal[] = [];
    let index = 0;
    for (const place of places) {
      const taken = this.take(place, sharer);
      if (taken.ok) return ok({ index, slot: taken.value, waitedMs: 0 });
      refusals.push(taken.error);
      index += 1;
    }
    if (waitMs <= 0 || signal.aborted) return err({ refusals, waitedMs: 0 });
    const startedMs = this.#clock.monotonicMs();
    const turn = await this.#queue(places, sharer, { waitMs, signal });
    const waitedMs = this.#clock.monotonicMs() - startedMs;
    return turn === undefined ? err({ refusals, waitedMs }) : ok({ ...turn, waitedMs });
  }

  #queue(
    places: readonly Place[],
    sharer: Sharer,
    { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal },
  ): Promise<Omit<Taken, 'waitedMs'> | undefined> {
    return new Promise((resolve) => {
      const turns: Array<{ readonly pool: Pool; readonly turn: Turn }> = [];
      let isSettled = false;
      const settle = (taken: Omit<Taken, 'waitedMs'> | undefined): void => {
        isSettled = true;
        cancel();
        signal.removeEventListener('abort', expire);
        for (const { pool, turn } of turns) pool.leave(turn);
        resolve(taken);
      };
      const expire = (): void => settle(undefined);
      const cancel = this.#clock.at(this.#clock.monotonicMs() + waitMs, expire);
      signal.addEventListener('abort', expire, { once: true });
      for (const [index, place] of places.entries()) {
        if (isSettled) return;
        const pool = this.#pool(place);
        const turn: Turn = { sharer, granted: (slot) => settle({ index, slot }) };
        if (pool.join(turn)) turns.push({ pool, turn });
      }
      if (turns.length === 0 && !isSettled) expire();
    });
  }

  #pool({ key, limits }: Place): Pool {
    let pool = this.#pools.get(key);
    if (pool === undefined) {
      pool = new Pool(this.#clock);
      this.#pools.set(key, pool);
    }
    pool.limits = limits;
    return pool;
  }
}
