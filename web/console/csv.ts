/** Reads and writes CSV (RFC 4180) for the preview of contact lists. */

/** Reads a file of a spreadsheet: UTF-16 with a byte order mark, UTF-8, or else Windows-1252, as the service does. */
export async function textOf(file: Blob): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const mark = `${bytes[0]} ${bytes[1]}`;
  if (mark === '255 254') return new TextDecoder('utf-16le').decode(bytes);
  if (mark === '254 255') return new TextDecoder('utf-16be').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

/** Parses CSV text into rows of cells. Empty lines are skipped. */
export function readCsv(csv: string): readonly (readonly string[])[] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let isQuoted = false;
  const endCell = () => {
    row.push(cell);
    cell = '';
  };
  const endRow = () => {
    endCell();
    if (row.some((one) => one !== '')) rows.push(row);
    row = [];
  };
  for (let at = csv.startsWith('\uFEFF') ? 1 : 0; at < csv.length; at += 1) {
    const one = csv[at];
    if (isQuoted) {
      if (one !== '"') cell += one;
      else if (csv[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else isQuoted = false;
    } else if (one === '"' && cell === '') isQuoted = true;
    else if (one === ',') endCell();
    else if (one === '\n' || (one === '\r' && csv[at + 1] !== '\n')) endRow();
    else if (one !== '\r') cell += one;
  }
  endRow();
  return rows;
}

const written = (cell: string): string =>
  /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;

export const writeCsv = (rows: readonly (readonly string[])[]): string =>
  rows.map((row) => `${row.map(written).join(',')}\r\n`).join('');
