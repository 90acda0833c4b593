import { ServiceError } from '../../base/errors.ts';
import type { Connection, Row } from './connection.ts';
import { settingRepository } from './sql/settings.ts';
import { readingRow } from './unreadable.ts';

/** Setting with a value sealed at the first start. It reveals a wrong key file at startup instead of during a call. */
const KEY_PROOF = 'store.keyProof';
const KEY_PROOF_TEXT = 'this key file belongs to this database';
/** Maximum number of other sealed values that are tried when the proof is damaged. */
const OTHERS = 10;

/**
 * Throws STORE_CORRUPT if the database belongs to another key file. If the proof is `damaged` but the key opens another sealed
 * value, the proof is reported and replaced, or kept.
 */
export function proveKey(db: Connection, damaged: 'replace' | 'keep' = 'replace'): void {
  const settings = settingRepository(db);
  const sealed = Buffer.from(db.vault.seal(KEY_PROOF_TEXT, KEY_PROOF)).toString('base64');
  const value = settings.getOrSet(KEY_PROOF, sealed);
  const open = (): string => db.vault.open(Buffer.from(value, 'base64'), KEY_PROOF);
  try {
    open();
  } catch (error) {
    if (!opensAnother(db)) throw foreign(error);
    if (damaged === 'keep') return;
    const row = { key: KEY_PROOF, value };
    db.readable([row], () => readingRow('setting', 'key', row, open));
    settings.set(KEY_PROOF, sealed);
  }
}

const foreign = (cause: unknown): ServiceError =>
  new ServiceError(
    'STORE_CORRUPT',
    'a stored secret cannot be decrypted with this key file: copy the keys folder that belongs to this database (of the first node, or of the backup) into the data folder',
    { cause },
  );

const opensAnother = (db: Connection): boolean =>
  db
    .all(`SELECT auth_id, sealed FROM account_token ORDER BY id LIMIT ${OTHERS}`)
    .some((row) => opens(db, row));

function opens(db: Connection, row: Row): boolean {
  try {
    db.vault.open(row['sealed'] as Uint8Array, `account-token:${row['auth_id']}`);
    return true;
  } catch {
    return false;
  }
}
