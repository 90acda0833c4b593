/** What SQLite keeps in a column. */
export type SqlValue = string | number | Uint8Array | null;
/** By the names of the columns. */
export type Row = Readonly<Record<string, SqlValue>>;
