/** The reason why a request failed, before conversion to the error body of the route's family. */
export interface Failure {
  readonly status: number;
  /** Short, stable text that clients may compare. */
  readonly message: string;
  /** A sentence for people, in families whose body has a field for it. */
  readonly detail?: string;
  /** Problems by field. */
  readonly details?: Readonly<Record<string, string>>;
  /** Additional members of the body. */
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the response has no body (spec Errors: Number attach). */
  readonly bare?: true;
}

export const failure = (
  status: number,
  message: string,
  more: Omit<Failure, 'status' | 'message'> = {},
): Failure => ({ status, message, ...more });

export const INVALID_TOKEN = failure(401, 'Invalid token');
export const ACCOUNT_MISMATCH = failure(403, 'Access denied: account ID mismatch');
export const NOT_ACTIVE = failure(403, 'account is not active');
/** Spec Errors, Transactions: missing account id in the path. */
export const MISSING_ACCOUNT_ID = failure(400, 'accountID is required');
export const NOT_FOUND = failure(404, 'resource not found');

export const notFound = (what: string): Failure => failure(404, `${what} not found`);

/** Reports a problem with one field that the schema cannot express. */
export const invalidField = (field: string, problem: string): Failure =>
  failure(400, 'invalid request parameters', {
    detail: `${field} ${problem}`,
    details: { [field]: problem },
  });

export const tooManyRequests = (message: string, retryAfterMs: number): Failure =>
  failure(429, message, {
    headers: { 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1000))) },
  });
