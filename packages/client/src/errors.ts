/** What goes wrong, by kind: `instanceof` tells them apart. */

/** Of every kind; `message` is one line for people. */
export class CarillonError extends Error {
  override readonly name: string = 'CarillonError';
}

/** The service answered, and refused. */
export class ApiError extends CarillonError {
  override readonly name = 'ApiError';
  /** Of HTTP. */
  readonly status: number;
  /** What was asked: `GET /api/v1/Account/{auth_id}/cdr`. */
  readonly operation: string;
  /** What is wrong with which field, where it says so. */
  readonly details: Readonly<Record<string, string>>;
  /** As it came; JSON where it was JSON. */
  readonly body: unknown;
  /** When to ask again, where it says so. */
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

/** Nothing came back: nobody listens there, or the connection was lost. `cause` says which. */
export class ConnectionError extends CarillonError {
  override readonly name = 'ConnectionError';
}

/** No answer in time. Whether the service did what was asked is not known. */
export class TimeoutError extends CarillonError {
  override readonly name = 'TimeoutError';
}

/** The service answered with something that no API of ours answers: a proxy's page, more than there is room for. */
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

/** Refusals have five shapes, by the part of the API; all of them hold a sentence, and some what is wrong with which field. */
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
  // Details say the same as the sentence, field by field.
  const said = fields.length > 0 ? (named ?? error.message) : (error.message ?? named);
  return { message: [said ?? `HTTP ${status}`, ...fields].join('; '), details };
}
