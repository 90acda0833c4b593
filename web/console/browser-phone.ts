import { call, text } from './api.ts';

/** Name of the application for test calls of unsaved documents. Each account gets one on first use. */
export const TRIAL = 'playground';

const TOKEN_S = 3600;

/** Requests a phone token with a lifetime of one hour, so that the password of the endpoint is not needed. */
export async function tokenFor(
  account: string,
  username: string,
  { incoming }: { readonly incoming: boolean },
): Promise<string> {
  const nbf = Math.floor(Date.now() / 1000);
  const made = await call('POST', `/v1/Account/${account}/JWT/Token/`, {
    iss: account,
    sub: username,
    nbf,
    exp: nbf + TOKEN_S,
    per: { voice: { incoming_allow: incoming, outgoing_allow: true } },
  });
  return text(made['token']);
}
