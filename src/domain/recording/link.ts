import { hmacSha256, secretsEqual } from '../../base/hash.ts';

const US_PER_SECOND = 1_000_000;

/** Appends `exp` (epoch seconds, rounded down) and `sig` = hex HMAC-SHA256 of `path|exp` (dialect §3.7). */
export function signPath(key: string, path: string, expiresUs: number): string {
  const exp = Math.floor(expiresUs / US_PER_SECOND);
  return `${path}?exp=${exp}&sig=${signature(key, path, exp)}`;
}

/** Returns whether `sig` grants access to `path` at `nowUs`. Valid to the end of the second `exp`. */
export function opensPath(
  key: string,
  link: { readonly path: string; readonly exp: string; readonly sig: string },
  nowUs: number,
): boolean {
  if (!/^\d{1,12}$/.test(link.exp)) return false;
  const exp = Number(link.exp);
  const isInTime = exp >= Math.floor(nowUs / US_PER_SECOND);
  return secretsEqual(signature(key, link.path, exp), link.sig) && isInTime;
}

const signature = (key: string, path: string, exp: number): string =>
  hmacSha256(key, `${path}|${exp}`).toString('hex');
