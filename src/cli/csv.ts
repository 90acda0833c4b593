import { readFileSync } from 'node:fs';
import { CsvError } from 'csv-parse';
import { parse } from 'csv-parse/sync';

/** A row of a table, and the line on which it begins. */
export interface CsvRow {
  readonly line: number;
  readonly cells: Readonly<Record<string, string>>;
}

/**
 * Rows of a CSV file (RFC 4180; line ends of any kind, a byte order mark is skipped) under the names of its first line.
 * Throws a plain sentence when the columns are not those that are known, or a row does not fit them.
 */
export function readCsv(file: string, known: readonly string[]): readonly CsvRow[] {
  const [head, ...rows] = read(file);
  if (head === undefined) throw new Error(`${file} is empty`);
  const names = head.cells.map((name) => name.trim());
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new Error(`${file} has columns ${unknown.join(', ')}; there are ${known.join(', ')}`);
  }
  return rows.map(({ line, cells }) => {
    if (cells.length !== names.length) {
      throw new Error(`${file} line ${line}: ${cells.length} cells under ${names.length} columns`);
    }
    return { line, cells: Object.fromEntries(names.map((name, at) => [name, cells[at] ?? ''])) };
  });
}

interface CsvRecord {
  readonly line: number;
  readonly cells: readonly string[];
}

const BREAK = /\r\n|\n|\r/g;

/** Empty lines are skipped. */
function records(text: string): readonly CsvRecord[] {
  const found = parse(text, {
    bom: true,
    info: true,
    record_delimiter: ['\r\n', '\n', '\r'],
    // Told in words of its own, with the line.
    relax_column_count: true,
    skip_empty_lines: true,
  }) as unknown as ReadonlyArray<{ info: { lines: number }; record: readonly string[] }>;
  return found.map(({ info, record }) => ({
    // What is told is the line of its end.
    line: info.lines - record.reduce((sum, cell) => sum + (cell.match(BREAK)?.length ?? 0), 0),
    cells: record,
  }));
}

/** Throws a plain sentence when it is no CSV. */
function read(file: string): readonly CsvRecord[] {
  const text = readFileSync(file, 'utf8');
  try {
    return records(text);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const { lines } = error as CsvError & { readonly lines?: number };
    throw new Error(`${file} line ${lines ?? 1}: a quote stands where none may be`, {
      cause: error,
    });
  }
}
