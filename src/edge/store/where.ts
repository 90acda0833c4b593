import type { Page, Slice } from '../../base/page.ts';
import { plainSearch } from '../../base/phone-number.ts';
import { type Connection, integer, type SqlValue } from './connection.ts';
import type { Table } from './table.ts';

/** Conditions joined by AND. A condition whose value is undefined is omitted. */
export class Where {
  readonly #conditions: string[] = [];
  readonly #values: SqlValue[] = [];

  /** Adds a condition, which contains exactly one `?`. */
  and(condition: string, value: SqlValue | undefined): this {
    if (value !== undefined) {
      this.#conditions.push(condition);
      this.#values.push(value);
    }
    return this;
  }

  /** Adds a condition with any number of values. */
  also(condition: string, values: readonly SqlValue[] = []): this {
    this.#conditions.push(condition);
    this.#values.push(...values);
    return this;
  }

  /**
   * Adds a case-insensitive substring match; a number matches with or without `+`. Every SQL database folds both sides the
   * same way.
   */
  contains(columns: readonly string[], part: string | undefined): this {
    if (part === undefined) return this;
    const pattern = `%${plainSearch(part).replace(/[\\%_]/g, '\\$&')}%`;
    const tests = columns.map((column) => `lower(${column}) LIKE lower(?) ESCAPE '\\'`);
    return this.also(
      `(${tests.join(' OR ')})`,
      columns.map(() => pattern),
    );
  }

  get sql(): string {
    return this.#conditions.length === 0 ? 'TRUE' : this.#conditions.join(' AND ');
  }

  get values(): readonly SqlValue[] {
    return this.#values;
  }
}

/** Returns one page of a table and the size of the whole set. */
export function page<T extends object>(
  db: Connection,
  table: Table<T>,
  where: Where,
  order: string,
  slice: Slice,
): Page<T> {
  const rest = `WHERE ${where.sql} ORDER BY ${order} LIMIT ? OFFSET ?`;
  const items = table.all(db, rest, [...where.values, slice.limit, slice.offset]);
  const count = db.get(`SELECT COUNT(*) AS n FROM ${table.name} WHERE ${where.sql}`, where.values);
  return { items, total: integer(count, 'n') };
}
