/** SRTP implementation of a peer (RFC 3711, 6188, 7714) with node:crypto, independent of the product for comparison. */
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import type { SrtpSuite } from '../../../src/domain/call/needs.ts';

const SIZES: Record<SrtpSuite, { key: number; salt: number; tag: number; gcm: boolean }> = {
  AES_CM_128_HMAC_SHA1_80: { key: 16, salt: 14, tag: 10, gcm: false },
  AES_CM_128_HMAC_SHA1_32: { key: 16, salt: 14, tag: 4, gcm: false },
  AES_256_CM_HMAC_SHA1_80: { key: 32, salt: 14, tag: 10, gcm: false },
  AES_256_CM_HMAC_SHA1_32: { key: 32, salt: 14, tag: 4, gcm: false },
  AEAD_AES_128_GCM: { key: 16, salt: 12, tag: 16, gcm: true },
  AEAD_AES_256_GCM: { key: 32, salt: 12, tag: 16, gcm: true },
};

export const SUITES = Object.keys(SIZES) as SrtpSuite[];
export const masterBytes = (suite: SrtpSuite): number => SIZES[suite].key + SIZES[suite].salt;

const keystream = (key: Uint8Array, iv: Uint8Array, text: Uint8Array): Buffer =>
  createCipheriv(key.length === 32 ? 'aes-256-ctr' : 'aes-128-ctr', key, iv).update(text);

/** Session key bytes for this label (RFC 3711 §4.3). */
export function derive(
  key: Uint8Array,
  salt: Uint8Array,
  options: { label: number; bytes: number },
): Buffer {
  const iv = Buffer.alloc(16);
  Buffer.from(salt).copy(iv);
  iv.writeUInt8(iv.readUInt8(7) ^ options.label, 7);
  return keystream(key, iv, Buffer.alloc(options.bytes));
}

interface Keys {
  readonly cipher: Buffer;
  readonly auth: Buffer;
  readonly salt: Buffer;
}

/** One direction. The caller counts the rollovers. */
export class SrtpContext {
  readonly #size: (typeof SIZES)[SrtpSuite];
  readonly #rtp: Keys;
  readonly #rtcp: Keys;

