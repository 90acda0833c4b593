/** Formats CSV lines (RFC 4180). */

export type CsvCell = string | number | boolean | null | undefined;

const NEEDS_QUOTES = /[",\r\n]/;
/**
 * Cells that a spreadsheet would run as a formula. Signed numbers, also with separators of telephone numbers, are not
 * changed.
 */
const FORMULA = /^[=@\t\r\n]|^[+-](?![\d.][\d .()/-]*$)/;

export const csvLine = (cells: readonly CsvCell[]): string => `${cells.map(csvCell).join(',')}\r\n`;

function csvCell(value: CsvCell): string {
  if (value === null || value === undefined) return '';
  const text = String(value);
  const safe = typeof value === 'string' && FORMULA.test(text) ? `'${text}` : text;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
