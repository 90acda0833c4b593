/** Files of the data folder outside the store. Only their owner can read secret files. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ServiceError } from '../base/errors.ts';
import { type Random, token, uuid } from '../base/ids.ts';
import { replacePrivate } from '../edge/store/store.ts';

export const SERVICE_FILE = 'service.json';
export const DEMO_FILE = 'demo.json';
export const ADMIN_TOKEN_FILE = join('keys', 'admin.token');
export const PHONE_LOGIN_KEY_FILE = join('keys', 'phone-logins.key');
/** File with the ID of this node, used if no setting defines it. */
export const NODE_FILE = 'node.id';
export const NONCE_KEY_FILE = join('keys', 'nonces.key');
export const LINK_KEY_FILE = join('keys', 'links.key');

/** Returns a secret that is created once and stored. */
export const storedSecret = (dataDir: string, name: string, random: Random): string =>
  stored(join(dataDir, name), () => token(random));

/** Returns a short random name that is created once and stored. */
export const storedName = (dataDir: string, name: string, random: Random): string =>
  stored(join(dataDir, name), () => uuid(random).slice(0, 8));

function stored(path: string, made: () => string): string {
  if (!existsSync(path)) writeSecret(path, `${made()}\n`);
  // Some file systems fill the end of a file with zeros after a power failure.
  const text = readFileSync(path, 'utf8').replaceAll('\0', '').trim();
  // Any client knows an empty secret.
  if (text === '')
    throw new ServiceError(
      'STORE_CORRUPT',
      `${path} is empty: restore it from a backup, or delete it, so that the next start creates a new one`,
    );
  return text;
}

/** Writes a file that only its owner can read, and returns when it is on the disk. A reader never sees a part. */
export const writeSecret = (path: string, text: string): void => replacePrivate(path, text);
