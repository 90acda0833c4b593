/** The service as the console asks it: the routes of programs, with the cookie of who is signed in. */

export interface Me {
  readonly user_id: string;
  readonly email: string;
  readonly role: string;
  /** Null: the operator's staff. */
  readonly account_id: string | null;
  readonly has_totp: boolean;
  readonly platform: string;
  readonly registrar: string;
  readonly sip_port: number;
}

export type Row = Readonly<Record<string, unknown>>;

export class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Who is signed in; that nobody is, is an answer. */
export const ME = '/console/api/me';
/** The session has ended: the page asks to sign in again. */
export const SIGNED_OUT = 'signed-out';

/** Pages of other origins cannot send it. */
export const HEADERS = { 'x-console': '1' };

export async function call<T = Row>(method: string, path: string, body?: object): Promise<T> {
  const reply = await fetch(path, {
    method,
    headers: { ...HEADERS, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  const told = parsed(text);
  if (reply.ok) return told as T;
  const sentence = sentenceOf(told, reply.status);
  // A wrong password or code is a 401 too, of a session that goes on.
  if (sentence === 'sign in first' && path !== ME) dispatchEvent(new Event(SIGNED_OUT));
  throw new Refused(reply.status, sentence);
}

export const get = <T = Row>(path: string): Promise<T> => call<T>('GET', path);

function parsed(text: string): unknown {
  try {
    return text === '' ? {} : JSON.parse(text);
  } catch {
    return {};
  }
}

/** Refusals come in the shapes of their families. */
function sentenceOf(told: unknown, status: number): string {
  const body = (told ?? {}) as Row;
  const inner = typeof body['error'] === 'object' ? ((body['error'] ?? {}) as Row) : body;
  const { details } = inner;
  const fields =
    typeof details === 'object' && details !== null
      ? Object.entries(details).map(([field, what]) => `${field} ${what}`)
      : [];
  const said = [inner['detail'], inner['message'], body['error'], body['message']].find(
    (text) => typeof text === 'string' && text !== '',
  );
  return fields.length > 0 ? fields.join('; ') : String(said ?? `HTTP ${status}`);
}

export const text = (value: unknown): string =>
  value === null || value === undefined ? '' : String(value);

export const number = (value: unknown): number => (typeof value === 'number' ? value : 0);

export const rows = (value: unknown): readonly Row[] =>
  Array.isArray(value) ? (value as Row[]) : [];
