import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import { type Micros, priceOf } from '../../base/money.ts';
import { ok, type Result } from '../../base/result.ts';
import { MeteredCharge, type Pulse } from './metered-charge.ts';
import type { ReserveRefusal, Use } from './types.ts';

/** Reserves money for uses. Implemented by the ledger. */
interface UseHolds {
  holdUse(use: Use, amount: Micros): Promise<Result<void, ReserveRefusal>>;
  raiseUse(use: Use, amount: Micros): Promise<Result<void, ReserveRefusal>>;
}

export interface UseMeterNeeds {
  readonly ledger: UseHolds;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Reserves the pulses of one use (a recording, an utterance) while it lasts. `Ledger.chargeUse` settles it, also
 * after a crash.
 */
export class UseMeter {
  readonly #needs: UseMeterNeeds;
  readonly #use: Use;
  readonly #charge: MeteredCharge;
  #exhausted: () => void = () => undefined;
  #isOver = false;
  /** Time used before the last pause, in milliseconds. */
  #earlierMs = 0;
  /** Start of the current section (monotonic, ms). Undefined before the start and in a pause. */
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
          needs.logger.warn({ error, reference, accountId }, 'failed to raise a reservation');
        },
        exhausted: () => this.#exhausted(),
      },
      needs.clock,
      firstPulse,
    );
  }

  /** Reserves the first pulse. Rejects if the store refuses writes. */
  static async open(needs: UseMeterNeeds, use: Use): Promise<Result<UseMeter, ReserveRefusal>> {
    const held = await needs.ledger.holdUse(use, priceOf(use.rate.pulseMs, use.rate.perMinute));
    return held.ok ? ok(new UseMeter(needs, use)) : held;
  }

  /** Starts or restarts the use. `exhausted` is called just before the next pulse if the balance does not cover it. */
  begin(exhausted: () => void): void {
    this.#exhausted = exhausted;
    this.#earlierMs = 0;
    this.#sinceMs = this.#needs.clock.monotonicMs();
    this.#charge.schedule();
  }

  /** Pauses or resumes the use. Paused time is not charged. */
  pause(isPaused: boolean): void {
    if (isPaused === (this.#sinceMs === undefined)) return;
    const nowMs = this.#needs.clock.monotonicMs();
    this.#earlierMs = this.#usedMs(nowMs);
    this.#sinceMs = isPaused ? undefined : nowMs;
    this.#charge.schedule();
  }

  /** Ends the use. No further pulse is reserved. */
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

/** Returns the reservation ID of an utterance. Recovery releases all reservations of an interrupted call. */
export const speechHold = (callUuid: string, id: string): string => `speech:${callUuid}:${id}`;
