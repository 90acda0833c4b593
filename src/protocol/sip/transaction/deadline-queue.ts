/** Earliest deadline among many machines: a binary heap whose stale entries are dropped when they surface. */

interface Timed {
  deadlineMs(): number | undefined;
}

interface Entry<T> {
  readonly dueMs: number;
  readonly item: T;
}

export class DeadlineQueue<T extends Timed> {
  readonly #heap: Entry<T>[] = [];
  /** The entry that counts for each item; older ones in the heap are stale. */
  readonly #scheduled = new Map<T, number>();

  /** To be called after anything that may have changed the item's deadline. */
  update(item: T): void {
    const dueMs = item.deadlineMs();
    if (dueMs === this.#scheduled.get(item)) return;
    if (dueMs === undefined) {
      this.#scheduled.delete(item);
      return;
    }
    this.#scheduled.set(item, dueMs);
    this.#push({ dueMs, item });
  }

  remove(item: T): void {
    this.#scheduled.delete(item);
  }

  deadlineMs(): number | undefined {
    this.#dropStale();
    return this.#heap[0]?.dueMs;
  }

  /** Removes and returns the item with the earliest deadline, if that is due. */
  takeDue(nowMs: number): T | undefined {
    this.#dropStale();
    const top = this.#heap[0];
    if (top === undefined || top.dueMs > nowMs) return undefined;
    this.#pop();
    this.#scheduled.delete(top.item);
    return top.item;
  }

  #dropStale(): void {
    for (let top = this.#heap[0]; top !== undefined; top = this.#heap[0]) {
      if (this.#scheduled.get(top.item) === top.dueMs) return;
      this.#pop();
    }
  }

  #push(entry: Entry<T>): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(entry);
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = heap[parentAt];
      if (parent === undefined || parent.dueMs <= entry.dueMs) break;
      heap[at] = parent;
      at = parentAt;
    }
    heap[at] = entry;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let childAt = 2 * at + 1;
      const left = heap[childAt];
      const right = heap[childAt + 1];
      if (left === undefined) break;
      let child = left;
      if (right !== undefined && right.dueMs < left.dueMs) {
        child = right;
        childAt += 1;
      }
      if (last.dueMs <= child.dueMs) break;
      heap[at] = child;
      at = childAt;
    }
    heap[at] = last;
  }
}
