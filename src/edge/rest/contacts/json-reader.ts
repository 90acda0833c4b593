/** Reads contact lists in JSON: `[{"to": …}, …]`, or an object with that array as `contacts`. */
import { JSONParser } from '@streamparser/json';
import type { UploadRow } from '../../../domain/campaign/types.ts';
import { HEADERS_MAX, headerNameProblem } from '../wire/sip-headers.ts';
import { ListFault, type ListReader, ROW_BYTES_MAX } from './reader.ts';
import { type Cell, isKnownColumn, type KnownColumn, readRow, refusedRow } from './row.ts';

const SHAPE = 'must be a JSON array of contacts, or an object with such an array as contacts';

export class JsonListReader implements ListReader {
  readonly #headers = new Set<string>();
  #parser: JSONParser | undefined;
  #rowNumber = 0;
  #read: UploadRow[] = [];
  /** Number of bytes since the last complete row. */
  #pendingBytes = 0;

  get headers(): readonly string[] {
    return [...this.#headers];
  }

  write(bytes: Uint8Array): readonly UploadRow[] {
    // Written in pieces, so that the length of an unfinished row can be limited.
    for (let at = 0; at < bytes.length; at += ROW_BYTES_MAX) {
      this.#writePiece(bytes.subarray(at, at + ROW_BYTES_MAX));
    }
    const rows = this.#read;
    this.#read = [];
    return rows;
  }

  end(): readonly UploadRow[] {
    if (this.#parser === undefined) throw new ListFault(`is empty; it ${SHAPE}`);
    if (!this.#parser.isEnded) throw new ListFault('ends before its JSON is complete');
    return [];
  }

  #writePiece(piece: Uint8Array): void {
    const parser = this.#parserFor(piece);
    if (parser === undefined) return;
    const before = this.#rowNumber;
    try {
      parser.write(piece);
    } catch (error) {
      if (error instanceof ListFault) throw error;
      throw new ListFault(`is not valid JSON after contact ${this.#rowNumber}`);
    }
    this.#pendingBytes = this.#rowNumber === before ? this.#pendingBytes + piece.length : 0;
    if (this.#pendingBytes > 2 * ROW_BYTES_MAX && !parser.isEnded) {
      throw new ListFault(
        `has a contact of more than ${ROW_BYTES_MAX} bytes, or other members; it ${SHAPE}`,
      );
    }
  }

  /** The first character that is not white space decides whether the contacts are the array itself or a member of an object. */
  #parserFor(piece: Uint8Array): JSONParser | undefined {
    if (this.#parser !== undefined) return this.#parser;
    const text = Buffer.from(piece)
      .toString('latin1')
      .replace(/^\u00ef\u00bb\u00bf/, '');
    const first = text.trimStart()[0];
    if (first === undefined) return undefined;
    if (first !== '[' && first !== '{') throw new ListFault(SHAPE);
    const parser = new JSONParser({
      paths: [first === '[' ? '$.*' : '$.contacts.*'],
      keepStack: false,
    });
    parser.onValue = ({ value }) => this.#take(value);
    this.#parser = parser;
    return parser;
  }

  #take(value: unknown): void {
    this.#rowNumber += 1;
    this.#read.push(this.#readRow(value));
  }

  #readRow(value: unknown): UploadRow {
    const rowNumber = this.#rowNumber;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return refusedRow(rowNumber, 'is not an object');
    }
    const known: Partial<Record<KnownColumn, string>> = {};
    const headers: Cell[] = [];
    for (const [column, member] of Object.entries(value)) {
      const text = textOf(member);
      if (text === undefined) return refusedRow(rowNumber, `${column} must be text`);
      if (isKnownColumn(column)) {
        known[column] = text;
        continue;
      }
      const problem = headerNameProblem(column) ?? this.#headerProblem(column);
      if (problem !== undefined) return refusedRow(rowNumber, `${column.slice(0, 64)} ${problem}`);
      headers.push({ column, text });
    }
    return readRow(rowNumber, known, headers);
  }

  #headerProblem(name: string): string | undefined {
    if (this.#headers.has(name)) return undefined;
    if (this.#headers.size >= HEADERS_MAX)
      return `exceeds the limit of ${HEADERS_MAX} headers in a list`;
    this.#headers.add(name);
    return undefined;
  }
}

/** Converts a cell to text. Null becomes empty text. Returns undefined for anything but text, numbers and booleans. */
function textOf(value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
    case 'boolean':
      return String(value);
    default:
      return value === null ? '' : undefined;
  }
}
