import type { Connection } from './connection.ts';
import { settingRepository } from './sql/settings.ts';

/** Setting with a value sealed at the first start. It reveals a wrong key file at startup instead of during a call. */
const KEY_PROOF = 'store.keyProof';
const KEY_PROOF_TEXT = 'this key file belongs to this database';

/** Throws STORE_CORRUPT if the database belongs to another key file. */
export function proveKey(db: Connection): void {
  const settings = settingRepository(db);
  const sealed = Buffer.from(db.vault.seal(KEY_PROOF_TEXT, KEY_PROOF)).toString('base64');
  const proof = settings.getOrSet(KEY_PROOF, sealed);
  db.vault.open(Buffer.from(proof, 'base64'), KEY_PROOF);
}
