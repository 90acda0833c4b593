/** Client of the service's REST API. Requests are authenticated by the session cookie. */
import { t } from './text.ts';

export interface Me {
  readonly user_id: string;
  readonly email: string;
  readonly role: string;
  /** Account of the user; null for operator staff. */
  readonly account_id: string | null;
  readonly has_totp: boolean;
  readonly platform: string;
  readonly registrar: string;
  readonly sip_port: number;
  /** Minimum length of a new password, characters. */
  readonly password_min_length: number;
}

export type Row = Readonly<Record<string, unknown>>;

/** Error of a request that the service answered. */
export class Refused extends Error {
  /** HTTP status. */
  readonly status: number;
  /** Problems by field name, as the service reports them. */
  readonly fields: Readonly<Record<string, string>>;

  constructor(status: number, message: string, fields: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.fields = fields;
  }
}

/** Error of a request without an answer. */
class Unreachable extends Error {}

/** Path that returns the signed-in user. Without a session it responds with 401. */
export const ME = '/console/api/me';
/** Event sent when the session has ended, so that the page shows the sign-in form. */
export const SIGNED_OUT = 'signed-out';
/** Event sent when a request got no answer. */
export const LOST = 'connection-lost';

/** Time after which a request that only reads counts as unanswered. */
const READ_TIMEOUT_MS = 30_000;

/** Header against cross-site request forgery: pages of other origins cannot send it. */
const HEADERS = { 'x-console': '1' };

/** Sends a request. Throws `Unreachable` without an answer. Every status counts as an answer. */
export async function send(
  path: string,
  { timeoutMs, ...init }: RequestInit & { readonly timeoutMs?: number } = {},
): Promise<Response> {
  const headers = { ...HEADERS, ...(init.headers as Record<string, string> | undefined) };
  const signal = timeoutMs === undefined ? init.signal : AbortSignal.timeout(timeoutMs);
  try {
    return await fetch(path, { ...init, headers, ...(signal && { signal }) });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    dispatchEvent(new Event(LOST));
    throw new Unreachable('The service does not answer.');
  }
}

/** Sends a JSON request and returns the JSON of the response. Throws `Refused` unless the status is 2xx. */
export async function call<T = Row>(method: string, path: string, body?: object): Promise<T> {
  const reply = await send(path, {
    method,
    ...(method === 'GET' && { timeoutMs: READ_TIMEOUT_MS }),
    ...(body && {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  });
  return answerOf<T>(reply, path);
}

/** Idempotency keys of requests whose result is unknown. */
const unanswered = new Map<string, string>();

/** Sends a POST request that moves money or places calls. After a lost answer, the same request again has no second effect. */
export async function callOnce<T = Row>(path: string, body: object): Promise<T> {
  const sent = JSON.stringify(body);
  const id = path + sent;
  const key = unanswered.get(id) ?? crypto.getRandomValues(new Uint32Array(4)).join('-');
  unanswered.set(id, key);
  const reply = await send(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: sent,
  });
  // A proxy answers with these statuses if the service did not answer.
  if (reply.status < 502) unanswered.delete(id);
  return answerOf<T>(reply, path);
}

/** Reads the JSON of a response. Throws `Refused` unless the status is 2xx. */
export async function answerOf<T = Row>(reply: Response, path: string): Promise<T> {
  const told = parsed(await reply.text());
  if (reply.ok) return told as T;
  const refused = refusalOf(told, reply.status);
  // A wrong password or code is also a 401, but the session remains valid.
  if (refused.message === 'sign in first' && path !== ME) dispatchEvent(new Event(SIGNED_OUT));
  throw refused;
}

export const get = <T = Row>(path: string): Promise<T> => call<T>('GET', path);

function parsed(body: string): unknown {
  try {
    return body === '' ? {} : JSON.parse(body);
  } catch {
    return {};
  }
}

/** Reads the error of a response. The API families use different error formats. */
function refusalOf(told: unknown, status: number): Refused {
  const body = (told ?? {}) as Row;
  const inner = typeof body['error'] === 'object' ? ((body['error'] ?? {}) as Row) : body;
  const { details } = inner;
  const fields: Record<string, string> = {};
  if (typeof details === 'object' && details !== null) {
    for (const [name, what] of Object.entries(details)) fields[name] = text(what);
  }
  const said = [inner['detail'], inner['message'], body['error'], body['message']].find(
    (one) => typeof one === 'string' && one !== '',
  );
  // Other families write one sentence that starts with the name of the field.
  const [, named, problem] = /^([a-z][a-z0-9_.]*) (.+)$/s.exec(text(said)) ?? [];
  if (status === 400 && named?.includes('_') && problem !== undefined && !(named in fields))
    fields[named] = problem;
  const sentence = Object.entries(fields).map(([name, what]) => `${name} ${what}`);
  return new Refused(
    status,
    sentence.length > 0 ? sentence.join('; ') : text(said ?? withoutText(status)),
    fields,
  );
}

/** Message for a response without one, for example of a proxy. */
function withoutText(status: number): string {
  if (status === 429) return t('Too many requests. Try again in a few seconds.');
  return status >= 500
    ? t('The service is overloaded or restarts (HTTP {status}). Try again in a few seconds.', {
        status,
      })
    : `HTTP ${status}`;
}

export const text = (value: unknown): string =>
  value === null || value === undefined ? '' : String(value);

export const number = (value: unknown): number => (typeof value === 'number' ? value : 0);

export const rows = (value: unknown): readonly Row[] =>
  Array.isArray(value) ? (value as Row[]) : [];

const PER_PAGE = 100;

/**
 * Loads a list page by page, until it ends or has `most` rows. `path` may have filters. `size` is the query parameter with the number of rows; lists
 * with another one than `limit` have numbered pages.
 */
export async function allOf(
  path: string,
  member = 'objects',
  most = 1000,
  size = 'limit',
): Promise<readonly Row[]> {
  const found: Row[] = [];
  for (;;) {
    const at = size === 'limit' ? `offset=${found.length}` : `page=${found.length / PER_PAGE + 1}`;
    const asked = `${path}${path.includes('?') ? '&' : '?'}${size}=${PER_PAGE}&${at}`;
    const page = rows((await get(asked))[member]);
    found.push(...page);
    if (page.length < PER_PAGE || found.length >= most) return found;
  }
}

/** Loads accounts for the operator. */
export const accountsOf = (most: number): Promise<readonly Row[]> =>
  allOf('/admin/v1/accounts', 'accounts', most);

/** Loads the telephone numbers of an account. */
export const numbersOf = (account: string): Promise<readonly Row[]> =>
  allOf(`/api/v1/Account/${account}/numbers`, 'items', 1000, 'per_page');

/** Returns undefined for an object that does not exist, for example because it has just ended. */
export const getIfAny = (path: string): Promise<Row | undefined> =>
  get(path).catch((error: unknown) => {
    if (error instanceof Refused && error.status === 404) return undefined;
    throw error;
  });

export const part = (value: unknown): Row =>
  typeof value === 'object' && value !== null ? (value as Row) : {};

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
