/** Streams large sets as CSV (RFC 4180) or as one JSON object per line while they are read. */
import { Readable } from 'node:stream';
import { type CsvCell, csvLine } from '../../../base/csv.ts';
import type { RawReply } from '../http/route.ts';
import { oneOf, Type } from '../http/schema.ts';

export const formatQuery = {
  format: Type.Optional(oneOf(['csv', 'ndjson'])),
};
export type RowFormat = 'csv' | 'ndjson';

const CONTENT_TYPES = {
  csv: 'text/csv; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
} as const;

export interface RowSet {
  /** File name without its extension. */
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: AsyncIterable<Readonly<Record<string, unknown>>>;
}

/** `total`: approximate number of rows, for progress display. */
export function rowsReply(set: RowSet, format: RowFormat, total: number): RawReply {
  return {
    contentType: CONTENT_TYPES[format],
    headers: {
      'content-disposition': `attachment; filename="${set.name}.${format}"`,
      'x-total-count': String(total),
    },
    body: Readable.from(rowLines(set, format)),
  };
}

export async function* rowLines(
  { columns, rows }: Omit<RowSet, 'name'>,
  format: RowFormat,
): AsyncGenerator<string> {
  if (format === 'csv') yield csvLine(columns);
  for await (const row of rows) {
    yield format === 'csv'
      ? csvLine(columns.map((column) => row[column] as CsvCell))
      : `${JSON.stringify(row)}\n`;
  }
}

export async function* mapped<T, R>(
  items: AsyncIterable<T>,
  show: (item: T) => R,
): AsyncGenerator<R> {
  for await (const item of items) yield show(item);
}
