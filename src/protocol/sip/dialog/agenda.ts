/** Cancels what was put on the agenda; calling it twice, or too late, does nothing. */
export type Cancel = () => void;

interface Entry {
  readonly dueMs: number;
  /** Entries of the same moment fire in the order in which they were made. */
  readonly order: number;
  action: (() => void) | undefined;
}

const earlier = (a: Entry, b: Entry): boolean =>
  a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);

/** Timers of many sessions: a binary heap, so that thousands of them cost next to nothing while they wait. */
export class Agenda {
  readonly #heap: Entry[] = [];
  #order = 0;

  at(dueMs: number, action: () => void): Cancel {
    const entry: Entry = { dueMs, order: this.#order, action };
    this.#order += 1;
    this.#rise(this.#heap.push(entry) - 1, entry);
    return () => {
      entry.action = undefined;
    };
  }

  deadlineMs(): number | undefined {
    this.#dropCancelled();
    return this.#heap[0]?.dueMs;
  }

  /** Runs everything due; what is put on the agenda meanwhile runs too when it is due already. */
  run(nowMs: number): void {
    for (;;) {
      this.#dropCancelled();
      const first = this.#heap[0];
      if (first === undefined || first.dueMs > nowMs) return;
      this.#removeFirst();
      first.action?.();
    }
  }

  #dropCancelled(): void {
    while (this.#heap[0] !== undefined && this.#heap[0].action === undefined) this.#removeFirst();
  }

  #removeFirst(): void {
    const last = this.#heap.pop();
    if (last !== undefined && this.#heap.length > 0) this.#sink(last);
  }

  #rise(from: number, entry: Entry): void {
    let at = from;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = this.#heap[above];
      if (parent === undefined || !earlier(entry, parent)) break;
      this.#heap[at] = parent;
      at = above;
    }
    this.#heap[at] = entry;
  }

  #sink(entry: Entry): void {
    let at = 0;
    for (;;) {
      const left = this.#heap[2 * at + 1];
      const right = this.#heap[2 * at + 2];
      if (left === undefined) break;
      const rightIsLess = right !== undefined && earlier(right, left);
      const least = rightIsLess ? right : left;
      if (!earlier(least, entry)) break;
      this.#heap[at] = least;
      at = 2 * at + (rightIsLess ? 2 : 1);
    }
    this.#heap[at] = entry;
  }
}
