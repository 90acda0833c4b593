import { ServiceError } from '../../base/errors.ts';
import type { Engine } from './engine.ts';
import { toError } from './failure.ts';
import type { Pace } from './pace.ts';
import type { Access } from './repositories.ts';
import type { Outcome, Unit } from './unit.ts';
import type { UnreadableRow } from './unreadable.ts';

/** Maximum number of units in one transaction. Units that arrive during a transaction wait for the next. */
const BATCH_LIMIT = 1000;
/** Maximum number of deferred units written together, which bounds the length of one event-loop turn. */
const LATER_LIMIT = 100;
/** Maximum number of waiting units. Beyond it the disk cannot keep up, and further units are refused with STORE_BUSY. */
const QUEUE_LIMIT = 100_000;

/** Runs batches, on this thread or on another. */
export interface Runner {
  run(units: readonly Unit[]): Promise<readonly Outcome[]>;
  /** Answers a short read synchronously. Present only if it needs no other thread. */
  read?(unit: Unit): Outcome;
  /** Answers a unit before the commit, which the next `run` performs. Returns undefined if the unit cannot run ahead now. */
  runAhead?(unit: Unit): Outcome | undefined;
  /** Number of units that `runAhead` answered and that are not committed. */
  readonly uncommitted?: number;
  close(): Promise<void>;
}

export interface ExecutorListeners {
  /** Called when a committed unit let a balance fall below its threshold. */
  readonly onLowBalance?: () => void;
  /** Called when a unit found rows that it could not read. */
  readonly onUnreadable?: (rows: readonly UnreadableRow[]) => void;
}

interface Waiting {
  readonly unit: Unit;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Implements group commit: units submitted within one turn, or during a batch, form the next batch. Each caller receives its
 * own result after the commit.
 */
export class Executor {
  #runner: Runner;
  readonly #pace: Pace;
  readonly #onLowBalance: () => void;
  readonly #onUnreadable: (rows: readonly UnreadableRow[]) => void;
  #waiting: Waiting[] = [];
  /** Deferred units: no caller waits for them, and they are written together. */
  #later: Waiting[] = [];
  /** Promise of the latest `soon` unit. */
  #lastSoon: Promise<unknown> | undefined;
  /** Whether a unit that was answered ahead let a balance fall below its threshold. Reported after the commit. */
  #lowBalance = false;
  /** Actions to run between two batches. */
  readonly #pauses: (() => Promise<void>)[] = [];
  /** Promise of the running batches; undefined when no batch is due. */
  #draining: Promise<void> | undefined;
  /** Whether the waiting units will be written in the next turn. */
  #isDue = false;
  #isActing = false;
  #cancelSoon: (() => void) | undefined;
  #closed = false;
  #batches = 0;

  constructor(runner: Runner, pace: Pace, listeners: ExecutorListeners = {}) {
    this.#runner = runner;
    this.#pace = pace;
    this.#onLowBalance = listeners.onLowBalance ?? (() => undefined);
    this.#onUnreadable = listeners.onUnreadable ?? (() => undefined);
  }

  /** Number of batches so far. */
  get batches(): number {
    return this.#batches;
  }

  /** Number of units that wait for the next batch. */
  get waiting(): number {
    return this.#waiting.length + this.#later.length;
  }

  /** Submits a unit. A short read sees committed data only, not the units that wait. */
  submit(unit: Unit, access: Access): Promise<unknown> {
    if (this.#closed) {
      return Promise.reject(new ServiceError('STORE_CLOSED', 'the store is closed'));
    }
    if (access === 'point' && this.#runner.read !== undefined) {
      const outcome = this.#runner.read(unit);
      this.#note(outcome);
      return outcome.ok ? Promise.resolve(outcome.value) : Promise.reject(toError(outcome.failure));
    }
    const outcome = access === 'ahead' ? this.#runAhead(unit) : undefined;
    if (outcome !== undefined)
      return outcome.ok ? Promise.resolve(outcome.value) : Promise.reject(toError(outcome.failure));
    if (this.waiting >= QUEUE_LIMIT) {
      return Promise.reject(new ServiceError('STORE_BUSY', 'too many units of work are waiting'));
    }
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const waiting = { unit, resolve, reject };
    if (access === 'soon') {
      this.#lastSoon = promise;
      this.#addSoon(waiting);
    } else {
      this.#waiting.push(waiting);
      this.#begin();
    }
    return promise;
  }

