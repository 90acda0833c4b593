import { changed } from '../../../base/changes.ts';
import type { AccountId } from '../../../base/ids.ts';
import type { Page, Slice } from '../../../base/page.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import type {
  IpAclStore,
  OriginationUriStore,
  TrunkCredentialStore,
  TrunkStore,
} from '../../../domain/provisioning/needs.ts';
import type {
  IpAcl,
  OriginationUri,
  Trunk,
  TrunkCredential,
} from '../../../domain/provisioning/types.ts';
import { type Connection, integer } from '../connection.ts';
import type { Synchronously } from '../repositories.ts';
import { withCredentials } from '../sealed-text.ts';
import { flag, int, optional, optionalText, stored, Table, text } from '../table.ts';
import { readingRow } from '../unreadable.ts';
import { page, Where } from '../where.ts';
import { TEXTS, TRUNK_POLICY } from './stored-provisioning.ts';

const uriTable = new Table<OriginationUri>('origination_uri', {
  id: text,
  accountId: text,
  name: text,
  sipUri: withCredentials(text('sip_uri')),
  priority: int,
  weight: int,
  enabled: flag,
  description: text,
  createdUs: int,
  updatedUs: int,
});

const aclTable = new Table<IpAcl>('ip_acl', {
  id: text,
  accountId: text,
  ipAddress: text,
  description: text,
  enabled: flag,
  createdUs: int,
  updatedUs: int,
});

const credentialTable = new Table<TrunkCredential>('trunk_credential', {
  id: text,
  accountId: text,
  username: text,
  realm: text,
  enabled: flag,
  createdUs: int,
  updatedUs: int,
});

const trunkTable = new Table<Trunk>('trunk', {
  trunkId: text,
  accountId: text,
  name: text,
  direction: text,
  enabled: flag,
  transport: text,
  secure: flag,
  primaryUriUuid: optionalText,
  fallbackUriUuid: optionalText,
  credentialUuid: optionalText,
  ipaclUuid: optionalText,
  concurrentCallsLimit: int,
  cpsLimit: int,
  description: text,
  recording: flag,
  webhookUrl: optional(withCredentials(text('webhook_url'))),
  webhookMethod: text,
  egressAllow: stored('egress_allow', TEXTS),
  policy: stored('policy', TRUNK_POLICY),
  createdUs: int,
  updatedUs: int,
});

interface Owned {
  readonly id: string;
  readonly accountId: AccountId;
}

/** Common table code for origination URIs, credentials and ACLs, which belong to an account and are used by trunks. */
class PartTable<T extends Owned> {
  readonly #db: Connection;
  readonly #table: Table<T>;
  readonly #usedBy: string;

  /** `usedBy`: SQL condition on `trunk`, with parameter `@id`. */
  constructor(db: Connection, table: Table<T>, usedBy: string) {
    this.#db = db;
    this.#table = table;
    this.#usedBy = usedBy;
  }

  insert(part: T): void {
    this.#table.insert(this.#db, part);
  }

  get(accountId: AccountId, id: string): T | undefined {
    return this.#table.get(this.#db, 'id = ? AND account_id = ?', [id, accountId]);
  }

