import { ServiceError } from '../../base/errors.ts';
import type { Engine } from './engine.ts';
import { toError } from './failure.ts';
import type { Pace } from './pace.ts';
import type { Access } from './repositories.ts';
import type { Outcome, Unit } from './unit.ts';
import type { UnreadableRow } from './unreadable.ts';

/** Units of work in one transaction; what arrives meanwhile waits for the next. */
const BATCH_LIMIT = 1000;
/** So many that nobody waits for are written at once: a turn of the event loop has no more of them. */
const LATER_LIMIT = 100;
/** Units that may wait. Beyond it the disk cannot keep up: further units are refused with STORE_BUSY. */
const QUEUE_LIMIT = 100_000;

/** Runs a batch somewhere else, or here. */
export interface Runner {
  run(units: readonly Unit[]): Promise<readonly Outcome[]>;
  /** Answers a short read at once, where no other thread has to be asked. */
  read?(unit: Unit): Outcome;
  /** Answers a unit before the commit that the next `run` brings; undefined: it cannot now. */
  runAhead?(unit: Unit): Outcome | undefined;
  /** Units that were answered so. */
  readonly uncommitted?: number;
  close(): Promise<void>;
}

export interface ExecutorListeners {
  /** A unit that was committed let a balance fall below its threshold. */
  readonly onLowBalance?: () => void;
  /** A unit found rows that it could not read. */
  readonly onUnreadable?: (rows: readonly UnreadableRow[]) => void;
}

interface Waiting {
  readonly unit: Unit;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Group commit: units asked for within one turn, or while a batch is under way, go together as the next batch. Each
 * caller gets its own result, after the commit.
 */
export class Executor {
  #runner: Runner;
  readonly #pace: Pace;
  readonly #onLowBalance: () => void;
  readonly #onUnreadable: (rows: readonly UnreadableRow[]) => void;
  #waiting: Waiting[] = [];
  /** Nobody waits for them, and they are to be written together. */
  #later: Waiting[] = [];
  /** The latest unit that nobody waits for. */
  #lastSoon: Promise<unknown> | undefined;
  /** A unit that was answered ahead let a balance fall; told of after the commit. */
  #fell = false;
  /** What is to be done between two batches. */
  readonly #acts: (() => Promise<void>)[] = [];
  /** The batches under way, until none is due any more. */
  #draining: Promise<void> | undefined;
  /** What waits is to be written in the next turn. */
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

  /** Those run so far. */
  get batches(): number {
    return this.#batches;
  }

  /** Units that wait for the next batch. */
  get waiting(): number {
    return this.#waiting.length + this.#later.length;
  }

  /** A short read sees what was committed; of what waits it sees nothing. */
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

  /** Resolves when what nobody waits for is written, as far as it was asked for: whoever reads by another connection sees it. */
  async written(): Promise<void> {
    if (this.#owes) this.#writeLater();
    await this.#lastSoon?.catch(() => undefined);
  }

  /** Between two batches; what is asked for meanwhile waits. Rejects as `act` does, and goes on with the runner it has. */
  pause(act: (runner: Runner) => Promise<Runner>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#acts.push(async () => {
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

  /** Does something between two batches, with the runner as it is. */
  async between<T>(act: () => Promise<T>): Promise<T> {
    const done: T[] = [];
    await this.pause(async (same) => {
      done.push(await act());
      return same;
    });
    return done[0] as T;
  }

  /** What waits is still done; nothing new is taken. */
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

  /** Not while something is done between two batches. */
  #runAhead(unit: Unit): Outcome | undefined {
    if (this.#acts.length > 0 || this.#isActing) return undefined;
    const outcome = this.#runner.runAhead?.(unit);
    if (outcome === undefined) return undefined;
    this.#note(outcome);
    if (outcome.ok && outcome.lowBalance) this.#fell = true;
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

  /** With the next transaction, and after what else is in it: a call may end while its open record waits. */
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
    while (this.#isDue || this.#acts.length > 0) {
      await this.#pace.turn();
      const act = this.#acts.shift();
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
      const fell = this.#fell || outcomes.some((outcome) => outcome.ok && outcome.lowBalance);
      this.#fell = false;
      if (fell) this.#onLowBalance();
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

/** On the caller's own thread. */
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
