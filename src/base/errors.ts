/** Codes of environment failures (socket, disk, customer's URL), in one table. */
export type ServiceErrorCode =
  | 'CONFIG_INVALID'
  | 'PORT_IN_USE'
  | 'STORE_BUSY'
  | 'STORE_FULL'
  | 'STORE_GONE'
  | 'STORE_CORRUPT'
  | 'STORE_VERSION'
  | 'STORE_CLOSED'
  | 'BACKUP_EXTERNAL'
  | 'STORE_UNREADABLE'
  /** A write refers to an object that does not exist any more. */
  | 'REFERENCE_GONE'
  | 'NOT_FOUND'
  | 'CONFLICT'
  | 'MEDIA_UNAVAILABLE'
  | 'MEDIA_NO_PORTS'
  | 'EGRESS_REFUSED'
  | 'MAIL_FAILED'
  | 'ARCHIVE_FAILED'
  | 'OBJECTS_UNAVAILABLE'
  | 'CLUSTER_UNAVAILABLE'
  | 'NODE_UNREACHABLE';

/** A failure of the environment, as opposed to a wrong request or a programming error. */
export class ServiceError extends Error {
  readonly code: ServiceErrorCode;

  constructor(code: ServiceErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'ServiceError';
    this.code = code;
  }
}

/** A write that failed during its commit. It may have been done. */
export class UnknownOutcomeError extends ServiceError {}

/** Returns whether `error` reports a stored record that cannot be read. */
export const isUnreadable = (error: unknown): boolean =>
  error instanceof ServiceError && error.code === 'STORE_UNREADABLE';

/**
 * A violated invariant, that is, a programming error. Checked in production too; one boundary per call and request
 * catches it.
 */
export class BugError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BugError';
  }
}

/**
 * Returns whether a thrown value is a programming error. It is one unless it is a ServiceError or a system error
 * (`EPIPE`, `ENOSPC`). The log marks such errors as bugs.
 */
export function isBug(thrown: unknown): boolean {
  if (!(thrown instanceof Error) || thrown instanceof ServiceError) return false;
  const { code } = thrown as { readonly code?: unknown };
  return !(typeof code === 'string' && /^E[A-Z0-9]+$/.test(code));
}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new BugError(message);
}

export function assertNever(value: never): never {
  throw new BugError(`unexpected value ${JSON.stringify(value)}`);
}

/** Returns the reason of a failed `fetch`, which wraps its cause. */
export function fetchReason(error: unknown): string {
  const { cause = error } = error instanceof Error ? error : {};
  return cause instanceof Error ? cause.message : String(cause);
}
