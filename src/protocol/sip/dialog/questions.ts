/** Pending queries to the application, at most `limit` at a time. */
export class Questions<Answer> {
  readonly #limit: number;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #lastId = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Registers a query and returns its ID, or undefined if too many are pending. */
  ask(answered: (answer: Answer) => void): number | undefined {
    if (this.#waiting.size >= this.#limit) return undefined;
    this.#lastId += 1;
    this.#waiting.set(this.#lastId, answered);
    return this.#lastId;
  }

  /** Delivers an answer; the answer to a cancelled query is dropped. */
  answer(id: number, answer: Answer): void {
    const answered = this.#waiting.get(id);
    this.#waiting.delete(id);
    answered?.(answer);
  }
}
