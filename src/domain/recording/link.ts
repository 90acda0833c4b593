import { hmacSha256, secretsEqual } from '../../base/hash.ts';

/** Spec: recording playback links have a short expiry and need no credentials. */
export const LINK_SECONDS = 900;

/** Appends `exp` (epoch seconds) and `sig` = hex HMAC-SHA256 of `path|exp` (dialect §3.7). */
export function signPath(key: string, path: string, expiresSeconds: number): string {
  return `${path}?exp=${expiresSeconds}&sig=${signature(key, path, expiresSeconds)}`;
}

/** Whether `sig` opens `path` at `nowSeconds`. */
export function opensPath(
  key: string,
  link: { readonly path: string; readonly exp: string; readonly sig: string },
  nowSeconds: number,
): boolean {
  if (!/^\d{1,12}$/.test(link.exp)) return false;
  const expires = Number(link.exp);
  return secretsEqual(signature(key, link.path, expires), link.sig) && expires >= nowSeconds;
}

const signature = (key: string, path: string, expiresSeconds: number): string =>
  hmacSha256(key, `${path}|${expiresSeconds}`).toString('hex');
