import type { UploadRow } from '../../../domain/campaign/types.ts';

/** Reads a contact list from bytes as they arrive. */
export interface ListReader {
  /** Rows that were completed by these bytes. Throws `ListFault` when the list as a whole cannot be read. */
  write(bytes: Uint8Array): readonly UploadRow[];
  /** The remaining rows. */
  end(): readonly UploadRow[];
  /** Names of the columns that become SIP headers, as they were written. */
  readonly headers: readonly string[];
}

/** The list as a whole cannot be read; nothing of it is kept. The message follows `file`. */
export class ListFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ListFault';
  }
}

/** Limit of one row: four times what a row can hold within the limits of its cells. */
export const ROW_BYTES_MAX = 64 * 1024;
