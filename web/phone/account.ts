/** Credentials of a phone: a password, or a token that the service exchanges for a temporary login. */
import type { PhoneAccount } from './phone-api.d.ts';

export class PhoneError extends Error {
  readonly status: number;

  constructor(status: number, reason: string) {
    super(`${status} ${reason}`);
    this.status = status;
  }
}

export interface Credentials {
  readonly username: string;
  readonly authName: string;
  readonly password: string;
  /** SIP domain; undefined: from the options, or the host of the WebSocket URL. */
  readonly domain: string | undefined;
  readonly mayRegister: boolean;
  /** Remaining lifetime of the token; undefined: unlimited. */
  readonly expiresInMs: number | undefined;
}

/** Response of `POST /phone/login`. */
interface Login {
  readonly username: string;
  readonly sip_uri: string;
  readonly authorization_username: string;
  readonly password: string;
  readonly expires_in: number;
  readonly incoming_allow: boolean;
}

export async function credentialsOf(account: PhoneAccount, loginUrl: string): Promise<Credentials> {
  if (!('token' in account)) {
    const { username, password } = account;
    const own = { username, authName: username, password };
    return { ...own, domain: undefined, mayRegister: true, expiresInMs: undefined };
  }
  const reply = await fetch(loginUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: account.token }),
  });
  const body = await reply.json().catch(() => ({}));
  if (!reply.ok) throw new PhoneError(reply.status, problemOf(body));
  const login = body as Login;
  return {
    username: login.username,
    authName: login.authorization_username,
    password: login.password,
    domain: new URL(login.sip_uri.replace(/^sip:[^@]*@/, 'http://')).hostname,
    mayRegister: login.incoming_allow,
    expiresInMs: login.expires_in * 1000,
  };
}

function problemOf(body: unknown): string {
  const { detail, error } = body as { readonly detail?: unknown; readonly error?: unknown };
  return typeof detail === 'string' ? detail : typeof error === 'string' ? error : 'refused';
}
