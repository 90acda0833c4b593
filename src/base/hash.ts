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

/** For one-time passwords (RFC 4226), which know no other hash. */
export const hmacSha1 = (key: Uint8Array, data: Uint8Array): Buffer =>
  createHmac('sha1', key).update(data).digest();

const BLOCK_BYTES = 64;
const HASH_BYTES = 32;
/** Longer texts are hashed out of a buffer of their own. UTF-8 takes up to three bytes for a unit of UTF-16. */
const SHORT_TEXT = 300;
const BYTES_A_UNIT = 3;

/** HMAC-SHA-256 (RFC 2104) with one key for many short texts: without a new key object, or new buffers, for each. */
export class Mac {
  /** The padded key, and room for what is hashed after it. */
  readonly #inner = Buffer.alloc(BLOCK_BYTES + SHORT_TEXT * BYTES_A_UNIT);
  readonly #outer = Buffer.alloc(BLOCK_BYTES + HASH_BYTES);

  /** At most 64 bytes. */
  constructor(key: Uint8Array) {
    const padded = Buffer.alloc(BLOCK_BYTES);
    padded.set(key);
    this.#inner.set(padded.map((byte) => byte ^ 0x36));
    this.#outer.set(padded.map((byte) => byte ^ 0x5c));
  }

  of(text: string): Buffer {
    this.#outer.set(hash('sha256', this.#keyed(text), 'buffer'), BLOCK_BYTES);
    return hash('sha256', this.#outer, 'buffer');
  }

  #keyed(text: string): Buffer {
    if (text.length > SHORT_TEXT)
      return Buffer.concat([this.#inner.subarray(0, BLOCK_BYTES), Buffer.from(text, 'utf8')]);
    return this.#inner.subarray(0, BLOCK_BYTES + this.#inner.write(text, BLOCK_BYTES, 'utf8'));
  }
}

/** Equality of two secrets. The time that it takes can reveal only whether their lengths are equal. */
export function secretsEqual(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
