/** Chooses the next caller ID of a pool (dialect §3.11, caller id strategies). */
import type { Random } from '../../base/ids.ts';
import type { PoolHolds, PoolUse } from './pool-holds.ts';
import type { PoolNumber, PoolRules } from './types.ts';
import { dayOf, nextDayStartUs } from './zoned-time.ts';

export type Turn =
  | { readonly kind: 'number'; readonly use: PoolUse }
  /** Every usable number is cooling down until `untilUs`. */
  | { readonly kind: 'wait'; readonly untilUs: number }
  /**
   * Every number is at its limit, but calls being placed may return a use. `untilUs` is the next midnight if that
   * resets a limit.
   */
  | { readonly kind: 'held'; readonly untilUs: number }
  | { readonly kind: 'dailyLimit' | 'exhausted' };

export interface CallerIdsOptions {
  readonly timezone: string;
  readonly random: Random;
  /** Uses that the stored counters do not include yet, or that may be returned. */
  readonly holds: PoolHolds;
}

interface Used {
  readonly id: string;
  readonly number: string;
  totalCalls: number;
  day: string;
  callsOfDay: number;
  lastUsedUs: number | undefined;
}

export class CallerIds {
  readonly #numbers: Used[];
  readonly #rules: PoolRules;
  readonly #timezone: string;
  readonly #random: Random;
  readonly #holds: PoolHolds;
  /** Index of the number used last. */
  #turn = -1;

  constructor(
    numbers: readonly PoolNumber[],
    rules: PoolRules,
    { timezone, random, holds }: CallerIdsOptions,
  ) {
    this.#numbers = numbers.map((number) => ({ ...number }));
    this.#rules = rules;
    this.#timezone = timezone;
    this.#random = random;
    this.#holds = holds;
    const lastUsedUs = Math.max(0, ...numbers.map((number) => number.lastUsedUs ?? 0));
    this.#turn = numbers.findIndex((number) => number.lastUsedUs === lastUsedUs);
  }

  /** Returns the next number without reserving it. */
  peek(nowUs: number): Turn {
    const { maxCalls, maxCallsPerDay, cooldownMs } = this.#rules;
    const day = dayOf(nowUs, this.#timezone);
    const lasting = this.#numbers.filter(
      (number) => maxCalls === undefined || this.#totalOf(number) < maxCalls,
    );
    if (lasting.length === 0) return this.#spent('exhausted', Number.POSITIVE_INFINITY);
    const today = lasting.filter(
      (number) =>
        maxCallsPerDay === undefined ||
        callsOn(number, day) + this.#holds.reservedOf(number.id) < maxCallsPerDay,
    );
    if (today.length === 0) return this.#spent('dailyLimit', nextDayStartUs(nowUs, this.#timezone));
    const coolUs = (number: Used): number => {
      const usedUs = this.#holds.lastChosenUs(number.id) ?? number.lastUsedUs;
      return usedUs === undefined ? 0 : usedUs + cooldownMs * 1000;
    };
    const rested = today.filter((number) => coolUs(number) <= nowUs);
    const next = this.#choose(rested);
    if (next === undefined) return { kind: 'wait', untilUs: Math.min(...today.map(coolUs)) };
    return { kind: 'number', use: { id: next.id, number: next.number, chosenUs: nowUs } };
  }

  /** Reserves the next number. The caller must call `begun` or release the reservation. */
  take(nowUs: number): Turn {
    const turn = this.peek(nowUs);
    if (turn.kind !== 'number') return turn;
    this.#holds.reserve(turn.use);
    this.#turn = this.#numbers.findIndex(({ id }) => id === turn.use.id);
    return turn;
  }

  /** Counts a use whose attempt was stored at `nowUs` (microseconds UTC). */
  begun(use: PoolUse, nowUs: number): void {
    const used = this.#numbers.find(({ id }) => id === use.id);
    if (used === undefined) return;
    const day = dayOf(nowUs, this.#timezone);
    used.callsOfDay = callsOn(used, day) + 1;
    used.day = day;
    used.totalCalls += 1;
    used.lastUsedUs = nowUs;
  }

  /** Returns whether midnight has passed since the last use of any number. Returned uses do not change the day. */
  isNewDay(nowUs: number): boolean {
    const today = dayOf(nowUs, this.#timezone);
    return this.#numbers.every(({ day }) => day < today);
  }

  #spent(kind: 'dailyLimit' | 'exhausted', untilUs: number): Turn {
    return this.#holds.isEmpty ? { kind } : { kind: 'held', untilUs };
  }

  #totalOf({ id, totalCalls }: Used): number {
    return totalCalls + this.#holds.reservedOf(id);
  }

  #choose(rested: readonly Used[]): Used | undefined {
    switch (this.#rules.rotation) {
      case 'random':
        return rested[this.#random.integer(Math.max(1, rested.length))];
      case 'least_used':
        return rested.reduce<Used | undefined>(
          (least, number) =>
            least === undefined || this.#totalOf(number) < this.#totalOf(least) ? number : least,
          undefined,
        );
      case 'round_robin': {
        const indexOf = (number: Used): number => this.#numbers.indexOf(number);
        return rested.find((number) => indexOf(number) > this.#turn) ?? rested[0];
      }
    }
  }
}

const callsOn = ({ day, callsOfDay }: Used, today: string): number =>
  day === today ? callsOfDay : 0;
