import type { Row } from './row.ts';

/** Rows kept at a time; more, and all are read anew. */
const LIMIT = 1000;

const ownerOf = (accountId: string, currency: string): string => `${accountId} ${currency}`;

/**
 * Balances as the writing connection knows them. A call moves its balance four times, in two units of work: within a unit the
 * moves are summed up here and written once, and what was written need not be read again. Whoever undoes a unit of
 * work, or changes a balance by SQL, has them forgotten.
 */
export class BalanceRows {
  readonly #byId = new Map<string, Row>();
  readonly #idByOwner = new Map<string, string>();
  /** Touched by the unit of work that runs now; true: not written yet. */
  readonly #touched = new Map<string, boolean>();

  byId(id: string): Row | undefined {
    return this.#byId.get(id);
  }

  byOwner(accountId: string, currency: string): Row | undefined {
    const id = this.#idByOwner.get(ownerOf(accountId, currency));
    return id === undefined ? undefined : this.#byId.get(id);
  }

  /** As it is in the table. */
  keep(row: Row): void {
    if (this.#byId.size >= LIMIT && this.#touched.size === 0) this.forget();
    this.#set(row);
  }

  /** As the unit of work that runs now leaves it, to be written at its end. */
  change(row: Row): void {
    this.#set(row);
    this.#touched.set(String(row['id']), true);
  }

  /** Changed in the table, past these rows. */
  changedElsewhere(id: string): void {
    this.#byId.delete(id);
    this.#touched.set(id, false);
  }

  /** What the unit of work has touched, and whether that is not written yet; then there is nothing touched. */
  takeTouched(): ReadonlyMap<string, boolean> {
    const touched = new Map(this.#touched);
    this.#touched.clear();
    return touched;
  }

  forget(): void {
    this.#byId.clear();
    this.#idByOwner.clear();
    this.#touched.clear();
  }

  #set(row: Row): void {
    const id = String(row['id']);
    this.#byId.set(id, row);
    this.#idByOwner.set(ownerOf(String(row['account_id']), String(row['currency'])), id);
  }
}
