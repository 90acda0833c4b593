/** Checksums in the pages of a database file (`native/addon/page_checksums.cpp`). */
import { closeSync, openSync, readSync } from 'node:fs';
import Database from 'better-sqlite3';
import { ADDON } from '../../base/native-addon.ts';

/** Position of the number of reserved bytes per page in the header (https://www.sqlite.org/fileformat2.html). */
const RESERVED_AT = 20;
const CHECKSUM_BYTES = 8;

let isLoaded = false;

/** Makes connections that are opened later verify and write the checksums of their pages. */
export function loadPageChecksums(): void {
  if (isLoaded) return;
  const any = new Database(':memory:');
  any.loadExtension(ADDON);
  any.close();
  isLoaded = true;
}

/** Gives the database of this connection checksums if it is new, and all copies that the connection makes. */
export function storeChecksums(raw: Database.Database): void {
  raw.prepare('SELECT store_checksums()').get();
}

/** Returns whether the pages of a database file have checksums. */
export function hasChecksums(file: string): boolean {
  const header = Buffer.alloc(RESERVED_AT + 1);
  const descriptor = openSync(file, 'r');
  try {
    readSync(descriptor, header, 0, header.length, 0);
  } finally {
    closeSync(descriptor);
  }
  return header[RESERVED_AT] === CHECKSUM_BYTES;
}
