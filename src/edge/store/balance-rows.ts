import type { Row } from './row.ts';

/** Maximum number of cached rows. Beyond it, all rows are dropped and read again. */
const LIMIT = 1000;

const ownerOf = (accountId: string, currency: string): string => `${accountId} ${currency}`;

/**
 * Caches the balance rows of the writing connection. A call changes its balance four times in two units of work, and the calls
 * of a batch share balances. The changes are summed here and written once, before the transaction ends; written rows need not
 * be read again. Code that rolls back a unit of work, or changes a balance by SQL, must clear the affected rows.
 */
export class BalanceRows {
  readonly #byId = new Map<string, Row>();
  readonly #idByOwner = new Map<string, string>();
  /** Balances that the current unit of work changed. */
  readonly #touched = new Set<string>();
  /** Balances with changes that are not written yet. */
  readonly #changed = new Set<string>();

  byId(id: string): Row | undefined {
    return this.#byId.get(id);
  }

  byOwner(accountId: string, currency: string): Row | undefined {
    const id = this.#idByOwner.get(ownerOf(accountId, currency));
    return id === undefined ? undefined : this.#byId.get(id);
  }

  /** Caches a row as it is in the table. */
  keep(row: Row): void {
    if (this.#byId.size >= LIMIT && this.#touched.size === 0 && this.#changed.size === 0)
      this.forget();
    this.#set(row);
  }

  /** Stores a row as the current unit of work changed it. */
  change(row: Row): void {
    this.#set(row);
    const id = String(row['id']);
    this.#touched.add(id);
    this.#changed.add(id);
  }

  /** Drops a row that SQL changed directly in the table. */
  changedElsewhere(id: string): void {
    this.#byId.delete(id);
    this.#touched.add(id);
  }

  /** Returns the balances that the unit of work changed, and clears the set. */
  takeTouched(): readonly string[] {
    if (this.#touched.size === 0) return [];
    const touched = [...this.#touched];
    this.#touched.clear();
    return touched;
  }

  /** Returns the rows to write, and clears the set. */
  takeChanged(): readonly Row[] {
    if (this.#changed.size === 0) return [];
    const changed = [...this.#changed].map((id) => this.#byId.get(id));
    this.#changed.clear();
    return changed.filter((row) => row !== undefined);
  }

  forget(): void {
    this.#byId.clear();
    this.#idByOwner.clear();
    this.#touched.clear();
    this.#changed.clear();
  }

  #set(row: Row): void {
    const id = String(row['id']);
    this.#byId.set(id, row);
    this.#idByOwner.set(ownerOf(String(row['account_id']), String(row['currency'])), id);
  }
}
