import { ServiceError, type ServiceErrorCode } from '../../base/errors.ts';

/** SQLite's result codes (https://www.sqlite.org/rescode.html) that mean that the environment failed. */
const CODES: ReadonlyArray<readonly [prefix: string, code: ServiceErrorCode, message: string]> = [
  ['SQLITE_FULL', 'STORE_FULL', 'the disk of the data folder is full'],
  ['SQLITE_BUSY', 'STORE_BUSY', 'another process holds the database'],
  ['SQLITE_LOCKED', 'STORE_BUSY', 'another process holds the database'],
  ['SQLITE_IOERR', 'STORE_BUSY', 'the disk did not take a read or write'],
  ['SQLITE_READONLY', 'STORE_BUSY', 'the database file may not be written'],
  ['SQLITE_CANTOPEN', 'STORE_BUSY', 'the database file cannot be opened'],
  ['SQLITE_CORRUPT', 'STORE_CORRUPT', 'the database file is damaged'],
  ['SQLITE_NOTADB', 'STORE_CORRUPT', 'the database file is not a database'],
];

/** A failure that can cross a thread. */
export interface Failure {
  readonly code: ServiceErrorCode | undefined;
  readonly message: string;
}

export function toFailure(error: unknown): Failure {
  if (error instanceof ServiceError) return { code: error.code, message: error.message };
  if (!(error instanceof Error)) return { code: undefined, message: String(error) };
  const sqlite = 'code' in error ? String(error.code) : '';
  const known = CODES.find(([prefix]) => sqlite.startsWith(prefix));
  if (known === undefined) return { code: undefined, message: error.stack ?? error.message };
  return { code: known[1], message: `${known[2]} (${sqlite})` };
}

/** Environment failures have a code of their own; anything else is a bug of ours. */
export const toError = (failure: Failure): Error =>
  failure.code === undefined
    ? new Error(failure.message)
    : new ServiceError(failure.code, failure.message);
