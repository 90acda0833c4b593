/** Reads contact lists in CSV (RFC 4180): columns in any order, any line ends, an optional byte order mark, quotes. */
import { type CsvError, type Parser, parse } from 'csv-parse';
import type { UploadRow } from '../../../domain/campaign/types.ts';
import { HEADERS_MAX, headerNameProblem } from '../wire/sip-headers.ts';
import { ListFault, type ListReader, ROW_BYTES_MAX } from './reader.ts';
import { type Cell, isKnownColumn, type KnownColumn, readRow, refusedRow } from './row.ts';

interface Columns {
  readonly count: number;
  readonly known: ReadonlyMap<KnownColumn, number>;
  readonly headers: ReadonlyArray<{ readonly column: string; readonly at: number }>;
}

export class CsvListReader implements ListReader {
  readonly #parser: Parser;
  #columns: Columns | undefined;
  #rowNumber = 0;
  #read: UploadRow[] = [];
  #fault: ListFault | undefined;

  constructor() {
    this.#parser = parse({
      bom: true,
      record_delimiter: ['\r\n', '\n', '\r'],
      // #take checks the number of cells: a wrong number rejects the row, not the file.
      relax_column_count: true,
      // A quote within an unquoted cell is an ordinary character.
      relax_quotes: true,
      skip_empty_lines: true,
      max_record_size: ROW_BYTES_MAX,
      on_record: (cells: string[]) => {
        this.#take(cells);
        return null;
      },
      // Delivers faults of the file synchronously; as stream errors they would arrive later.
      skip_records_with_error: true,
      on_skip: (error) => {
        this.#fault ??= faultOf(error);
        return undefined;
      },
    });
  }

  get headers(): readonly string[] {
    return this.#columns?.headers.map(({ column }) => column) ?? [];
  }

  write(bytes: Uint8Array): readonly UploadRow[] {
    // The parser works synchronously and holds back only an unfinished row.
    this.#parser.write(bytes);
    return this.#taken();
  }

  end(): readonly UploadRow[] {
    this.#parser.end();
    const rows = this.#taken();
    if (this.#columns === undefined)
      throw new ListFault('is empty: the first line must name the columns');
    return rows;
  }

  #taken(): readonly UploadRow[] {
    if (this.#fault !== undefined) throw this.#fault;
    const rows = this.#read;
    this.#read = [];
    return rows;
  }

  #take(cells: readonly string[]): void {
    if (this.#fault !== undefined) return;
    const columns = this.#columns;
    if (columns === undefined) {
      this.#readHead(cells);
      return;
    }
    // Spreadsheets leave lines of commas below a table.
    if (cells.every((cell) => cell.trim() === '')) return;
    this.#rowNumber += 1;
    if (cells.length > columns.count) {
      const reason = `has ${cells.length} cells under ${columns.count} columns`;
      this.#read.push(refusedRow(this.#rowNumber, reason));
      return;
    }
    const known: Partial<Record<KnownColumn, string>> = {};
    for (const [name, at] of columns.known) known[name] = cells[at] ?? '';
    const headers: Cell[] = columns.headers.map(({ column, at }) => ({
      column,
      text: cells[at] ?? '',
    }));
    this.#read.push(readRow(this.#rowNumber, known, headers));
  }

  #readHead(cells: readonly string[]): void {
    const columns = columnsOf(cells);
    if (typeof columns === 'string') this.#fault = new ListFault(columns);
    else this.#columns = columns;
  }
}

function faultOf(error: CsvError | undefined): ListFault {
  switch (error?.code) {
    case 'CSV_MAX_RECORD_SIZE':
      return new ListFault(`has a row of more than ${ROW_BYTES_MAX} bytes: is a quote not closed?`);
    case 'CSV_QUOTE_NOT_CLOSED':
      return new ListFault('ends inside a quoted cell: a quote is not closed');
    default:
      return new ListFault(`is not valid CSV: ${error?.message}`);
  }
}

/** Returns the columns, or the problem with the first line as text to follow `file`. */
function columnsOf(cells: readonly string[]): Columns | string {
  const known = new Map<KnownColumn, number>();
  const headers: { column: string; at: number }[] = [];
  const seen = new Set<string>();
  for (const [at, cell] of cells.entries()) {
    const column = cell.trim();
    const name = column.toLowerCase();
    if (name === '' && at === cells.length - 1) continue;
    if (seen.has(name)) return `has the column ${column} twice`;
    seen.add(name);
    if (isKnownColumn(name)) {
      known.set(name, at);
      continue;
    }
    const problem = headerNameProblem(column);
    if (problem !== undefined) return `has a column "${column.slice(0, 64)}" that ${problem}`;
    headers.push({ column, at });
  }
  if (!known.has('to')) {
    const found = cells.slice(0, 10).join(', ').slice(0, 200);
    return `has no column to; its first line is: ${found}`;
  }
  if (headers.length > HEADERS_MAX) return `has more than ${HEADERS_MAX} columns of SIP headers`;
  return { count: cells.length, known, headers };
}
