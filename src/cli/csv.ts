import { readFileSync } from 'node:fs';

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
  const text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  const [head, ...rows] = records(text);
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
  readonly cells: string[];
}

/** Empty lines are skipped. */
function records(text: string): readonly CsvRecord[] {
  const found: CsvRecord[] = [];
  // A quoted cell, with "" for a quote inside, or a bare one; then what ends it.
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|\n|\r|$)/gy;
  let line = 1;
  let current: CsvRecord = { line, cells: [] };
  while (cell.lastIndex < text.length) {
    const match = cell.exec(text);
    if (match === null) throw new Error(`line ${line}: a quote stands where none may be`);
    const [all, quoted, bare = '', end = ''] = match;
    current.cells.push(quoted === undefined ? bare : quoted.replaceAll('""', '"'));
    line += all.match(/\r\n|\n|\r/g)?.length ?? 0;
    if (end === ',') {
      if (cell.lastIndex === text.length) current.cells.push('');
      continue;
    }
    if (current.cells.length > 1 || current.cells[0] !== '') found.push(current);
    current = { line, cells: [] };
  }
  if (current.cells.length > 0) found.push(current);
  return found;
}
