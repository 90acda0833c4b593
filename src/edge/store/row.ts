/** A value that SQLite stores in a column. */
export type SqlValue = string | number | Uint8Array | null;
/** A row, keyed by column name. */
export type Row = Readonly<Record<string, SqlValue>>;
