/** A row of `entry_total`, or what is to be added to one. */
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

/** What a transaction adds to the sums by day: the entries of one account mostly go into one row, which is written once. */
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

  /** Those to be written; then there are none. */
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
