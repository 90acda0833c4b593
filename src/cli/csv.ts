import { readFileSync } from 'node:fs';
import { CsvError } from 'csv-parse';
import { parse } from 'csv-parse/sync';

/** Row of a CSV table and the line number at which it begins. */
export interface CsvRow {
  readonly line: number;
  readonly cells: Readonly<Record<string, string>>;
}

/**
 * Reads the rows of a CSV file (RFC 4180) into records keyed by the names in the first line.
 * Accepts any line ends and skips a byte order mark. Throws if a column is not in `known` or a row does not match.
 */
export function readCsv(file: string, known: readonly string[]): readonly CsvRow[] {
  const [head, ...rows] = read(file);
  if (head === undefined) throw new Error(`${file} is empty`);
  const names = head.cells.map((name) => name.trim());
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new Error(`${file} has columns ${unknown.join(', ')}; supported are ${known.join(', ')}`);
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

/** Splits text into records with their line numbers. Skips empty lines. */
function records(text: string): readonly CsvRecord[] {
  const found = parse(text, {
    bom: true,
    info: true,
    record_delimiter: ['\r\n', '\n', '\r'],
    // `readCsv` reports column counts with the line number.
    relax_column_count: true,
    skip_empty_lines: true,
  }) as unknown as ReadonlyArray<{ info: { lines: number }; record: readonly string[] }>;
  return found.map(({ info, record }) => ({
    // The parser reports the line on which a record ends.
    line: info.lines - record.reduce((sum, cell) => sum + (cell.match(BREAK)?.length ?? 0), 0),
    cells: record,
  }));
}

/** Reads a CSV file. Throws with file and line if it is malformed. */
function read(file: string): readonly CsvRecord[] {
  const text = readFileSync(file, 'utf8');
  try {
    return records(text);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const { lines } = error as CsvError & { readonly lines?: number };
    throw new Error(`${file} line ${lines ?? 1}: misplaced quote`, {
      cause: error,
    });
  }
}
