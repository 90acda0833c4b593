import { Fifo } from '../../base/fifo.ts';

/** Weight of the newest sample in the mean service interval. */
const NEWEST_SHARE = 1 / 32;

/** FIFO queue with a limit that estimates its waiting time. */
export class AdmissionQueue<T> {
  readonly #limit: number;
  readonly #items = new Fifo<T>();
  /** Time at which the last item left while others waited. The time until the next one leaves is a sample. */
  #leftMs: number | undefined;
  #paceMs = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#items.size;
  }

  /** Estimated waiting time of a new item in milliseconds. */
  get delayMs(): number {
    return this.size * this.#paceMs;
  }

  /** Returns false if the queue is full. */
  add(item: T): boolean {
    if (this.size >= this.#limit) return false;
    this.#items.push(item);
    return true;
  }

  /** Removes the next item. Without `nowMs` the item is refused and is not a sample of the service interval. */
  next(nowMs?: number): T | undefined {
    const item = this.#items.shift();
    if (this.#leftMs !== undefined && nowMs !== undefined)
      this.#paceMs += (nowMs - this.#leftMs - this.#paceMs) * NEWEST_SHARE;
    this.#leftMs = this.size > 0 ? nowMs : undefined;
    return item;
  }
}
