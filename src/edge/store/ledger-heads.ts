/** Number and time of an account's latest entry. */
export interface LedgerHead {
  readonly seq: number;
  readonly createdUs: number;
}

/** Accounts of which the latest entry is remembered. */
const LIMIT = 1000;

/** The latest entry of each account that has posted one of late. What has changed is written once, before the transaction ends. */
export class LedgerHeads {
  readonly #known = new Map<string, LedgerHead>();
  readonly #changed = new Set<string>();

  get(accountId: string): LedgerHead | undefined {
    return this.#known.get(accountId);
  }

  /** As it is in the table. */
  keep(accountId: string, head: LedgerHead): void {
    if (this.#known.size >= LIMIT && this.#changed.size === 0) this.#known.clear();
    this.#known.set(accountId, head);
  }

  /** As the transaction leaves it. */
  change(accountId: string, head: LedgerHead): void {
    this.keep(accountId, head);
    this.#changed.add(accountId);
  }

  /** Those to be written; then there are none. */
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
