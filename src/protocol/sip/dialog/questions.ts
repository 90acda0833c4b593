/** Questions to the outside that wait for an answer; at most `limit` at once. */
export class Questions<Answer> {
  readonly #limit: number;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #lastId = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The id to ask under; undefined when too many wait already. */
  ask(answered: (answer: Answer) => void): number | undefined {
    if (this.#waiting.size >= this.#limit) return undefined;
    this.#lastId += 1;
    this.#waiting.set(this.#lastId, answered);
    return this.#lastId;
  }

  /** An answer to a question that nobody asks any more is dropped. */
  answer(id: number, answer: Answer): void {
    const answered = this.#waiting.get(id);
    this.#waiting.delete(id);
    answered?.(answer);
  }
}
