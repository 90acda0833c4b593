import type { Clock } from '../../base/clock.ts';
import { type Micros, micros } from '../../base/money.ts';
import { noOperation } from '../../base/no-operation.ts';

/** Lead time with which the next pulse is reserved, at most half a pulse. */
const TOP_UP_LEAD_MS = 5000;
/** Lead time with which an activity without cover ends before its next pulse, so that the pulse is not charged elsewhere. */
const CUT_LEAD_MS = 50;
/** Pause before a reservation that could not be written (disk full) is retried, in milliseconds. */
const RETRY_MS = 1000;

/** The next pulse of an activity. */
export interface Pulse {
  /** Start of the pulse (monotonic, ms). */
  readonly atMs: number;
  /** Total amount that must be reserved before the pulse starts, as known when called. */
  readonly due: () => Micros;
}

/** An activity that costs money while it lasts: a call with its streams, a recording, speech recognition. */
export interface Metered {
  /** True once nothing more is charged. */
  readonly isOver: boolean;
  /** Returns the next pulse, or undefined while none will start, as in a pause. */
  nextPulse(): Pulse | undefined;
  /** Raises the reservation to `amount`. Returns false if refused. Rejects if the store refuses writes. */
  reserve(amount: Micros): Promise<boolean>;
  /** Called when a reservation could not be written. It is retried. */
  notReserved(error: unknown): void;
  /** Called when the pulse at `atMs` is not covered. Must end the activity before that time. */
  exhausted(atMs: number): void;
}

/**
 * Reserves each pulse of an activity before it starts. Ends the activity if the balance does not cover the next
 * pulse. The final charge never exceeds `reserved`.
 */
export class MeteredCharge {
  readonly #metered: Metered;
  readonly #clock: Clock;
  #reserved: Micros;
  #cancel: () => void = noOperation;

  /** `reserved` is the amount reserved already, usually for the first pulse. */
  constructor(metered: Metered, clock: Clock, reserved: Micros) {
    this.#metered = metered;
    this.#clock = clock;
    this.#reserved = reserved;
  }

  get reserved(): Micros {
    return this.#reserved;
  }

  /** Raises the reservation to `due` if it is lower. Returns false if refused. Rejects like `Metered.reserve`. */
  async cover(due: Micros): Promise<boolean> {
    if (due <= this.#reserved) return true;
    if (!(await this.#metered.reserve(due))) return false;
    this.#reserved = micros(Math.max(this.#reserved, due));
    return true;
  }

  /** Reschedules the reservation of the next pulse. Called at the start and when the next pulse has moved. */
  schedule(): void {
    this.stop();
    const pulse = this.#metered.nextPulse();
    if (pulse === undefined) return;
    const waitMs = pulse.atMs - this.#clock.monotonicMs();
    this.#topUpAt(pulse.atMs - Math.min(TOP_UP_LEAD_MS, waitMs / 2), pulse);
  }

  /** Cancels further reservations. */
  stop(): void {
    this.#cancel();
    this.#cancel = noOperation;
  }

  #topUpAt(atMs: number, pulse: Pulse): void {
    this.#cancel = this.#clock.at(atMs, () => void this.#topUp(pulse));
  }

  /** Reserves the pulse if it is still the next one. Never rejects. */
  async #topUp(pulse: Pulse): Promise<void> {
    if (this.#metered.isOver) return;
    const planned = this.#cancel;
    try {
      const covered = await this.cover(pulse.due());
      // The pulse was rescheduled while the store was queried.
      if (this.#metered.isOver || this.#cancel !== planned) return;
      if (covered) this.#cancel = this.#clock.at(pulse.atMs, () => this.schedule());
      else this.#lastPulse(pulse);
    } catch (error) {
      this.#metered.notReserved(error);
      if (this.#metered.isOver || this.#cancel !== planned) return;
      this.#topUpAt(this.#clock.monotonicMs() + RETRY_MS, pulse);
    }
  }

  /** Retries the reservation just before the pulse starts, then ends the activity at the end of the paid pulse. */
  #lastPulse(pulse: Pulse): void {
    const retry = async (): Promise<void> => {
      const planned = this.#cancel;
      const covered = await this.cover(pulse.due()).catch(() => false);
      if (this.#metered.isOver || this.#cancel !== planned) return;
      if (covered) this.schedule();
      else this.#metered.exhausted(pulse.atMs);
    };
    this.#cancel = this.#clock.at(pulse.atMs - CUT_LEAD_MS, () => void retry());
  }
}
