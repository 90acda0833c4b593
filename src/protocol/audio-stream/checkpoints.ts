/**
 * Checkpoints that wait for their audio. Each gets an id of its own: names may repeat, and a mark that was on its way
 * from the engine when a clear came must not complete a later checkpoint of the same name.
 */
export class Checkpoints {
  readonly #limit: number;
  readonly #names = new Map<string, string>();
  #lastId = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Undefined when too many wait. */
  add(name: string): string | undefined {
    if (this.#names.size >= this.#limit) return undefined;
    this.#lastId += 1;
    const id = String(this.#lastId);
    this.#names.set(id, name);
    return id;
  }

  /** The name behind a played id; undefined when it was discarded. */
  take(id: string): string | undefined {
    const name = this.#names.get(id);
    this.#names.delete(id);
    return name;
  }

  discardAll(): void {
    this.#names.clear();
  }
}
