interface Armed<Name> {
  readonly name: Name;
  dueMs: number;
}

const NONE: readonly never[] = [];

/**
 * Named deadlines of one machine. A machine has few timers, so a list is fastest. The list shrinks with its content,
 * because transactions keep it for half a minute.
 */
export class TimerSet<Name extends string> {
  #armed: readonly Armed<Name>[] = NONE;

  set(name: Name, dueMs: number): void {
    for (const timer of this.#armed) {
      if (timer.name !== name) continue;
      timer.dueMs = dueMs;
      return;
    }
    this.#armed = this.#armed.concat({ name, dueMs });
  }

  clear(name: Name): void {
    this.keepOnly((other) => other !== name);
  }

  clearAll(): void {
    this.#armed = NONE;
  }

  /** Clears all timers for which `stays` returns false. */
  keepOnly(stays: (name: Name) => boolean): void {
    let retained = 0;
    for (const { name } of this.#armed) if (stays(name)) retained += 1;
    if (retained === 0) this.#armed = NONE;
    else if (retained < this.#armed.length)
      this.#armed = this.#armed.filter(({ name }) => stays(name));
  }

  has(name: Name): boolean {
    for (const timer of this.#armed) if (timer.name === name) return true;
    return false;
  }

  /** Removes and returns the timers due at `nowMs`, earliest first. */
  takeDue(nowMs: number): readonly Name[] {
    const earliestMs = this.deadlineMs();
    if (earliestMs === undefined || earliestMs > nowMs) return NONE;
    const all = this.#armed;
    this.#armed = all.length === 1 ? NONE : all.filter(({ dueMs }) => dueMs > nowMs);
    const due = this.#armed === NONE ? all.slice() : all.filter(({ dueMs }) => dueMs <= nowMs);
    return due.sort((a, b) => a.dueMs - b.dueMs).map(({ name }) => name);
  }

  deadlineMs(): number | undefined {
    let earliest: number | undefined;
    for (const { dueMs } of this.#armed)
      if (earliest === undefined || dueMs < earliest) earliest = dueMs;
    return earliest;
  }
}
