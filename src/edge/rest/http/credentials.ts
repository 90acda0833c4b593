import type { IncomingHttpHeaders } from 'node:http';
import { type AccountId, asAccountId } from '../../../base/ids.ts';

export type Credentials =
  | { readonly kind: 'account'; readonly authId: AccountId; readonly authToken: string }
  | { readonly kind: 'bearer'; readonly token: string };

/**
 * Reads the credentials of a request: `X-Auth-ID` with `X-Auth-Token`, else `Authorization` Basic or Bearer (RFC 7617, RFC
 * 6750).
 */
export function credentialsOf(headers: IncomingHttpHeaders): Credentials | undefined {
  const authId = headers['x-auth-id'];
  const authToken = headers['x-auth-token'];
  if (typeof authId === 'string' && typeof authToken === 'string') {
    return { kind: 'account', authId: asAccountId(authId), authToken };
  }
  const [scheme, value] = splitOnce(headers.authorization ?? '', ' ');
  if (value === undefined || value === '') return undefined;
  if (scheme.toLowerCase() === 'bearer') return { kind: 'bearer', token: value.trim() };
  if (scheme.toLowerCase() !== 'basic') return undefined;
  const [user, password] = splitOnce(Buffer.from(value, 'base64').toString('utf8'), ':');
  return password === undefined
    ? undefined
    : { kind: 'account', authId: asAccountId(user), authToken: password };
}

function splitOnce(text: string, separator: string): readonly [string, string | undefined] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}
