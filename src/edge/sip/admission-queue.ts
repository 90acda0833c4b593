import { Fifo } from '../../base/fifo.ts';

/** Of the mean pace, what the newest counts. */
const NEWEST_SHARE = 1 / 32;

/** First come, first served, with a limit; it knows how fast it moves. */
export class AdmissionQueue<T> {
  readonly #limit: number;
  readonly #items = new Fifo<T>();
  /** When the latest left while others waited behind it: the time until the next one leaves tells the pace. */
  #leftMs: number | undefined;
  #paceMs = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#items.size;
  }

  /** How long one who comes now will wait, as far as is known. */
  get delayMs(): number {
    return this.size * this.#paceMs;
  }

  /** False: there is no room. */
  add(item: T): boolean {
    if (this.size >= this.#limit) return false;
    this.#items.push(item);
    return true;
  }

  /** Without `nowMs`: it is refused, which tells nothing of the pace. */
  next(nowMs?: number): T | undefined {
    const item = this.#items.shift();
    if (this.#leftMs !== undefined && nowMs !== undefined)
      this.#paceMs += (nowMs - this.#leftMs - this.#paceMs) * NEWEST_SHARE;
    this.#leftMs = this.size > 0 ? nowMs : undefined;
    return item;
  }
}
