/** Runs async work strictly in order, one at a time; a failure is handed to `onError` and the queue goes on. */
export class TaskQueue {
  #tail: Promise<void> = Promise.resolve();
  #length = 0;
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  get length(): number {
    return this.#length;
  }

  push(work: () => Promise<void>): void {
    this.#length += 1;
    this.#tail = this.#tail
      .then(work)
      .catch(this.#onError)
      .finally(() => {
        this.#length -= 1;
      });
  }

  async idle(): Promise<void> {
    await this.#tail;
  }
}