  list(accountId: AccountId, slice: Slice): Page<T> {
    const where = new Where().and('account_id = ?', accountId);
    return page(this.#db, this.#table, where, 'created_us DESC, id', slice);
  }

  patch(accountId: AccountId, id: string, patch: Partial<T>): T | undefined {
    const where = 'id = @id AND account_id = @account';
    return this.#table.patch(this.#db, patch, where, { id, account: accountId });
  }

  remove(accountId: AccountId, id: string): Result<void, 'unknown' | 'inUse'> {
    if (this.get(accountId, id) === undefined) return err('unknown');
    const use = this.#db.get(`SELECT COUNT(*) AS n FROM trunk WHERE ${this.#usedBy}`, { id });
    if (integer(use, 'n') > 0) return err('inUse');
    this.#db.send(`DELETE FROM ${this.#table.name} WHERE id = ?`, [id]);
    return ok(undefined);
  }
}

export function originationUriRepository(db: Connection): Synchronously<OriginationUriStore> {
  const usedBy = 'primary_uri_uuid = @id OR fallback_uri_uuid = @id';
  const parts = new PartTable(db, uriTable, usedBy);
  return {
    insert: (uri) => parts.insert(uri),
    get: (accountId, id) => parts.get(accountId, id),
    list: (accountId, slice) => parts.list(accountId, slice),
    patch: (accountId, id, patch) => parts.patch(accountId, id, patch),
    remove: (accountId, id) => parts.remove(accountId, id),
  };
}

export function ipAclRepository(db: Connection): Synchronously<IpAclStore> {
  const parts = new PartTable(db, aclTable, 'ipacl_uuid = @id');
  return {
    insert: (acl) => parts.insert(acl),
    get: (accountId, id) => parts.get(accountId, id),
    list: (accountId, slice) => parts.list(accountId, slice),
    patch: (accountId, id, patch) => parts.patch(accountId, id, patch),
    remove: (accountId, id) => parts.remove(accountId, id),
  };
}

const passwordPurpose = (id: string): string => `trunk-credential:${id}`;

function sealPassword(db: Connection, id: string, password: string): void {
  db.send(
    `INSERT INTO trunk_credential_secret (id, sealed) VALUES (?, ?)
      ON CONFLICT (id) DO UPDATE SET sealed = excluded.sealed`,
    [id, db.vault.seal(password, passwordPurpose(id))],
  );
}

export function credentialRepository(db: Connection): Synchronously<TrunkCredentialStore> {
  const parts = new PartTable(db, credentialTable, 'credential_uuid = @id');
  return {
    insert: (credential, password) => {
      parts.insert(credential);
      sealPassword(db, credential.id, password);
    },
    get: (accountId, id) => parts.get(accountId, id),
    passwordOf: (id) => {
      const row = db.get('SELECT id, sealed FROM trunk_credential_secret WHERE id = ?', [id]);
      if (row === undefined) return undefined;
      return readingRow('trunk_credential_secret', 'id', row, () =>
        db.vault.open(row['sealed'] as Uint8Array, passwordPurpose(id)),
      );
    },
    list: (accountId, slice) => parts.list(accountId, slice),
    patch: (accountId, id, patch, password) => {
      const changed = parts.patch(accountId, id, patch);
      if (changed !== undefined && password !== undefined) sealPassword(db, id, password);
      return changed;
    },
    remove: (accountId, id) => parts.remove(accountId, id),
  };
}

export const trunkRepository = (db: Connection): Synchronously<TrunkStore> => ({
  insert: (trunk) => trunkTable.insert(db, trunk),
  get: (trunkId) => trunkTable.get(db, 'trunk_id = ?', [trunkId]),
  list: (accountId, slice) => {
    const where = new Where().and('account_id = ?', accountId);
    return page(db, trunkTable, where, 'created_us DESC, trunk_id', slice);
  },
  patch: (accountId, trunkId, patch, policy) => {
    const before = policy && trunkTable.get(db, 'trunk_id = ?', [trunkId]);
    const all = before ? { ...patch, policy: changed(before.policy, policy) } : patch;
    return trunkTable.patch(db, all, 'trunk_id = @id AND account_id = @account', {
      id: trunkId,
      account: accountId,
    });
  },
  remove: (accountId, trunkId) => {
    const owned = [trunkId, accountId];
    if (trunkTable.get(db, 'trunk_id = ? AND account_id = ?', owned) === undefined) {
      return err('unknown');
    }
    const use = db.get('SELECT COUNT(*) AS n FROM phone_number WHERE trunk_group_id = ?', [
      trunkId,
    ]);
    if (integer(use, 'n') > 0) return err('inUse');
    db.send('DELETE FROM trunk WHERE trunk_id = ?', [trunkId]);
    return ok(undefined);
  },
});
