/** The one file of the pure floors that uses node:crypto: hashing is pure. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

export type DigestHash = 'md5' | 'sha256' | 'sha512-256';

export const hashHex = (algorithm: DigestHash, text: string | Uint8Array): string =>
  createHash(algorithm).update(text).digest('hex');

export const hmacSha256 = (key: string | Uint8Array, text: string): Buffer =>
  createHmac('sha256', key).update(text, 'utf8').digest();

/** Constant-time equality of two secrets of any length. */
export function secretsEqual(a: string, b: string): boolean {
  const left = createHash('sha256').update(a).digest();
  const right = createHash('sha256').update(b).digest();
  return timingSafeEqual(left, right);
}
