/** Errors of the client. Distinguish them with `instanceof`. */

/** Base class of all client errors. `message` is one readable line. */
export class CarillonError extends Error {
  override readonly name: string = 'CarillonError';
}

/** The service refused the request. */
export class ApiError extends CarillonError {
  override readonly name = 'ApiError';
  /** HTTP status. */
  readonly status: number;
  /** Operation of the request: `GET /api/v1/Account/{auth_id}/cdr`. */
  readonly operation: string;
  /** Error texts by field; empty if the service returned none. */
  readonly details: Readonly<Record<string, string>>;
  /** Response body: parsed JSON, otherwise text. */
  readonly body: unknown;
  /** Time in ms after which to retry; undefined if the service did not specify it. */
  readonly retryAfterMs: number | undefined;

  constructor(operation: string, status: number, text: string, retryAfterMs?: number) {
    const body = parsed(text);
    const { message, details } = sentenceOf(status, body);
    super(message);
    this.operation = operation;
    this.status = status;
    this.body = body;
    this.details = details;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The service did not respond: connection refused or lost. See `cause`. */
export class ConnectionError extends CarillonError {
  override readonly name = 'ConnectionError';
}

/** No response within the timeout. The service may or may not have executed the request. */
export class TimeoutError extends CarillonError {
  override readonly name = 'TimeoutError';
}

/** The response is not a valid API response: not JSON (for example a proxy's page) or too large. */
export class ReplyError extends CarillonError {
  override readonly name = 'ReplyError';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

interface Refusal {
  readonly message?: string;
  readonly details?: Readonly<Record<string, string>>;
}

/** Returns the error text of a response. The API has five error formats, and some contain details by field. */
function sentenceOf(
  status: number,
  body: unknown,
): { message: string; details: Readonly<Record<string, string>> } {
  if (typeof body !== 'object' || body === null) return { message: `HTTP ${status}`, details: {} };
  const reply = body as Refusal & { readonly error?: Refusal | string };
  const error = typeof reply.error === 'object' ? reply.error : reply;
  const named = typeof reply.error === 'string' ? reply.error : undefined;
  const details = error.details ?? {};
  const fields = Object.entries(details).map(([field, what]) => `${field} ${what}`);
  // The details contain the same text, field by field.
  const said = fields.length > 0 ? (named ?? error.message) : (error.message ?? named);
  return { message: [said ?? `HTTP ${status}`, ...fields].join('; '), details };
}
