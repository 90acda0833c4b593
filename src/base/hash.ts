/** The one file of the pure floors that uses node:crypto: hashing is pure. */
import { createHmac, createSecretKey, hash, type KeyObject, timingSafeEqual } from 'node:crypto';
import { RecentMap } from './recent-map.ts';

export type DigestHash = 'md5' | 'sha256' | 'sha512-256';

export const hashHex = (algorithm: DigestHash, text: string | Uint8Array): string =>
  hash(algorithm, text, 'hex');

/** Key objects that were used lately: to make one costs as much as one signature. */
const keys = new RecentMap<KeyObject>(1000);

function secretKey(text: string): KeyObject {
  const known = keys.get(text);
  if (known !== undefined) return known;
  const key = createSecretKey(text, 'utf8');
  keys.set(text, key);
  return key;
}

export const hmacSha256 = (key: string | Uint8Array, text: string): Buffer =>
  createHmac('sha256', typeof key === 'string' && key !== '' ? secretKey(key) : key)
    .update(text, 'utf8')
    .digest();

const BLOCK_BYTES = 64;

/** HMAC-SHA-256 (RFC 2104) with one key for many short texts: without a new key object for each. */
export class Mac {
  readonly #inner: Buffer;
  readonly #outer: Buffer;

  /** At most 64 bytes. */
  constructor(key: Uint8Array) {
    const padded = Buffer.alloc(BLOCK_BYTES);
    padded.set(key);
    this.#inner = padded.map((byte) => byte ^ 0x36) as Buffer;
    this.#outer = padded.map((byte) => byte ^ 0x5c) as Buffer;
  }

  of(text: string): Buffer {
    const inner = hash('sha256', Buffer.concat([this.#inner, Buffer.from(text, 'utf8')]), 'buffer');
    return hash('sha256', Buffer.concat([this.#outer, inner]), 'buffer');
  }
}

/** Equality of two secrets. The time that it takes can reveal only whether their lengths are equal. */
export function secretsEqual(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
