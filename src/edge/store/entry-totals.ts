/** A row of `entry_total`, or an amount to add to one. */
export interface EntryTotal {
  readonly accountId: string;
  readonly day: number;
  readonly currency: string;
  readonly referenceType: string;
  readonly type: string;
  readonly sign: number;
  readonly status: string;
  readonly count: number;
  readonly amount: number;
}

/**
 * Collects what a transaction adds to the daily sums. The entries of an account usually share one row, which is then written
 * once.
 */
export class EntryTotals {
  readonly #added = new Map<string, EntryTotal>();

  add(total: EntryTotal): void {
    const { accountId, day, currency, referenceType, type, sign, status } = total;
    const key = `${accountId} ${day} ${currency} ${sign} ${status} ${type} ${referenceType}`;
    const before = this.#added.get(key);
    this.#added.set(
      key,
      before === undefined
        ? total
        : { ...total, count: before.count + total.count, amount: before.amount + total.amount },
    );
  }

  /** Returns the rows to write, and clears the collection. */
  take(): readonly EntryTotal[] {
    if (this.#added.size === 0) return [];
    const added = [...this.#added.values()];
    this.#added.clear();
    return added;
  }

  forget(): void {
    this.#added.clear();
  }
}
