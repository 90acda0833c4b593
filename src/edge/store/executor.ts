import { ServiceError } from '../../base/errors.ts';
import type { Engine } from './engine.ts';
import { type Failure, toError } from './failure.ts';
import type { LostCommits } from './log-examination.ts';
import type { Pace } from './pace.ts';
import type { Access } from './repositories.ts';
import type { Outcome, Unit } from './unit.ts';
import { DEFERRED_LIMIT, UnitQueue, type WaitingUnit } from './unit-queue.ts';
import type { UnreadableRow } from './unreadable.ts';

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
  /** Called for each unit that failed. */
  readonly onFailed?: (failure: Failure) => void;
}

/**
 * - `idle`: no transaction runs or is due.
 * - `writing`: transactions run until no more is due.
 * - `acting`: an action runs between two transactions. Units wait, and none is answered ahead of its commit.
 */
type ExecutorState = 'idle' | 'writing' | 'acting';

/**
 * Implements group commit: units submitted within one turn, or during a batch, form the next batch. Each caller receives its
 * own result after the commit.
 */
export class Executor {
  readonly #pace: Pace;
  readonly #listeners: ExecutorListeners;
  readonly #queue: UnitQueue;
  #runner: Runner;
  #state: ExecutorState = 'idle';
  #isClosed = false;
  /** Actions to run between two batches. */
  readonly #actions: (() => Promise<void>)[] = [];
  /** Resolves when the executor is idle again. */
  #written: Promise<void> = Promise.resolve();
  /** Promise of the latest deferred unit. */
  #lastDeferred: Promise<unknown> | undefined;
  /** Whether a unit that was answered ahead let a balance fall below its threshold. Reported after the commit. */
  #lowBalance = false;
  #batches = 0;

  constructor(runner: Runner, pace: Pace, listeners: ExecutorListeners = {}) {
    this.#runner = runner;
    this.#pace = pace;
    this.#listeners = listeners;
    this.#queue = new UnitQueue(pace, () => this.#begin());
  }

  /** Number of batches so far. */
  get batches(): number {
    return this.#batches;
  }

  /** Number of units that wait for the next batch. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** Submits a unit. A short read sees committed data only, not the units that wait. */
  submit(unit: Unit, access: Access): Promise<unknown> {
    if (this.#isClosed) {
      return Promise.reject(new ServiceError('STORE_CLOSED', 'the store is closed'));
    }
    const outcome = this.#answerNow(unit, access);
    if (outcome !== undefined)
      return outcome.ok ? Promise.resolve(outcome.value) : Promise.reject(toError(outcome.failure));
    if (this.waiting >= QUEUE_LIMIT) {
      return Promise.reject(new ServiceError('STORE_BUSY', 'too many units of work are waiting'));
    }
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const waiting = { unit, resolve, reject };
    if (access === 'soon') {
      this.#lastDeferred = promise;
      this.#queue.defer(waiting);
    } else this.#queue.add(waiting);
    return promise;
  }

  /** Resolves when all deferred units submitted so far are written, so that another connection can read them. */
  async written(): Promise<void> {
    if (this.#owes) this.#queue.flush();
    await this.#lastDeferred?.catch(() => undefined);
  }

  /**
   * Runs `act` between two batches; units submitted during it wait. If `act` rejects, this rejects too and keeps the current
   * runner.
   */
  pause(act: (runner: Runner) => Promise<Runner>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#actions.push(async () => {
        try {
          this.#runner = await act(this.#runner);
          resolve();
        } catch (error) {
          reject(error);
        }
      });
      this.#queue.becomeDue();
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
    this.#isClosed = true;
    if (this.#owes) this.#queue.flush();
    await this.#written;
    await this.#runner.close();
  }

  get #owes(): boolean {
    return this.waiting > 0 || this.#uncommitted > 0;
  }

  get #uncommitted(): number {
    return this.#runner.uncommitted ?? 0;
  }

  /** Answers a short read, or a unit ahead of its commit. Undefined: the unit waits for a batch. */
  #answerNow(unit: Unit, access: Access): Outcome | undefined {
    if (access === 'ahead') return this.#runAhead(unit);
    if (access !== 'point') return undefined;
    const outcome = this.#runner.read?.(unit);
    this.#note(outcome);
    return outcome;
  }

  #runAhead(unit: Unit): Outcome | undefined {
    if (this.#actions.length > 0 || this.#state === 'acting') return undefined;
    const outcome = this.#runner.runAhead?.(unit);
    if (outcome === undefined) return undefined;
    this.#note(outcome);
    if (outcome.ok && outcome.lowBalance) this.#lowBalance = true;
    if (this.#uncommitted >= DEFERRED_LIMIT) this.#queue.flush();
    else this.#queue.delay();
    return outcome;
  }

  #note(outcome: Outcome | undefined): void {
    if (outcome?.unreadable !== undefined) this.#listeners.onUnreadable?.(outcome.unreadable);
    if (outcome?.ok === false) this.#listeners.onFailed?.(outcome.failure);
  }

  #begin(): void {
    if (this.#state !== 'idle') return;
    this.#state = 'writing';
    this.#written = this.#write();
  }

  /** Writes transactions and runs actions until none is due. */
  async #write(): Promise<void> {
    while (this.#queue.isDue || this.#actions.length > 0) {
      await this.#pace.turn();
      const act = this.#actions.shift();
      if (act !== undefined) await this.#act(act);
      else if (this.#queue.hasNext || this.#uncommitted > 0) await this.#runBatch();
      else this.#queue.rest();
    }
    this.#state = 'idle';
  }

  async #act(act: () => Promise<void>): Promise<void> {
    this.#state = 'acting';
    if (this.#uncommitted > 0) await this.#runBatch();
    await act();
    this.#state = 'writing';
  }

  async #runBatch(): Promise<void> {
    const batch = this.#queue.take();
    this.#batches += 1;
    try {
      const outcomes = await this.#runner.run(batch.map((waiting) => waiting.unit));
      for (const [index, waiting] of batch.entries()) {
        this.#note(outcomes[index]);
        answer(waiting, outcomes[index]);
      }
      const isLow =
        this.#lowBalance || outcomes.some((outcome) => outcome.ok && outcome.lowBalance);
      this.#lowBalance = false;
      if (isLow) this.#listeners.onLowBalance?.();
    } catch (error) {
      const failed = error instanceof Error ? error : new Error(String(error));
      for (const waiting of batch) waiting.reject(failed);
    }
  }
}

function answer(waiting: WaitingUnit, outcome: Outcome | undefined): void {
  if (outcome?.ok) waiting.resolve(outcome.value);
  else waiting.reject(outcome ? toError(outcome.failure) : new Error('a unit got no outcome'));
}

/** Runs batches on the caller's thread. */
export class InlineRunner implements Runner {
  readonly #engine: Engine;
  readonly uncleanStart: boolean;
  readonly lostCommits: LostCommits | undefined;

  constructor(engine: Engine) {
    this.#engine = engine;
    this.lostCommits = engine.lostCommits;
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
