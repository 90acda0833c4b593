import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { chmodSync, existsSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { ServiceError } from '../../base/errors.ts';
import { makeFolder } from './make-folder.ts';
import { createPrivate } from './private-file.ts';

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** First byte of every sealed value: identifies algorithm and layout, so that both can change later. */
const LAYOUT = 1;

/**
 * Encrypts secrets that must be read again (account tokens sign webhooks) with AES-256-GCM. The key is not in the database.
 * Layout: version, nonce, tag, ciphertext. `purpose` is authenticated, so that a sealed value cannot be moved to another row.
 * Nonces are random, 96 bits: safe below 2^32 values per key (NIST SP 800-38D §8.3).
 */
export class Vault {
  /** Created once, because creating it costs more than decrypting a secret. */
  readonly #key: KeyObject;

  constructor(key: Uint8Array) {
    if (key.length !== KEY_BYTES) {
      throw new ServiceError('STORE_CORRUPT', `the key file must hold ${KEY_BYTES} bytes`);
    }
    this.#key = createSecretKey(key);
  }

  seal(text: string, purpose: string): Uint8Array {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce);
    cipher.setAAD(Buffer.from(purpose));
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([Buffer.of(LAYOUT), nonce, cipher.getAuthTag(), sealed]);
  }

  open(sealed: Uint8Array, purpose: string): string {
    const bytes = Buffer.from(sealed);
    const nonceEnd = 1 + NONCE_BYTES;
    const tagEnd = nonceEnd + TAG_BYTES;
    if (bytes[0] !== LAYOUT || bytes.length < tagEnd) throw unreadable();
    const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(1, nonceEnd));
    decipher.setAAD(Buffer.from(purpose));
    decipher.setAuthTag(bytes.subarray(nonceEnd, tagEnd));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(tagEnd)), decipher.final()]).toString();
    } catch (cause) {
      throw unreadable(cause);
    }
  }
}

/** Permissions of group and others. */
const NOT_OWNER = 0o077;

/**
 * Reads the key file, or creates it at the first start with mode 0600 in a folder with mode 0700. An existing file may be on a
 * read-only file system.
 */
export function loadKey(file: string): Uint8Array {
  if (!existsSync(file)) {
    makeFolder(dirname(file));
    try {
      createPrivate(file, randomBytes(KEY_BYTES));
    } catch (error) {
      // Another process created it in the meantime.
      if (!isExisting(error)) throw error;
    }
  }
  if ((statSync(file).mode & NOT_OWNER) !== 0) chmodSync(file, 0o600);
  const key = readFileSync(file);
  if (key.length !== KEY_BYTES)
    throw new ServiceError(
      'STORE_CORRUPT',
      `the key file ${file} has ${key.length} bytes instead of ${KEY_BYTES}: restore it from your copy of the keys folder; if the service has never run with this database, delete it`,
    );
  return key;
}

/** Returns a key for a store that is never written to disk. */
export const ephemeralKey = (): Uint8Array => randomBytes(KEY_BYTES);

const isExisting = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EEXIST';

const unreadable = (cause?: unknown): ServiceError =>
  new ServiceError('STORE_CORRUPT', 'a stored secret cannot be decrypted with this key file', {
    cause,
  });
