/** So many places at the front may be empty before the others move up. */
const MOST_EMPTY = 1024;

/**
 * First in, first out. Not a `Map` or `Set` whose first entries are deleted: those are kept as holes until the table is
 * made anew, and each look at the first one walks over all of them.
 */
export class Fifo<T> {
  #items: (T | undefined)[] = [];
  /** Places before it are empty: what was taken is not kept. */
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  /** The oldest, which stays. */
  first(): T | undefined {
    return this.#items[this.#head];
  }

  shift(): T | undefined {
    const item = this.#items[this.#head];
    if (this.#head < this.#items.length) {
      this.#items[this.#head] = undefined;
      this.#head += 1;
    }
    if (this.size === 0 || (this.#head >= MOST_EMPTY && this.#head * 2 >= this.#items.length)) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}
