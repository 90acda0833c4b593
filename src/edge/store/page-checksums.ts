/** Checksums in the pages of a database file (`native/addon/page_checksums.cpp`). */
import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import Database from 'better-sqlite3';
import { ADDON } from '../../base/native-addon.ts';
import { checksum, word } from './sqlite-checksum.ts';

/** Position of the number of reserved bytes per page in the header (https://www.sqlite.org/fileformat2.html). */
const RESERVED_AT = 20;
const CHECKSUM_BYTES = 8;
const PAGE_SIZE_AT = 16;
/** SQLite locks bytes of the page at this position, and never reads or writes it. */
const LOCK_PAGE_AT = 0x4000_0000;

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

/**
 * Returns whether the pages of an open database have checksums. Asks SQLite instead of reading the file: closing any descriptor
 * of a file drops the locks of all connections of the process to it (https://www.sqlite.org/howtocorrupt.html). The next program
 * that reads the database would then write its log to it, without checksums, and delete the log.
 */
export const hasChecksums = (raw: Database.Database): boolean =>
  raw.prepare('SELECT has_checksums()').pluck().get() === 1;

/**
 * Writes the checksum of every page of a closed database without a log, and returns how many were wrong; 0 if its pages have no
 * checksums. Only for pages whose content has been accepted: afterwards their damage can no longer be detected.
 */
export function recomputeChecksums(file: string): number {
  const descriptor = openSync(file, 'r+');
  try {
    if (reservedBytes(descriptor) !== CHECKSUM_BYTES) return 0;
    const page = Buffer.alloc(pageBytes(descriptor));
    const { size } = fstatSync(descriptor);
    let wrong = 0;
    for (let at = 0; at + page.length <= size; at += page.length) {
      readSync(descriptor, page, 0, page.length, at);
      const end = page.length - CHECKSUM_BYTES;
      const [first, second] = checksum(page.subarray(0, end), [0, 0], true);
      const isRight = word(page, end, true) === first && word(page, end + 4, true) === second;
      if (isRight || at === LOCK_PAGE_AT) continue;
      wrong += 1;
      page.writeUInt32LE(first, end);
      page.writeUInt32LE(second, end + 4);
      writeSync(descriptor, page, 0, page.length, at);
    }
    return wrong;
  } finally {
    closeSync(descriptor);
  }
}

function reservedBytes(descriptor: number): number {
  const reserved = Buffer.alloc(1);
  readSync(descriptor, reserved, 0, 1, RESERVED_AT);
  return reserved.readUInt8();
}

/** Page size from the header; 1 means 65,536 bytes. */
function pageBytes(descriptor: number): number {
  const size = Buffer.alloc(2);
  readSync(descriptor, size, 0, size.length, PAGE_SIZE_AT);
  const bytes = size.readUInt16BE();
  return bytes === 1 ? 65_536 : bytes;
}
