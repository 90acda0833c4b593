interface Armed<Name> {
  readonly name: Name;
  dueMs: number;
}

/** Named deadlines of one machine. Small by design: a machine has a handful of timers, so a list is the quickest. */
export class TimerSet<Name extends string> {
  #armed: Armed<Name>[] = [];

  set(name: Name, dueMs: number): void {
    const known = this.#armed.find((timer) => timer.name === name);
    if (known === undefined) this.#armed.push({ name, dueMs });
    else known.dueMs = dueMs;
  }

  clear(name: Name): void {
    this.keepOnly((other) => other !== name);
  }

  clearAll(): void {
    this.#armed = [];
  }

  /** Clears all others. */
  keepOnly(stays: (name: Name) => boolean): void {
    if (!this.#armed.every(({ name }) => stays(name)))
      this.#armed = this.#armed.filter(({ name }) => stays(name));
  }

  has(name: Name): boolean {
    return this.#armed.some((timer) => timer.name === name);
  }

  /** Removes and returns the timers due at `nowMs`, earliest first. */
  takeDue(nowMs: number): Name[] {
    const due = this.#armed.filter(({ dueMs }) => dueMs <= nowMs);
    if (due.length === 0) return [];
    this.#armed = this.#armed.filter(({ dueMs }) => dueMs > nowMs);
    return due.sort((a, b) => a.dueMs - b.dueMs).map(({ name }) => name);
  }

  deadlineMs(): number | undefined {
    let earliest: number | undefined;
    for (const { dueMs } of this.#armed)
      if (earliest === undefined || dueMs < earliest) earliest = dueMs;
    return earliest;
  }
}
