/** Maximum number of empty slots at the front before the queue is compacted. */
const MOST_EMPTY = 1024;

/**
 * First-in, first-out queue. Deleting the first entries of a `Map` or `Set` leaves holes until it is rehashed. Each
 * access to the first entry would scan them.
 */
export class Fifo<T> {
  #items: (T | undefined)[] = [];
  /** Index of the first entry. Slots before it are empty and hold no references. */
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  /** Returns the oldest entry without removing it. */
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