  constructor(suite: SrtpSuite, master: Uint8Array) {
    this.#size = SIZES[suite];
    const key = master.subarray(0, this.#size.key);
    const salt = master.subarray(this.#size.key);
    const keys = (first: number): Keys => ({
      cipher: derive(key, salt, { label: first, bytes: this.#size.key }),
      auth: derive(key, salt, { label: first + 1, bytes: 20 }),
      salt: derive(key, salt, { label: first + 2, bytes: this.#size.salt }),
    });
    this.#rtp = keys(0);
    this.#rtcp = keys(3);
  }

  protect(packet: Uint8Array, rollovers: number): Buffer {
    const bytes = Buffer.from(packet);
    const header = bytes.subarray(0, 12);
    const index = rollovers * 65_536 + bytes.readUInt16BE(2);
    const withRecords = Buffer.alloc(4);
    withRecords.writeUInt32BE(rollovers);
    if (!this.#size.gcm) {
      const body = this.#counter(this.#rtp, bytes.readUInt32BE(8), index, bytes.subarray(12));
      return Buffer.concat([header, body, this.#tag(this.#rtp, [header, body, withRecords])]);
    }
    return Buffer.concat([
      header,
      this.#seal(this.#rtp, bytes.readUInt32BE(8), index, header, bytes.subarray(12)),
    ]);
  }

  /** Throws if the tag is wrong. */
  unprotect(packet: Uint8Array, rollovers: number): Buffer {
    const bytes = Buffer.from(packet);
    const header = bytes.subarray(0, 12);
    const body = bytes.subarray(12, bytes.length - this.#size.tag);
    const tag = bytes.subarray(bytes.length - this.#size.tag);
    const index = rollovers * 65_536 + bytes.readUInt16BE(2);
    const ssrc = bytes.readUInt32BE(8);
    if (this.#size.gcm) {
      return Buffer.concat([header, this.#open(this.#rtp, ssrc, index, header, body, tag)]);
    }
    const withRecords = Buffer.alloc(4);
    withRecords.writeUInt32BE(rollovers);
    if (!this.#tag(this.#rtp, [header, body, withRecords]).equals(tag))
      throw new Error('wrong tag');
    return Buffer.concat([header, this.#counter(this.#rtp, ssrc, index, body)]);
  }

  protectRtcp(packet: Uint8Array, index: number): Buffer {
    const bytes = Buffer.from(packet);
    const header = bytes.subarray(0, 8);
    const word = Buffer.alloc(4);
    word.writeUInt32BE((0x8000_0000 | index) >>> 0);
    const ssrc = bytes.readUInt32BE(4);
    if (this.#size.gcm) {
      const aad = Buffer.concat([header, word]);
      return Buffer.concat([
        header,
        this.#seal(this.#rtcp, ssrc, index, aad, bytes.subarray(8)),
        word,
      ]);
    }
    const body = this.#counter(this.#rtcp, ssrc, index, bytes.subarray(8));
    const tag = this.#tag(this.#rtcp, [header, body, word], 10);
    return Buffer.concat([header, body, word, tag]);
  }

  /** Throws if the tag is wrong. */
  unprotectRtcp(packet: Uint8Array): Buffer {
    const bytes = Buffer.from(packet);
    const header = bytes.subarray(0, 8);
    const ssrc = bytes.readUInt32BE(4);
    const tagBytes = this.#size.gcm ? 16 : 10;
    const body = bytes.subarray(8, bytes.length - 4 - tagBytes);
    const wordAt = bytes.length - 4 - (this.#size.gcm ? 0 : tagBytes);
    const word = bytes.subarray(wordAt, wordAt + 4);
    const index = word.readUInt32BE() & 0x7fff_ffff;
    if (this.#size.gcm) {
      const tag = bytes.subarray(8 + body.length, 8 + body.length + tagBytes);
      const aad = Buffer.concat([header, word]);
      return Buffer.concat([header, this.#open(this.#rtcp, ssrc, index, aad, body, tag)]);
    }
    const tag = bytes.subarray(bytes.length - tagBytes);
    if (!this.#tag(this.#rtcp, [header, body, word], 10).equals(tag)) throw new Error('wrong tag');
    return Buffer.concat([header, this.#counter(this.#rtcp, ssrc, index, body)]);
  }

  #counter(keys: Keys, ssrc: number, index: number, body: Uint8Array): Buffer {
    const iv = Buffer.alloc(16);
    keys.salt.copy(iv);
    xor(iv, 4, ssrc, index);
    return keystream(keys.cipher, iv, body);
  }

  #tag(keys: Keys, parts: readonly Uint8Array[], bytes = this.#size.tag): Buffer {
    return createHmac('sha1', keys.auth).update(Buffer.concat(parts)).digest().subarray(0, bytes);
  }

  #nonce(keys: Keys, ssrc: number, index: number): Buffer {
    const iv = Buffer.from(keys.salt);
    xor(iv, 2, ssrc, index);
    return iv;
  }

  #seal(keys: Keys, ssrc: number, index: number, aad: Uint8Array, body: Uint8Array): Buffer {
    const name = keys.cipher.length === 32 ? 'aes-256-gcm' : 'aes-128-gcm';
    const cipher = createCipheriv(name, keys.cipher, this.#nonce(keys, ssrc, index)).setAAD(aad);
    return Buffer.concat([cipher.update(body), cipher.final(), cipher.getAuthTag()]);
  }

  #open(
    keys: Keys,
    ssrc: number,
    index: number,
    ...[aad, body, tag]: [Uint8Array, Uint8Array, Uint8Array]
  ): Buffer {
    const name = keys.cipher.length === 32 ? 'aes-256-gcm' : 'aes-128-gcm';
    const cipher = createDecipheriv(name, keys.cipher, this.#nonce(keys, ssrc, index));
    cipher.setAAD(aad).setAuthTag(tag);
    return Buffer.concat([cipher.update(body), cipher.final()]);
  }
}

/** XORs the SSRC and the 48-bit index into the IV. */
function xor(iv: Buffer, at: number, ssrc: number, index: number): void {
  const name = Buffer.alloc(10);
  name.writeUInt32BE(ssrc);
  name.writeUIntBE(index, 4, 6);
  for (const [i, byte] of name.entries()) iv.writeUInt8(iv.readUInt8(at + i) ^ byte, at + i);
}
