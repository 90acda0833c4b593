/** Named deadlines of one machine. Small by design: a machine has a handful of timers. */
export class TimerSet<Name extends string> {
  readonly #due = new Map<Name, number>();

  set(name: Name, dueMs: number): void {
    this.#due.set(name, dueMs);
  }

  clear(name: Name): void {
    this.#due.delete(name);
  }

  clearAll(): void {
    this.#due.clear();
  }

  has(name: Name): boolean {
    return this.#due.has(name);
  }

  /** Removes and returns the timers due at `nowMs`, earliest first. */
  takeDue(nowMs: number): Name[] {
    const due = [...this.#due].filter(([, at]) => at <= nowMs).sort((a, b) => a[1] - b[1]);
    for (const [name] of due) this.#due.delete(name);
    return due.map(([name]) => name);
  }

  deadlineMs(): number | undefined {
    let earliest: number | undefined;
    for (const at of this.#due.values()) {
      if (earliest === undefined || at < earliest) earliest = at;
    }
    return earliest;
  }
}
