/** Client of the service's REST API. Requests are authenticated by the session cookie. */

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
}

export type Row = Readonly<Record<string, unknown>>;

export class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Path that returns the signed-in user. Without a session it responds with 401. */
export const ME = '/console/api/me';
/** Event sent when the session has ended, so that the page shows the sign-in form. */
export const SIGNED_OUT = 'signed-out';

/** Header against cross-site request forgery: pages of other origins cannot send it. */
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
  // A wrong password or code is also a 401, but the session remains valid.
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

/** Returns the error text of a response. The API families use different error formats. */
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
