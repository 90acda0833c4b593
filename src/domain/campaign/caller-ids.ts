/** Chooses the next caller id of a pool (dialect §3.11, caller id strategies). */
import type { Random } from '../../base/ids.ts';
import type { PoolNumber, PoolRules } from './types.ts';
import { dayOf } from './zoned-time.ts';

export type Turn =
  | { readonly kind: 'number'; readonly id: string; readonly number: string; readonly day: string }
  /** All that may be used are in their cooldown. */
  | { readonly kind: 'wait'; readonly untilUs: number }
  | { readonly kind: 'dailyLimit' | 'exhausted' };

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
  /** Index of the number used last. */
  #turn = -1;

  constructor(
    numbers: readonly PoolNumber[],
    rules: PoolRules,
    given: { readonly timezone: string; readonly random: Random },
  ) {
    this.#numbers = numbers.map((number) => ({ ...number }));
    this.#rules = rules;
    this.#timezone = given.timezone;
    this.#random = given.random;
    const lastUsedUs = Math.max(0, ...numbers.map((number) => number.lastUsedUs ?? 0));
    this.#turn = numbers.findIndex((number) => number.lastUsedUs === lastUsedUs);
  }

  /** The next number, without using it. */
  peek(nowUs: number): Turn {
    const { maxCalls, maxCallsPerDay, cooldownMs } = this.#rules;
    const day = dayOf(nowUs, this.#timezone);
    const lasting = this.#numbers.filter(
      ({ totalCalls }) => maxCalls === undefined || totalCalls < maxCalls,
    );
    if (lasting.length === 0) return { kind: 'exhausted' };
    const today = lasting.filter(
      (number) => maxCallsPerDay === undefined || callsOn(number, day) < maxCallsPerDay,
    );
    if (today.length === 0) return { kind: 'dailyLimit' };
    const coolUs = ({ lastUsedUs }: Used): number =>
      lastUsedUs === undefined ? 0 : lastUsedUs + cooldownMs * 1000;
    const rested = today.filter((number) => coolUs(number) <= nowUs);
    const next = this.#choose(rested);
    if (next === undefined) return { kind: 'wait', untilUs: Math.min(...today.map(coolUs)) };
    return { kind: 'number', id: next.id, number: next.number, day };
  }

  /** The next number, counted as used. */
  take(nowUs: number): Turn {
    const turn = this.peek(nowUs);
    const used = turn.kind === 'number' && this.#numbers.find(({ id }) => id === turn.id);
    if (!used) return turn;
    used.callsOfDay = callsOn(used, turn.day) + 1;
    used.day = turn.day;
    used.totalCalls += 1;
    used.lastUsedUs = nowUs;
    this.#turn = this.#numbers.indexOf(used);
    return turn;
  }

  /** Takes back a use: the call was not begun, or nobody was rung. */
  giveBack(callerId: string): void {
    const used = this.#numbers.find(({ number }) => number === callerId);
    if (used === undefined) return;
    used.callsOfDay -= 1;
    used.totalCalls -= 1;
  }

  /** No number was used since midnight. */
  isNewDay(nowUs: number): boolean {
    const day = dayOf(nowUs, this.#timezone);
    return this.#numbers.every((number) => callsOn(number, day) === 0);
  }

  #choose(rested: readonly Used[]): Used | undefined {
    switch (this.#rules.rotation) {
      case 'random':
        return rested[this.#random.integer(Math.max(1, rested.length))];
      case 'least_used':
        return rested.reduce<Used | undefined>(
          (least, number) =>
            least === undefined || number.totalCalls < least.totalCalls ? number : least,
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
