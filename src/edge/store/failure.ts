import { ServiceError, type ServiceErrorCode, UnknownOutcomeError } from '../../base/errors.ts';

/**
 * Result codes of SQLite (https://www.sqlite.org/rescode.html) and SQLSTATEs of PostgreSQL
 * (https://www.postgresql.org/docs/current/errcodes-appendix.html) that report a failure of the environment, or an
 * object that was deleted in the meantime.
 */
const CODES: ReadonlyArray<readonly [prefix: string, code: ServiceErrorCode, message: string]> = [
  ['SQLITE_FULL', 'STORE_FULL', 'the disk of the data folder is full'],
  ['SQLITE_BUSY', 'STORE_BUSY', 'another process holds the database'],
  ['SQLITE_LOCKED', 'STORE_BUSY', 'another process holds the database'],
  ['SQLITE_IOERR_DATA', 'STORE_CORRUPT', 'a page of the database file has a wrong checksum'],
  ['SQLITE_IOERR', 'STORE_BUSY', 'a disk read or write failed'],
  ['SQLITE_READONLY', 'STORE_BUSY', 'no permission to write the database file'],
  ['SQLITE_CANTOPEN', 'STORE_BUSY', 'the database file cannot be opened'],
  ['SQLITE_CORRUPT', 'STORE_CORRUPT', 'the database file is damaged'],
  ['PG_CONNECTION', 'STORE_BUSY', 'the database is unavailable'],
  ['PG_08', 'STORE_BUSY', 'the database is unavailable'],
  ['PG_28', 'STORE_BUSY', 'the database rejects the user name or password'],
  ['PG_53100', 'STORE_FULL', 'the disk of the database is full'],
  ['PG_53', 'STORE_BUSY', 'the database has no free connections'],
  ['PG_57', 'STORE_BUSY', 'the database canceled the statement'],
  ['PG_55P03', 'STORE_BUSY', 'database rows are locked by another transaction'],
  ['PG_40', 'STORE_BUSY', 'database rows are locked by another transaction'],
  ['PG_25006', 'STORE_BUSY', 'the database is read-only'],
  ['PG_42501', 'STORE_BUSY', 'no permission to write to the database'],
  ['PG_XX', 'STORE_CORRUPT', 'the database is damaged'],
  ['SQLITE_CONSTRAINT_FOREIGNKEY', 'REFERENCE_GONE', 'a referenced object does not exist'],
  ['PG_23503', 'REFERENCE_GONE', 'a referenced object does not exist'],
  ['SQLITE_NOTADB', 'STORE_CORRUPT', 'the database file is not a database'],
];

const DAMAGE = ['SQLITE_CORRUPT', 'SQLITE_NOTADB', 'SQLITE_IOERR_DATA'];

/** A failure in a form that can be sent between threads. */
export interface Failure {
  readonly code: ServiceErrorCode | undefined;
  readonly message: string;
  /** True if the database file is damaged, so that its other content cannot be trusted either. */
  readonly isDamage?: boolean;
  /** True if the failed write may have been done. */
  readonly isUnknown?: boolean;
}

export function toFailure(error: unknown): Failure {
  if (error instanceof ServiceError) return { code: error.code, message: error.message };
  if (!(error instanceof Error)) return { code: undefined, message: String(error) };
  const found = 'code' in error ? String(error.code) : '';
  const known = CODES.find(([prefix]) => found.startsWith(prefix));
  if (known === undefined) return { code: undefined, message: error.stack ?? error.message };
  const isDamage = DAMAGE.some((prefix) => found.startsWith(prefix));
  const message = `${known[2]} (${detailOf(error, found)})`;
  return { code: known[1], message, ...(isDamage && { isDamage }) };
}

/** Adds the error text for PostgreSQL, which says more than its code and contains no secrets. */
const detailOf = (error: Error, code: string): string =>
  code.startsWith('PG_') ? error.message.split('\n').join(' ') : code;

/** Converts a failure to an error. Failures of the environment have their own codes; anything else is a bug in the service. */
export function toError({ code, message, isUnknown = false }: Failure): Error {
  if (code === undefined) return new Error(message);
  return isUnknown ? new UnknownOutcomeError(code, message) : new ServiceError(code, message);
}
