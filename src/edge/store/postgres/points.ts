import { AnswerCache } from '../answer-cache.ts';
import type { Executor } from '../executor.ts';
import type { Unit } from '../unit.ts';

/**
 * Short reads. What every call asks for is answered from memory, on the thread that serves calls, as long as this process is told
 * of every change.
 */
export class Points {
  readonly #executor: Pick<Executor, 'submit'>;
  readonly #answers = new AnswerCache();
  #hears = false;
  /** Grows with each change: what was asked for before one is not kept. */
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

  /** Somebody has changed something. */
  outdated(): void {
    this.#changes += 1;
    this.#answers.forget();
  }

  /** The same; and whether the next change will be told of. */
  told(hears: boolean): void {
    this.#hears = hears;
    this.outdated();
  }
}
