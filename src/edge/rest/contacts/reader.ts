import type { UploadRow } from '../../../domain/campaign/types.ts';

/** Reads a contact list from bytes as they arrive. */
export interface ListReader {
  /** Returns the rows that these bytes complete. Throws `ListFault` when the list as a whole cannot be read. */
  write(bytes: Uint8Array): readonly UploadRow[];
  /** Returns the remaining rows. */
  end(): readonly UploadRow[];
  /** Names of the columns that become SIP headers, as written in the list. */
  readonly headers: readonly string[];
}

/** Thrown when the list as a whole cannot be read; the whole list is discarded. The message follows `file`. */
export class ListFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ListFault';
  }
}

/** Maximum size of a row, bytes: four times the size of a row with cells of maximum length. */
export const ROW_BYTES_MAX = 64 * 1024;
