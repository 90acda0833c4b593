import { ServiceError } from '../../base/errors.ts';
import type { Engine, Outcome, Unit } from './engine.ts';
import { toError } from './failure.ts';

/** Units of work in one transaction; what arrives meanwhile waits for the next. */
const BATCH_LIMIT = 1000;
/** Units that may wait: beyond it the disk is far behind, and more waiting helps nobody. */
const QUEUE_LIMIT = 100_000;

/** Runs a batch somewhere else, or here. */
export interface Runner {
  run(units: readonly Unit[]): Promise<readonly Outcome[]>;
  close(): Promise<void>;
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
  readonly #onLowBalance: () => void;
  #waiting: Waiting[] = [];
  /** What is to be done between two batches. */
  readonly #acts: (() => Promise<void>)[] = [];
  /** The batches under way, until nothing waits any more. */
  #draining: Promise<void> | undefined;
  #closed = false;

  /** `onLowBalance`: a unit that was committed let a balance fall below its threshold. */
  constructor(runner: Runner, onLowBalance: () => void = () => undefined) {
    this.#runner = runner;
    this.#onLowBalance = onLowBalance;
  }

  /** Units that wait for the next batch. */
  get waiting(): number {
    return this.#waiting.length;
  }

  submit(unit: Unit): Promise<unknown> {
    if (this.#closed) {
      return Promise.reject(new ServiceError('STORE_CLOSED', 'the store is closed'));
    }
    if (this.#waiting.length >= QUEUE_LIMIT) {
      return Promise.reject(new ServiceError('STORE_BUSY', 'too many units of work are waiting'));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ unit, resolve, reject });
      this.#draining ??= Promise.resolve().then(() => this.#drain());
    });
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
      this.#draining ??= Promise.resolve().then(() => this.#drain());
    });
  }

  /** What waits is still done; nothing new is taken. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#draining;
    await this.#runner.close();
  }

  async #drain(): Promise<void> {
    for (;;) {
      const act = this.#acts.shift();
      if (act !== undefined) await act();
      else if (this.#waiting.length > 0) await this.#runBatch();
      else break;
    }
    this.#draining = undefined;
  }

  async #runBatch(): Promise<void> {
    const batch = this.#waiting.splice(0, BATCH_LIMIT);
    try {
      const outcomes = await this.#runner.run(batch.map((waiting) => waiting.unit));
      for (const [index, waiting] of batch.entries()) answer(waiting, outcomes[index]);
      if (outcomes.some((outcome) => outcome.ok && outcome.lowBalance)) this.#onLowBalance();
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

/** On the caller's own thread: for stores in memory, where virtual time must not wait for a thread. */
export class InlineRunner implements Runner {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  run(units: readonly Unit[]): Promise<readonly Outcome[]> {
    return Promise.resolve(this.#engine.run(units));
  }

  close(): Promise<void> {
    this.#engine.close();
    return Promise.resolve();
  }
}
