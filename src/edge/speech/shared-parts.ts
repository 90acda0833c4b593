/** A sequence with several readers. Each gets all parts. The sequence ends early when all readers have left. */
export class SharedParts<T> {
  /** Resolves when the sequence has ended or all readers have left: later readers need another one. */
  readonly over: Promise<void>;
  readonly #parts: T[] = [];
  readonly #isOver = Promise.withResolvers<void>();
  #next = Promise.withResolvers<void>();
  #readers = 0;
  #hasEnded = false;

  /** `source` must not throw. */
  constructor(source: AsyncIterable<T>) {
    this.over = this.#isOver.promise;
    void this.#collect(source);
  }

  async *read(): AsyncGenerator<T> {
    this.#readers += 1;
    try {
      for (let at = 0; ; at += 1) {
        while (at >= this.#parts.length && !this.#hasEnded) await this.#next.promise;
        const part = this.#parts[at];
        if (part === undefined) return;
        yield part;
      }
    } finally {
      this.#readers -= 1;
      if (this.#readers === 0) this.#isOver.resolve();
    }
  }

  async #collect(source: AsyncIterable<T>): Promise<void> {
    for await (const part of source) {
      this.#parts.push(part);
      this.#wake();
      if (this.#readers === 0) break;
    }
    this.#hasEnded = true;
    this.#isOver.resolve();
    this.#wake();
  }

  #wake(): void {
    this.#next.resolve();
    this.#next = Promise.withResolvers();
  }
}
