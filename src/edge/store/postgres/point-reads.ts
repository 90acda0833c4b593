import { AnswerCache } from '../answer-cache.ts';
import type { Executor } from '../executor.ts';
import type { Unit } from '../unit.ts';

/**
 * Runs short reads. Reads that every call makes are answered from memory on the main thread, as long as this process is
 * notified of every change.
 */
export class Points {
  readonly #executor: Pick<Executor, 'submit'>;
  readonly #answers = new AnswerCache();
  #hears = false;
  /** Number of changes so far. A read that began before a change is not cached. */
  #changes = 0;

  constructor(executor: Pick<Executor, 'submit'>) {
    this.#executor = executor;
  }

  async submit(unit: Unit): Promise<unknown> {
    const known = this.#hears ? this.#answers.known(unit) : undefined;
    if (known !== undefined) return known.value;
    const changes = this.#changes;
    const value = await this.#executor.submit(unit, 'point');
    if (this.#hears && changes === this.#changes) this.#answers.keep(unit, { ok: true, value });
    return value;
  }

  /** Clears the cache after a change. */
  outdated(): void {
    this.#changes += 1;
    this.#answers.forget();
  }

  /** Clears the cache. `hears`: whether the next change will be announced. */
  reported(hears: boolean): void {
    this.#hears = hears;
    this.outdated();
  }
}
