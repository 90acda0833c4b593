/** Sequence number and time of an account's latest entry. */
export interface LedgerHead {
  readonly seq: number;
  readonly createdUs: number;
}

/** Maximum number of accounts whose latest entry is cached. */
const LIMIT = 1000;

/** Caches the latest entry of accounts that posted recently. Changes are written once, before the transaction ends. */
export class LedgerHeads {
  readonly #known = new Map<string, LedgerHead>();
  readonly #changed = new Set<string>();

  get(accountId: string): LedgerHead | undefined {
    return this.#known.get(accountId);
  }

  /** Caches the latest entry as it is in the table. */
  keep(accountId: string, head: LedgerHead): void {
    if (this.#known.size >= LIMIT && this.#changed.size === 0) this.#known.clear();
    this.#known.set(accountId, head);
  }

  /** Stores the latest entry as the transaction changed it. */
  change(accountId: string, head: LedgerHead): void {
    this.keep(accountId, head);
    this.#changed.add(accountId);
  }

  /** Returns the entries to write, and clears the set of changes. */
  takeChanged(): ReadonlyArray<readonly [accountId: string, head: LedgerHead]> {
    if (this.#changed.size === 0) return [];
    const changed = [...this.#changed].map((id) => [id, this.#known.get(id)] as const);
    this.#changed.clear();
    return changed.filter((one): one is [string, LedgerHead] => one[1] !== undefined);
  }

  forget(): void {
    this.#known.clear();
    this.#changed.clear();
  }
}
