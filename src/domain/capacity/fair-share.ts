/**
 * Things with a limit that several accounts use (a carrier, this node): each account has its share, by what it was itself
 * given, and may wait a moment for its turn. Who has used less of its own goes first, so that nobody's loop takes a
 * neighbour's calls.
 */
import type { Clock } from '../../base/clock.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { Pool, type ShareRefusal, type Sharer, type Turn } from './pool.ts';
import type { CapacityLimits, CapacitySlot } from './types.ts';

export type { ShareRefusal, Sharer } from './pool.ts';

/** One limited thing. */
export interface Place {
  readonly key: string;
  readonly limits: CapacityLimits;
}

export interface Taken {
  /** Which of the places. */
  readonly index: number;
  readonly slot: CapacitySlot;
  readonly waitedMs: number;
}

export interface Full {
  /** Of each place, in their order. */
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

  /** Why `sharer` could not start now; undefined: it could. */
  refusal(place: Place, sharer: Sharer): ShareRefusal | undefined {
    return this.#pool(place).refusal(sharer);
  }

  /** Now or not at all. Overtakes nobody who waits and has used less. */
  take(place: Place, sharer: Sharer): Result<CapacitySlot, ShareRefusal> {
    const pool = this.#pool(place);
    const refusal = pool.refusal(sharer);
    return refusal === undefined ? ok(pool.start(sharer)) : err(refusal);
  }

  /**
   * The first of `places` that has room for `sharer`; when none has, the one that has it first, within `waitMs`. An abort
   * ends the wait like its time does.
   */
  async wait(
    places: readonly Place[],
    sharer: Sharer,
    { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal },
  ): Promise<Result<Taken, Full>> {
    const refusals: ShareRefusal[] = [];
    for (const [index, place] of places.entries()) {
      const taken = this.take(place, sharer);
      if (taken.ok) return ok({ index, slot: taken.value, waitedMs: 0 });
      refusals.push(taken.error);
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
        signal.removeEventListener('abort', giveUp);
        for (const { pool, turn } of turns) pool.leave(turn);
        resolve(taken);
      };
      const giveUp = (): void => settle(undefined);
      const cancel = this.#clock.at(this.#clock.monotonicMs() + waitMs, giveUp);
      signal.addEventListener('abort', giveUp, { once: true });
      for (const [index, place] of places.entries()) {
        if (isSettled) return;
        const pool = this.#pool(place);
        const turn: Turn = { sharer, granted: (slot) => settle({ index, slot }) };
        if (pool.join(turn)) turns.push({ pool, turn });
      }
      if (turns.length === 0 && !isSettled) giveUp();
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
