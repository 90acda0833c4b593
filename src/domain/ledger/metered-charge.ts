import type { Clock } from '../../base/clock.ts';
import { type Micros, micros } from '../../base/money.ts';
import { noOperation } from '../../base/no-operation.ts';

/** The next pulse is reserved this long before it begins, or half a pulse before if that is shorter. */
const TOP_UP_LEAD_MS = 5000;
/** What cannot pay for the next pulse ends this long before it begins, so that the pulse does not begin elsewhere either. */
const CUT_LEAD_MS = 50;
/** Pause before a reservation that could not be written (disk full) is tried again. */
const RETRY_MS = 1000;

/** The next pulse of an activity. */
export interface Pulse {
  /** When it begins: monotonic, ms. */
  readonly atMs: number;
  /** Amount that must be reserved in total before it begins, as far as is known when asked. */
  readonly due: () => Micros;
}

/** An activity that costs money while it lasts: a call with its streams, a recording, speech recognition. */
export interface Metered {
  /** True once nothing more is charged. */
  readonly isOver: boolean;
  /** Undefined while no further pulse begins, as in a pause. */
  nextPulse(): Pulse | undefined;
  /** Raises the reservation to `amount`; false when it is refused. Rejects when the store takes no writes. */
  reserve(amount: Micros): Promise<boolean>;
  /** A reservation could not be written. It is tried again. */
  notReserved(error: unknown): void;
  /** The pulse that begins at `atMs` is not covered. Must end the activity before. */
  exhausted(atMs: number): void;
}

/**
 * Reserves each pulse of an activity before it begins, and ends the activity when the balance does not cover the next
 * one. The charge at the end never exceeds `reserved`.
 */
export class MeteredCharge {
  readonly #metered: Metered;
  readonly #clock: Clock;
  #reserved: Micros;
  #cancel: () => void = noOperation;

  /** `reserved`: amount held already, as a rule the first pulse. */
  constructor(metered: Metered, clock: Clock, reserved: Micros) {
    this.#metered = metered;
    this.#clock = clock;
    this.#reserved = reserved;
  }

  get reserved(): Micros {
    return this.#reserved;
  }

  /** Raises the reservation to `due` where it is lower; false when that is refused. Rejects as `Metered.reserve` does. */
  async cover(due: Micros): Promise<boolean> {
    if (due <= this.#reserved) return true;
    if (!(await this.#metered.reserve(due))) return false;
    this.#reserved = micros(Math.max(this.#reserved, due));
    return true;
  }

  /** Plans the reservation of the next pulse anew. To be called at the beginning and when the next pulse has moved. */
  schedule(): void {
    this.stop();
    const pulse = this.#metered.nextPulse();
    if (pulse === undefined) return;
    const waitMs = pulse.atMs - this.#clock.monotonicMs();
    this.#topUpAt(pulse.atMs - Math.min(TOP_UP_LEAD_MS, waitMs / 2), pulse);
  }

  /** Reserves nothing more. */
  stop(): void {
    this.#cancel();
    this.#cancel = noOperation;
  }

  #topUpAt(atMs: number, pulse: Pulse): void {
    this.#cancel = this.#clock.at(atMs, () => void this.#topUp(pulse));
  }

  /** Never rejects. */
  async #topUp(pulse: Pulse): Promise<void> {
    if (this.#metered.isOver) return;
    const planned = this.#cancel;
    try {
      const covered = await this.cover(pulse.due());
      // Planned anew while the store was asked: another pulse is the next one.
      if (this.#metered.isOver || this.#cancel !== planned) return;
      if (covered) this.#cancel = this.#clock.at(pulse.atMs, () => this.schedule());
      else this.#lastPulse(pulse);
    } catch (error) {
      this.#metered.notReserved(error);
      if (this.#metered.isOver || this.#cancel !== planned) return;
      this.#topUpAt(this.#clock.monotonicMs() + RETRY_MS, pulse);
    }
  }

  /** Asks once more just before the pulse begins, then ends the activity where the paid pulse ends. */
  #lastPulse(pulse: Pulse): void {
    const askAgain = async (): Promise<void> => {
      const planned = this.#cancel;
      const covered = await this.cover(pulse.due()).catch(() => false);
      if (this.#metered.isOver || this.#cancel !== planned) return;
      if (covered) this.schedule();
      else this.#metered.exhausted(pulse.atMs);
    };
    this.#cancel = this.#clock.at(pulse.atMs - CUT_LEAD_MS, () => void askAgain());
  }
}