  /** Resolves when all deferred units submitted so far are written, so that another connection can read them. */
  async written(): Promise<void> {
    if (this.#owes) this.#writeLater();
    await this.#lastSoon?.catch(() => undefined);
  }

  /**
   * Runs `act` between two batches; units submitted during it wait. If `act` rejects, this rejects too and keeps the current
   * runner.
   */
  pause(act: (runner: Runner) => Promise<Runner>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#pauses.push(async () => {
        try {
          this.#runner = await act(this.#runner);
          resolve();
        } catch (error) {
          reject(error);
        }
      });
      this.#begin();
    });
  }

  /** Runs an action between two batches without replacing the runner. */
  async between<T>(act: () => Promise<T>): Promise<T> {
    const done: T[] = [];
    await this.pause(async (same) => {
      done.push(await act());
      return same;
    });
    return done[0] as T;
  }

  /** Finishes the waiting units and refuses new ones. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#owes) this.#writeLater();
    await this.#draining;
    await this.#runner.close();
  }

  get #owes(): boolean {
    return this.waiting > 0 || this.#uncommitted > 0;
  }

  get #uncommitted(): number {
    return this.#runner.uncommitted ?? 0;
  }

  /** Does not run units ahead while an action runs between two batches. */
  #runAhead(unit: Unit): Outcome | undefined {
    if (this.#pauses.length > 0 || this.#isActing) return undefined;
    const outcome = this.#runner.runAhead?.(unit);
    if (outcome === undefined) return undefined;
    this.#note(outcome);
    if (outcome.ok && outcome.lowBalance) this.#lowBalance = true;
    if (this.#uncommitted >= LATER_LIMIT) this.#writeLater();
    else this.#cancelSoon ??= this.#pace.soon(() => this.#writeLater());
    return outcome;
  }

  #note(outcome: Outcome | undefined): void {
    if (outcome?.unreadable !== undefined) this.#onUnreadable(outcome.unreadable);
  }

  #addSoon(waiting: Waiting): void {
    const { keepsApart = false } = this.#pace;
    (keepsApart ? this.#later : this.#waiting).push(waiting);
    if (this.#later.length === LATER_LIMIT) this.#writeLater();
    else this.#cancelSoon ??= this.#pace.soon(() => this.#writeLater());
  }

  /**
   * Adds the deferred units to the next transaction, after its other units: a call may end while its open record still waits.
   */
  #writeLater(): void {
    this.#cancelSoon?.();
    this.#cancelSoon = undefined;
    this.#waiting.push(...this.#later);
    this.#later = [];
    this.#begin();
  }

  #begin(): void {
    this.#isDue = true;
    this.#draining ??= this.#drain();
  }

  async #drain(): Promise<void> {
    while (this.#isDue || this.#pauses.length > 0) {
      await this.#pace.turn();
      const act = this.#pauses.shift();
      if (act !== undefined) await this.#act(act);
      else if (this.#waiting.length > 0 || this.#uncommitted > 0) await this.#runBatch();
      else this.#isDue = false;
    }
    this.#draining = undefined;
  }

  async #act(act: () => Promise<void>): Promise<void> {
    this.#isActing = true;
    if (this.#uncommitted > 0) await this.#runBatch();
    await act();
    this.#isActing = false;
  }

  async #runBatch(): Promise<void> {
    const batch = this.#waiting.splice(0, BATCH_LIMIT);
    this.#batches += 1;
    this.#isDue = this.#waiting.length > 0;
    if (!this.#isDue && this.#later.length === 0) {
      this.#cancelSoon?.();
      this.#cancelSoon = undefined;
    }
    try {
      const outcomes = await this.#runner.run(batch.map((waiting) => waiting.unit));
      let index = 0;
      for (const waiting of batch) {
        this.#note(outcomes[index]);
        answer(waiting, outcomes[index]);
        index += 1;
      }
      const isLow =
        this.#lowBalance || outcomes.some((outcome) => outcome.ok && outcome.lowBalance);
      this.#lowBalance = false;
      if (isLow) this.#onLowBalance();
    } catch (error) {
      const failed = error instanceof Error ? error : new Error(String(error));
      for (const waiting of batch) waiting.reject(failed);
    }
  }
}

function answer(waiting: Waiting, outcome: Outcome | undefined): void {
  if (outcome?.ok) waiting.resolve(outcome.value);
  else waiting.reject(outcome ? toError(outcome.failure) : new Error('a unit got no outcome'));
}

/** Runs batches on the caller's thread. */
export class InlineRunner implements Runner {
  readonly #engine: Engine;
  readonly uncleanStart: boolean;

  constructor(engine: Engine) {
    this.#engine = engine;
    this.uncleanStart = engine.uncleanStart;
  }

  run(units: readonly Unit[]): Promise<readonly Outcome[]> {
    return Promise.resolve(this.#engine.run(units));
  }

  read(unit: Unit): Outcome {
    return this.#engine.read(unit);
  }

  get uncommitted(): number {
    return this.#engine.uncommitted;
  }

  runAhead(unit: Unit): Outcome | undefined {
    return this.#engine.runAhead(unit);
  }

  renew(): Promise<void> {
    this.#engine.renew();
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.#engine.close();
    return Promise.resolve();
  }
}
