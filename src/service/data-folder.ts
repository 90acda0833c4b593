/** Files of the data folder outside the store. Only their owner can read secret files. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Random, token, uuid } from '../base/ids.ts';
import { makeFolder } from '../edge/store/store.ts';

export const SERVICE_FILE = 'service.json';
export const DEMO_FILE = 'demo.json';
export const ADMIN_TOKEN_FILE = join('keys', 'admin.token');
export const PHONE_LOGIN_KEY_FILE = join('keys', 'phone-logins.key');
/** File with the ID of this node, used if no setting defines it. */
export const NODE_FILE = 'node.id';
export const NONCE_KEY_FILE = join('keys', 'nonces.key');
export const LINK_KEY_FILE = join('keys', 'links.key');

/** Returns a secret that is created once and stored. */
export function storedSecret(dataDir: string, name: string, random: Random): string {
  const path = join(dataDir, name);
  if (!existsSync(path)) writeSecret(path, `${token(random)}\n`);
  return readFileSync(path, 'utf8').trim();
}

/** Returns a short random name that is created once and stored. */
export function storedName(dataDir: string, name: string, random: Random): string {
  const path = join(dataDir, name);
  if (!existsSync(path)) writeSecret(path, `${uuid(random).slice(0, 8)}\n`);
  return readFileSync(path, 'utf8').trim();
}

/** Writes a file atomically: a reader never sees a partial file. */
export function writeSecret(path: string, text: string): void {
  makeFolder(dirname(path));
  const draft = `${path}.new`;
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, path);
}
