import type { UploadRow } from '../../../domain/campaign/types.ts';

/** Takes a contact list apart as its bytes come in. */
export interface ListReader {
  /** Rows that were completed by these bytes. Throws `ListFault` when the list as a whole cannot be read. */
  write(bytes: Uint8Array): readonly UploadRow[];
  /** The rest. */
  end(): readonly UploadRow[];
  /** Names of the columns that become SIP headers, as they were written. */
  readonly headers: readonly string[];
}

/** The list is no list: nothing of it is kept. The message follows `file`. */
export class ListFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ListFault';
  }
}

/** Bytes of one row at most: everything that a row may hold fits, four times over. */
export const ROW_BYTES_MAX = 64 * 1024;
