/** Hash functions. The only file of the pure layers that uses node:crypto, because hashing is pure. */
import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { RecentMap } from './recent-map.ts';

export type DigestHash = 'md5' | 'sha256' | 'sha512-256';

export const hashHex = (algorithm: DigestHash, text: string | Uint8Array): string =>
  hash(algorithm, text, 'hex');

/** HMAC-SHA-1 for one-time passwords (RFC 4226), which support no other hash. */
export const hmacSha1 = (key: Uint8Array, data: Uint8Array): Buffer =>
  createHmac('sha1', key).update(data).digest();

const BLOCK_BYTES = 64;
const HASH_BYTES = 32;
/** Texts up to this length use the shared buffer. UTF-8 needs up to three bytes per UTF-16 unit. */
const SHORT_TEXT = 2000;
const BYTES_A_UNIT = 3;
/** Shared buffer for the padded key and the text. Safe because hashing is synchronous. */
const scratch = Buffer.alloc(BLOCK_BYTES + SHORT_TEXT * BYTES_A_UNIT);

/**
 * HMAC-SHA-256 (RFC 2104) with one key for many texts. Faster than an Hmac of node:crypto, which costs several times
 * as much as two hashes.
 */
export class Mac {
  readonly #inner: Buffer;
  readonly #outer = Buffer.alloc(BLOCK_BYTES + HASH_BYTES);

  constructor(key: Uint8Array) {
    const padded = Buffer.alloc(BLOCK_BYTES);
    padded.set(key.length > BLOCK_BYTES ? hash('sha256', key, 'buffer') : key);
    this.#inner = padded.map((byte) => byte ^ 0x36) as Buffer;
    this.#outer.set(padded.map((byte) => byte ^ 0x5c));
  }

  of(text: string): Buffer {
    this.#outer.set(hash('sha256', this.#keyed(text), 'buffer'), BLOCK_BYTES);
    return hash('sha256', this.#outer, 'buffer');
  }

  base64Of(text: string): string {
    this.#outer.set(hash('sha256', this.#keyed(text), 'buffer'), BLOCK_BYTES);
    return hash('sha256', this.#outer, 'base64');
  }

  #keyed(text: string): Buffer {
    if (text.length > SHORT_TEXT) return Buffer.concat([this.#inner, Buffer.from(text, 'utf8')]);
    scratch.set(this.#inner);
    return scratch.subarray(0, BLOCK_BYTES + scratch.write(text, BLOCK_BYTES, 'utf8'));
  }
}

/** Recently used keys. The auth tokens of accounts sign several times per call. */
const macs = new RecentMap<Mac>(1000);

function macOf(key: string): Mac {
  const known = macs.get(key);
  if (known !== undefined) return known;
  const mac = new Mac(Buffer.from(key, 'utf8'));
  macs.set(key, mac);
  return mac;
}

export const hmacSha256 = (key: string | Uint8Array, text: string): Buffer =>
  (typeof key === 'string' ? macOf(key) : new Mac(key)).of(text);

/** Returns the HMAC-SHA-256 as Base64. */
export const hmacSha256Base64 = (key: string, text: string): string => macOf(key).base64Of(text);

/** Compares two secrets. The time taken reveals at most whether their lengths are equal. */
export function secretsEqual(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
