import type { Row } from './row.ts';

/** Rows kept at a time; more, and all are read anew. */
const LIMIT = 1000;

const ownerOf = (accountId: string, currency: string): string => `${accountId} ${currency}`;

/**
 * Balances as the writing connection knows them. A call moves its balance four times, in two units of work, and the calls of a
 * batch move the same balance: the moves are summed up here and written once, before the transaction ends, and what was
 * written need not be read again. Whoever undoes a unit of work, or changes a balance by SQL, has them forgotten.
 */
export class BalanceRows {
  readonly #byId = new Map<string, Row>();
  readonly #idByOwner = new Map<string, string>();
  /** By the unit of work that runs now. */
  readonly #touched = new Set<string>();
  /** Not written yet. */
  readonly #changed = new Set<string>();

  byId(id: string): Row | undefined {
    return this.#byId.get(id);
  }

  byOwner(accountId: string, currency: string): Row | undefined {
    const id = this.#idByOwner.get(ownerOf(accountId, currency));
    return id === undefined ? undefined : this.#byId.get(id);
  }

  /** As it is in the table. */
  keep(row: Row): void {
    if (this.#byId.size >= LIMIT && this.#touched.size === 0 && this.#changed.size === 0)
      this.forget();
    this.#set(row);
  }

  /** As the unit of work that runs now leaves it. */
  change(row: Row): void {
    this.#set(row);
    const id = String(row['id']);
    this.#touched.add(id);
    this.#changed.add(id);
  }

  /** Changed in the table, past these rows. */
  changedElsewhere(id: string): void {
    this.#byId.delete(id);
    this.#touched.add(id);
  }

  /** What the unit of work has touched; then there is nothing touched. */
  takeTouched(): readonly string[] {
    if (this.#touched.size === 0) return [];
    const touched = [...this.#touched];
    this.#touched.clear();
    return touched;
  }

  /** What is to be written; then there is nothing. */
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
