import { DAY_MS, SECOND_MS } from '../../base/duration.ts';
import { assert } from '../../base/errors.ts';
import type { Connection, Parameters, Row, SqlValue } from './connection.ts';
import { readingRow } from './unreadable.ts';
import type { Vault } from './vault.ts';

/** Maps a field of a record to its column. The vault encrypts values that must not be readable in the file. */
export interface Column<T> {
  readonly name: string;
  write(value: T, vault: Vault): SqlValue;
  read(value: SqlValue, vault: Vault): T;
}

/** Creates a column of a kind. */
type ColumnKind<T> = (name: string) => Column<T>;

/**
 * Columns for every field of the record. A new field of the domain type does not compile until it has a column. The
 * column of a kind without a name has the name of its field in snake case.
 */
export type Columns<T> = { readonly [Key in keyof T]-?: Column<T[Key]> | ColumnKind<T[Key]> };

export const text = <T extends string = string>(name: string): Column<T> => ({
  name,
  write: (value) => value,
  read: (value) => String(value) as T,
});

/** An integer column. `T`: a branded number such as money. */
export const int = <T extends number = number>(name: string): Column<T> => ({
  name,
  write: (value) => value,
  read: (value) => {
    const number = Number(value);
    assert(!Number.isNaN(number), `${name} is not a number`);
    return number as T;
  },
});

/** Stores milliseconds as seconds. */
export const seconds = (name: string): Column<number> =>
  converted(
    int(name),
    (ms: number) => ms / SECOND_MS,
    (stored) => stored * SECOND_MS,
  );

/** Stores milliseconds as days. */
export const days = (name: string): Column<number> =>
  converted(
    int(name),
    (ms: number) => ms / DAY_MS,
    (stored) => stored * DAY_MS,
  );

export const flag = (name: string): Column<boolean> => ({
  name,
  write: (value) => (value ? 1 : 0),
  read: (value) => value === 1,
});

/** Stores JSON with a version, using `codec`. */
export const stored = <T>(
  name: string,
  codec: { write(value: T): string; read(text: string): T },
): Column<T> => ({
  name,
  write: (value) => codec.write(value),
  read: (value) => codec.read(String(value)),
});

/** A column whose stored form differs from the field in unit or shape. */
export const converted = <T, Stored>(
  column: Column<Stored>,
  write: (value: T) => Stored,
  read: (stored: Stored) => T,
): Column<T> => ({
  name: column.name,
  write: (value, vault) => column.write(write(value), vault),
  read: (value, vault) => read(column.read(value, vault)),
});

/** Stores undefined as NULL. */
export const optional = <T>(column: Column<T>): Column<T | undefined> => ({
  name: column.name,
  write: (value, vault) => (value === undefined ? null : column.write(value, vault)),
  read: (value, vault) => (value === null ? undefined : column.read(value, vault)),
});

export const optionalText = <T extends string = string>(name: string): Column<T | undefined> =>
  optional(text<T>(name));

export const optionalInt = <T extends number = number>(name: string): Column<T | undefined> =>
  optional(int<T>(name));

export const optionalFlag = (name: string): Column<boolean | undefined> => optional(flag(name));

const snakeCase = (field: string): string =>
  field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Columns that identify the node that created a row. */
const OWNER = ['node_id', 'epoch'] as const;

/** A table whose rows are records of the domain. */
export class Table<T extends object> {
  readonly name: string;
  readonly #fields: ReadonlyArray<readonly [key: string, column: Column<unknown>]>;
  readonly #insert: string;
  readonly #insertNew: string;
  readonly #isOwned: boolean;
  /** Column that identifies an unreadable row in reports. */
  readonly #key: string;

