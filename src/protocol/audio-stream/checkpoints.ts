/**
 * Checkpoints whose audio has not been played yet. Each gets a unique ID, because names may repeat. Thus a mark sent
 * before a clear cannot complete a later checkpoint of the same name.
 */
export class Checkpoints {
  readonly #limit: number;
  readonly #names = new Map<string, string>();
  #lastId = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Adds a checkpoint and returns its ID, or undefined if the limit is reached. */
  add(name: string): string | undefined {
    if (this.#names.size >= this.#limit) return undefined;
    this.#lastId += 1;
    const id = String(this.#lastId);
    this.#names.set(id, name);
    return id;
  }

  /** Removes a played checkpoint and returns its name, or undefined if it was discarded. */
  take(id: string): string | undefined {
    const name = this.#names.get(id);
    this.#names.delete(id);
    return name;
  }

  discardAll(): void {
    this.#names.clear();
  }
}
