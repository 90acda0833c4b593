import { ServiceError } from '../../base/errors.ts';
import type { Row } from './row.ts';

/** A row that this version cannot read. The row stays in its table; `original` is a copy. */
export interface UnreadableRow {
  readonly table: string;
  /** Value of the row's key column. */
  readonly key: string;
  readonly reason: string;
  /** JSON of the stored columns. Bytes are `{"base64": …}`. */
  readonly original: string;
}

/** Thrown by operations that read a single row. */
export class UnreadableRowError extends ServiceError {
  readonly row: UnreadableRow;

  constructor(row: UnreadableRow) {
    super('STORE_UNREADABLE', `the row ${row.key} of ${row.table} cannot be read: ${row.reason}`);
    this.row = row;
  }
}

/** Runs `read`. If it throws, the row counts as unreadable. */
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
  /** Number of rows found, including unreadable ones. */
  readonly rows: number;
  readonly items: readonly T[];
  /** Start of the next part. */
  readonly next: From;
}

/** Collects `limit` readable rows, or all remaining ones. A shorter result means that the end was reached. */
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
