import type { Pace } from './pace.ts';
import type { Unit } from './unit.ts';

/** Maximum number of units in one transaction. Units that arrive during a transaction wait for the next. */
const BATCH_LIMIT = 1000;
/** Maximum number of deferred units written together, which bounds the length of one event-loop turn. */
export const DEFERRED_LIMIT = 100;

/** A unit and the settlement of its caller's promise. */
export interface WaitingUnit {
  readonly unit: Unit;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/**
 * - `resting`: no transaction is due. Deferred units may wait for the delay of the pace.
 * - `due`: the next transaction is to be written in the next turn.
 */
type QueueState = 'resting' | 'due';

/** Units that wait for their transaction: urgent ones for the next turn, deferred ones for a delay. */
export class UnitQueue {
  readonly #pace: Pace;
  readonly #onDue: () => void;
  #state: QueueState = 'resting';
  /** Units of the next transaction. */
  #next: WaitingUnit[] = [];
  /** Units for which no caller waits, and that are written together. */
  #deferred: WaitingUnit[] = [];
  /** Cancels the delay; undefined while no delay runs. */
  #cancelDelay: (() => void) | undefined;

  /** `onDue` is called when a transaction becomes due, possibly several times before it is taken. */
  constructor(pace: Pace, onDue: () => void) {
    this.#pace = pace;
    this.#onDue = onDue;
  }

  get size(): number {
    return this.#next.length + this.#deferred.length;
  }

  get isDue(): boolean {
    return this.#state === 'due';
  }

  /** Whether a transaction taken now would contain units. */
  get hasNext(): boolean {
    return this.#next.length > 0;
  }

  add(waiting: WaitingUnit): void {
    this.#next.push(waiting);
    this.becomeDue();
  }

  /** Adds a unit that may wait for the delay of the pace. */
  defer(waiting: WaitingUnit): void {
    const { keepsApart = false } = this.#pace;
    (keepsApart ? this.#deferred : this.#next).push(waiting);
    if (this.#deferred.length === DEFERRED_LIMIT) this.flush();
    else this.delay();
  }

  /** Lets a transaction become due after the delay of the pace. */
  delay(): void {
    this.#cancelDelay ??= this.#pace.soon(() => this.flush());
  }

  /**
   * Adds the deferred units to the next transaction, after its other units: a call may end while its open record still waits.
   */
  flush(): void {
    this.#endDelay();
    this.#next.push(...this.#deferred);
    this.#deferred = [];
    this.becomeDue();
  }

  becomeDue(): void {
    this.#state = 'due';
    this.#onDue();
  }

  /** Takes the units of one transaction. Another one is due if units remain. */
  take(): readonly WaitingUnit[] {
    const batch = this.#next.splice(0, BATCH_LIMIT);
    if (this.#next.length > 0) return batch;
    this.rest();
    if (this.#deferred.length === 0) this.#endDelay();
    return batch;
  }

  /** No transaction is due any more. */
  rest(): void {
    this.#state = 'resting';
  }

  #endDelay(): void {
    this.#cancelDelay?.();
    this.#cancelDelay = undefined;
  }
}
