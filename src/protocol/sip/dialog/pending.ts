/** Cancels a timer. Repeated or late calls have no effect. */
export type Cancel = () => void;

interface Entry {
  readonly dueMs: number;
  /** Tie-breaker: timers with equal time fire in the order of creation. */
  readonly order: number;
  action: (() => void) | undefined;
}

const earlier = (a: Entry, b: Entry): boolean =>
  a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);

/** Number of cancelled entries from which the heap is compacted, if they are also the majority. */
const MANY_CANCELLED = 1024;

/** Timers of many sessions in one binary heap, so that waiting timers cost almost nothing. */
export class DialogTimers {
  #heap: Entry[] = [];
  #order = 0;
  #cancelled = 0;

  /** Number of entries in memory, including cancelled entries not yet removed. */
  get size(): number {
    return this.#heap.length;
  }

  at(dueMs: number, action: () => void): Cancel {
    const entry: Entry = { dueMs, order: this.#order, action };
    this.#order += 1;
    this.#rise(this.#heap.push(entry) - 1, entry);
    return () => {
      if (entry.action === undefined) return;
      entry.action = undefined;
      this.#cancelled += 1;
      this.#clear();
    };
  }

  deadlineMs(): number | undefined {
    this.#dropCancelled();
    return this.#heap[0]?.dueMs;
  }

  /** Runs all due timers, including those added and due during the run. */
  run(nowMs: number): void {
    for (;;) {
      this.#dropCancelled();
      const first = this.#heap[0];
      if (first === undefined || first.dueMs > nowMs) return;
      this.#removeFirst();
      const { action } = first;
      first.action = undefined;
      action?.();
    }
  }

  #clear(): void {
    if (this.#cancelled < MANY_CANCELLED || 2 * this.#cancelled < this.#heap.length) return;
    const live = this.#heap.filter((entry) => entry.action !== undefined);
    this.#heap = [];
    this.#cancelled = 0;
    for (const entry of live) this.#rise(this.#heap.push(entry) - 1, entry);
  }

  #dropCancelled(): void {
    while (this.#heap[0] !== undefined && this.#heap[0].action === undefined) {
      this.#removeFirst();
      this.#cancelled -= 1;
    }
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

/** Pending queries to the application, at most `limit` at a time. */
export class Questions<Answer> {
  readonly #limit: number;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #lastId = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Registers a query and returns its ID, or undefined if too many are pending. */
  ask(answered: (answer: Answer) => void): number | undefined {
    if (this.#waiting.size >= this.#limit) return undefined;
    this.#lastId += 1;
    this.#waiting.set(this.#lastId, answered);
    return this.#lastId;
  }

  /** Delivers an answer; the answer to a cancelled query is dropped. */
  answer(id: number, answer: Answer): void {
    const answered = this.#waiting.get(id);
    this.#waiting.delete(id);
    answered?.(answer);
  }
}
