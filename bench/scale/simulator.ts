/** Virtual time: what happens next happens next, as soon as what is before it is done. */
export class Simulator {
  nowMs = 0;
  readonly #heap: Array<{
    readonly atMs: number;
    readonly order: number;
    readonly act: () => void;
  }> = [];
  #order = 0;

  after(ms: number, act: () => void): void {
    this.#order += 1;
    const heap = this.#heap;
    heap.push({ atMs: this.nowMs + ms, order: this.#order, act });
    let at = heap.length - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isBefore(at, parent)) break;
      this.#swap(at, parent);
      at = parent;
    }
  }

  runUntil(endMs: number): void {
    for (let next = this.#heap[0]; next !== undefined && next.atMs <= endMs; next = this.#heap[0]) {
      this.#dropFirst();
      this.nowMs = next.atMs;
      next.act();
    }
    this.nowMs = endMs;
  }

  #dropFirst(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    heap[0] = last;
    for (let at = 0; ; ) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      let least = at;
      if (left < heap.length && this.#isBefore(left, least)) least = left;
      if (right < heap.length && this.#isBefore(right, least)) least = right;
      if (least === at) return;
      this.#swap(at, least);
      at = least;
    }
  }

  #isBefore(one: number, other: number): boolean {
    const [a, b] = [this.#heap[one], this.#heap[other]];
    if (a === undefined || b === undefined) return false;
    return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
  }

  #swap(one: number, other: number): void {
    const heap = this.#heap;
    [heap[one], heap[other]] = [heap[other] as never, heap[one] as never];
  }
}

/** Cores or a thread. Serves jobs first in, first out; a job occupies one core for its duration. */
export class Servers {
  readonly #sim: Simulator;
  readonly #count: number;
  readonly #waiting: Array<readonly [ms: number, done: () => void]> = [];
  #head = 0;
  #busy = 0;
  #spentMs = 0;

  constructor(sim: Simulator, count: number) {
    this.#sim = sim;
    this.#count = count;
  }

  serve(ms: number, done: () => void): void {
    if (this.#busy >= this.#count) {
      this.#waiting.push([ms, done]);
      return;
    }
    this.#busy += 1;
    this.#spentMs += ms;
    this.#sim.after(ms, () => {
      this.#busy -= 1;
      const next = this.#waiting[this.#head];
      if (next !== undefined) {
        this.#head += 1;
        if (this.#head > 10_000) this.#head -= this.#waiting.splice(0, this.#head).length;
        this.serve(...next);
      }
      done();
    });
  }

  /** Share of its time that it worked, of `ms`. */
  use(ms: number): number {
    return this.#spentMs / (ms * this.#count);
  }
}

/** The same numbers in each run. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state + 1) / 4_294_967_297;
  };
}
