import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import { type Micros, priceOf } from '../../base/money.ts';
import { ok, type Result } from '../../base/result.ts';
import { MeteredCharge, type Pulse } from './metered-charge.ts';
import type { ReserveRefusal, Use } from './types.ts';

/** What holds money for uses: the ledger. */
export interface UseHolds {
  holdUse(use: Use, amount: Micros): Promise<Result<void, ReserveRefusal>>;
  raiseUse(use: Use, amount: Micros): Promise<Result<void, ReserveRefusal>>;
}

export interface UseMeterNeeds {
  readonly ledger: UseHolds;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Reserves the pulses of one use (a recording, an utterance) while it lasts. `Ledger.chargeUse` settles it, after a crash
 * too.
 */
export class UseMeter {
  readonly #needs: UseMeterNeeds;
  readonly #use: Use;
  readonly #charge: MeteredCharge;
  #exhausted: () => void = () => undefined;
  #isOver = false;
  /** Time used before the last pause, ms. */
  #earlierMs = 0;
  /** Monotonic, ms; undefined: it has not begun, or is paused. */
  #sinceMs: number | undefined;

  private constructor(needs: UseMeterNeeds, use: Use) {
    this.#needs = needs;
    this.#use = use;
    const firstPulse = priceOf(use.rate.pulseMs, use.rate.perMinute);
    const meter = this;
    this.#charge = new MeteredCharge(
      {
        get isOver() {
          return meter.#isOver;
        },
        nextPulse: () => this.#nextPulse(),
        reserve: async (amount) => (await needs.ledger.raiseUse(use, amount)).ok,
        notReserved: (error) => {
          const { reference, accountId } = use;
          needs.logger.warn({ error, reference, accountId }, 'reservation not raised');
        },
        exhausted: () => this.#exhausted(),
      },
      needs.clock,
      firstPulse,
    );
  }

  /** Reserves the first pulse. Rejects when the store takes no writes. */
  static async open(needs: UseMeterNeeds, use: Use): Promise<Result<UseMeter, ReserveRefusal>> {
    const held = await needs.ledger.holdUse(use, priceOf(use.rate.pulseMs, use.rate.perMinute));
    return held.ok ? ok(new UseMeter(needs, use)) : held;
  }

  /** The use begins now, or begins again. `exhausted` is called when the balance does not cover its next pulse, just before it begins. */
  begin(exhausted: () => void): void {
    this.#exhausted = exhausted;
    this.#earlierMs = 0;
    this.#sinceMs = this.#needs.clock.monotonicMs();
    this.#charge.schedule();
  }

  /** Time in a pause is not charged. */
  pause(isPaused: boolean): void {
    if (isPaused === (this.#sinceMs === undefined)) return;
    const nowMs = this.#needs.clock.monotonicMs();
    this.#earlierMs = this.#usedMs(nowMs);
    this.#sinceMs = isPaused ? undefined : nowMs;
    this.#charge.schedule();
  }

  /** The use has ended. No further pulse is reserved. */
  stop(): void {
    this.#isOver = true;
    this.#charge.stop();
  }

  #usedMs(nowMs: number): number {
    return this.#earlierMs + (this.#sinceMs === undefined ? 0 : nowMs - this.#sinceMs);
  }

  #nextPulse(): Pulse | undefined {
    const { perMinute, pulseMs } = this.#use.rate;
    if (this.#sinceMs === undefined || this.#isOver || perMinute === 0) return undefined;
    const nowMs = this.#needs.clock.monotonicMs();
    const usedMs = this.#usedMs(nowMs);
    const nextMs = (Math.floor(usedMs / pulseMs) + 1) * pulseMs;
    return {
      atMs: nowMs + nextMs - usedMs,
      due: () => priceOf(nextMs + pulseMs, perMinute),
    };
  }
}

/** Reservation of an utterance of a call. Recovery gives back all of a call that was interrupted. */
export const speechHold = (callUuid: string, id: string): string => `speech:${callUuid}:${id}`;
