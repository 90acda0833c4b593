import type { Connection } from './connection.ts';

/** A refusal of the service, in one line. */
class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'Refused';
    this.status = status;
  }
}

export type Json = Readonly<Record<string, unknown>>;
type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** Longest wait for an answer: a backup of a large database takes a while. */
const TIMEOUT_MS = 600_000;

/** The operator's API over HTTP. */
export class AdminClient {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  get(path: string, query: Readonly<Record<string, unknown>> = {}): Promise<Json> {
    return this.send('GET', withQuery(path, query));
  }

  /** The reply as it comes: a file, however large. */
  async stream(path: string, query: Readonly<Record<string, unknown>> = {}): Promise<Response> {
    const reply = await this.#fetch('GET', withQuery(path, query));
    if (reply.ok) return reply;
    throw new Refused(reply.status, refusalText(reply.status, await reply.text(), 'admin token'));
  }

  post(path: string, body: object = {}): Promise<Json> {
    return this.send('POST', path, body);
  }

  patch(path: string, body: object): Promise<Json> {
    return this.send('PATCH', path, body);
  }

  delete(path: string): Promise<Json> {
    return this.send('DELETE', path);
  }

  async send(method: Method, path: string, body?: object): Promise<Json> {
    const reply = await this.#fetch(method, path, body);
    const text = await reply.text();
    if (!reply.ok) throw new Refused(reply.status, refusalText(reply.status, text, 'admin token'));
    return text === '' ? {} : (JSON.parse(text) as Json);
  }

  async #fetch(method: Method, path: string, body?: object): Promise<Response> {
    const { url, token } = this.#connection;
    try {
      return await fetch(`${url}/admin/v1${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
    } catch (cause) {
      throw new Error(`cannot reach the service at ${url}: is it running? (npm start)`, { cause });
    }
  }
}

function withQuery(path: string, query: Readonly<Record<string, unknown>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(name, String(value));
  }
  return search.size === 0 ? path : `${path}?${search}`;
}

interface Refusal {
  readonly message?: string;
  readonly details?: Readonly<Record<string, string>>;
}

/** What the service said, in one line, whatever shape its refusal has. */
export function refusalText(status: number, text: string, secret: string): string {
  if (status === 401) return `the service refused the ${secret}`;
  try {
    const reply = JSON.parse(text) as Refusal & { readonly error?: Refusal | string };
    const error = typeof reply.error === 'object' ? reply.error : reply;
    const details = Object.entries(error.details ?? {}).map(([field, what]) => `${field} ${what}`);
    const named = typeof reply.error === 'string' ? reply.error : undefined;
    // Details say the same as the sentence, field by field.
    const said = details.length > 0 ? (named ?? error.message) : (error.message ?? named);
    const parts = [said ?? `HTTP ${status}`, ...details];
    return parts.join('; ');
  } catch {
    return `HTTP ${status}`;
  }
}