  constructor(name: string, columns: Columns<T>, rows: 'of all' | 'of a node' = 'of all') {
    this.name = name;
    this.#isOwned = rows === 'of a node';
    this.#fields = Object.entries(
      columns as Record<string, Column<unknown> | ColumnKind<unknown>>,
    ).map(([key, column]) => [key, typeof column === 'function' ? column(snakeCase(key)) : column]);
    this.#key = this.#fields[0]?.[1].name ?? '';
    const names = [
      ...this.#fields.map(([, column]) => column.name),
      ...(this.#isOwned ? OWNER : []),
    ];
    this.#insert = `INTO ${name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
    this.#insertNew = `INSERT ${this.#insert} ON CONFLICT DO NOTHING`;
  }

  insert(db: Connection, record: T): void {
    db.send(`INSERT ${this.#insert}`, this.#write(db, record));
  }

  /** Inserts a record; returns false if a row with the same primary or unique key exists. */
  insertNew(db: Connection, record: T): boolean {
    return db.changesOne(this.#insertNew, this.#write(db, record));
  }

  /** Like `insertNew`, for a `row` that nothing else in the transaction reads (see Connection.sendLater). */
  insertNewLater(db: Connection, row: string, record: T): boolean {
    return db.changesOneLater(row, this.#insertNew, this.#write(db, record));
  }

  /** Inserts a row, or updates the row with the same `key` (column names). */
  replace(db: Connection, record: T, key: readonly string[]): void {
    const sets = this.#fields
      .map(([, column]) => column.name)
      .filter((name) => !key.includes(name))
      .map((name) => `${name} = excluded.${name}`);
    db.send(
      `INSERT ${this.#insert} ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${sets.join(', ')}`,
      this.#write(db, record),
    );
  }

  /** Returns the first matching record. `where` is the SQL after WHERE. */
  get(db: Connection, where: string, parameters: Parameters): T | undefined {
    const row = db.get(`SELECT * FROM ${this.name} WHERE ${where}`, parameters);
    return row === undefined ? undefined : this.read(db, row);
  }

  /** Returns all matching records; unreadable rows are omitted and recorded. */
  all(db: Connection, rest: string, parameters: Parameters): readonly T[] {
    const rows = db.all(`SELECT * FROM ${this.name} ${rest}`, parameters);
    return this.readAll(db, rows);
  }

  /** Sets the fields in the patch, and `updated_us` if the table has it. */
  patch(
    db: Connection,
    patch: Partial<T>,
    where: string,
    parameters: Readonly<Record<string, SqlValue>>,
  ): T | undefined {
    const assignments: string[] = [];
    const values: Record<string, SqlValue> = { ...parameters };
    for (const [key, column] of this.#fields) {
      if (key === 'updatedUs') {
        assignments.push(`${column.name} = @set_${column.name}`);
        values[`set_${column.name}`] = db.nowUs;
      } else if (key in patch) {
        assignments.push(`${column.name} = @set_${column.name}`);
        values[`set_${column.name}`] = column.write(
          (patch as Record<string, unknown>)[key],
          db.vault,
        );
      }
    }
    if (assignments.length === 0) return this.get(db, where, parameters);
    const sql = `UPDATE ${this.name} SET ${assignments.join(', ')} WHERE ${where} RETURNING *`;
    const row = db.get(sql, values);
    return row === undefined ? undefined : this.read(db, row);
  }

  /** Reads rows; unreadable ones are omitted and recorded. */
  readAll(db: Connection, rows: readonly Row[]): readonly T[] {
    return db.readable(rows, (row) => this.read(db, row));
  }

  /** Converts a row to a record. Throws `UnreadableRowError`. */
  read(db: Connection, row: Row): T {
    const record: Record<string, unknown> = {};
    for (const [, { name }] of this.#fields)
      assert(row[name] !== undefined, `${this.name} has no column ${name}`);
    readingRow(this.name, this.#key, row, () => {
      for (const [key, column] of this.#fields)
        record[key] = column.read(row[column.name] as SqlValue, db.vault);
    });
    return record as T;
  }

  #write(db: Connection, record: T): readonly SqlValue[] {
    const values = this.#fields.map(([key, column]) =>
      column.write((record as Record<string, unknown>)[key], db.vault),
    );
    if (this.#isOwned) values.push(db.node.id, db.node.epoch);
    return values;
  }
}
