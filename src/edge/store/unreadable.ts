import { ServiceError } from '../../base/errors.ts';
import type { Row } from './row.ts';

/** A row that this version cannot read. It stays in its table; `original` is a copy of it. */
export interface UnreadableRow {
  readonly table: string;
  /** The value of the row's key column. */
  readonly key: string;
  readonly reason: string;
  /** JSON of the row's columns as they are stored; bytes are `{"base64": …}`. */
  readonly original: string;
}

/** Thrown where one row was asked for. */
export class UnreadableRowError extends ServiceError {
  readonly row: UnreadableRow;

  constructor(row: UnreadableRow) {
    super('STORE_UNREADABLE', `the row ${row.key} of ${row.table} cannot be read: ${row.reason}`);
    this.row = row;
  }
}

/** Runs `read`; what it throws means that the row cannot be read. */
export function readingRow<T>(table: string, keyColumn: string, row: Row, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnreadableRowError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    const key = String(row[keyColumn] ?? '');
    throw new UnreadableRowError({ table, key, reason, original: JSON.stringify(row, asText) });
  }
}

const asText = (_name: string, value: unknown): unknown =>
  value instanceof Uint8Array ? { base64: Buffer.from(value).toString('base64') } : value;

interface Part<T, From> {
  /** Rows found, the unreadable ones included. */
  readonly rows: number;
  readonly items: readonly T[];
  /** Where the next part begins. */
  readonly next: From;
}

/** `limit` readable rows, or all that are left: a walk that answers fewer is over. */
export function pastUnreadable<T, From>(
  limit: number,
  from: From,
  part: (from: From) => Part<T, From>,
): readonly T[] {
  const found: T[] = [];
  let at = from;
  for (;;) {
    const { rows, items, next } = part(at);
    found.push(...items.slice(0, limit - found.length));
    if (found.length >= limit || rows < limit) return found;
    at = next;
  }
}
