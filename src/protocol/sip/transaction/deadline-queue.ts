/**
 * Finds the earliest deadline among many state machines: a binary heap whose stale entries are dropped when they reach
 * the top.
 */

export interface Timed {
  deadlineMs(): number | undefined;
  /** Deadline of the valid heap entry, set by the queue; older entries are stale. */
  queuedMs: number | undefined;
}

interface Entry<T> {
  readonly dueMs: number;
  readonly item: T;
}

export class DeadlineQueue<T extends Timed> {
  readonly #heap: Entry<T>[] = [];

  /** Call after every change that may affect the item's deadline. */
  update(item: T): void {
    const dueMs = item.deadlineMs();
    if (dueMs === item.queuedMs) return;
    item.queuedMs = dueMs;
    if (dueMs !== undefined) this.#push({ dueMs, item });
  }

  remove(item: T): void {
    item.queuedMs = undefined;
  }

  deadlineMs(): number | undefined {
    this.#dropStale();
    return this.#heap[0]?.dueMs;
  }

  /** Removes and returns the item with the earliest deadline if it is due. */
  takeDue(nowMs: number): T | undefined {
    this.#dropStale();
    const top = this.#heap[0];
    if (top === undefined || top.dueMs > nowMs) return undefined;
    this.#pop();
    top.item.queuedMs = undefined;
    return top.item;
  }

  #dropStale(): void {
    for (let top = this.#heap[0]; top !== undefined; top = this.#heap[0]) {
      if (top.item.queuedMs === top.dueMs) return;
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
