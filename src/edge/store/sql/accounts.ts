import { assert } from '../../../base/errors.ts';
import { type AccountId, asAccountId } from '../../../base/ids.ts';
import { err, ok } from '../../../base/result.ts';
import { decideTransfer } from '../../../domain/account/account.ts';
import type {
  AccountStore,
  BalanceTerms,
  IdempotencyStore,
  PartnerStore,
  StoredAccessToken,
} from '../../../domain/account/needs.ts';
import type { Account, CapacityTransfer, NetAllocation } from '../../../domain/account/types.ts';
import type { SigningTokens } from '../../../domain/callback/needs.ts';
import { type Connection, integer, string } from '../connection.ts';
import type { Synchronously } from '../repositories.ts';
import { withCredentials } from '../sealed-text.ts';
import {
  days,
  flag,
  int,
  optional,
  optionalInt,
  optionalText,
  stored,
  Table,
  text,
} from '../table.ts';
import { readingRow } from '../unreadable.ts';
import { page, Where } from '../where.ts';
import { insertBalance, patchBalance } from './balances.ts';
import { removeEndpointsOf } from './endpoints.ts';
import { ACCOUNT_PERMISSIONS, TEXTS } from './stored-provisioning.ts';

const table = new Table<Account>('account', {
  authId: text,
  name: text,
  parentAuthId: optionalText,
  status: text,
  currency: text,
  country: text,
  timezone: text,
  concurrentCallsLimit: int,
  cpsLimit: int,
  isPartner: flag,
  partnerAuthId: optionalText,
  limitTransferEnabled: flag,
  barredPrefixes: stored('barred_prefixes', TEXTS),
  barredCountries: stored('barred_countries', TEXTS),
  dailySpendLimit: optionalInt,
  defaultEndpointApp: optionalInt,
  defaultCallerId: optionalText,
  lowBalanceUrl: optional(withCredentials(text('low_balance_url'))),
  lowBalanceEmail: optionalText,
  email: text,
  phone: text,
  description: text,
  cdrRetentionMs: optional(days('cdr_retention_days')),
  recordingRetentionMs: optional(days('recording_retention_days')),
  permissions: stored('permissions', ACCOUNT_PERMISSIONS),
  rateLimit: optionalInt,
  createdUs: int,
  updatedUs: int,
});

const find = (db: Connection, authId: AccountId): Account | undefined =>
  table.get(db, 'auth_id = ?', [authId]);

export const accountRepository = (db: Connection): Synchronously<AccountStore> => ({
  create: (account, token, access, terms) => {
    if (!table.insertNew(db, account)) return err('authIdTaken');
    if (account.parentAuthId === undefined) insertBalance(db, account.authId, account.currency);
    if (terms !== undefined) patchBalance(db, account.authId, account.currency, terms);
    insertToken(db, account.authId, token);
    if (access !== undefined) insertAccessToken(db, account.authId, access);
    return ok(account);
  },
  get: (authId) => find(db, authId),
  list: ({ parentAuthId, partnerAuthId, search }, slice) => {
    const where =
      parentAuthId === undefined
        ? new Where().also('parent_auth_id IS NULL').and('partner_auth_id = ?', partnerAuthId)
        : new Where().and('parent_auth_id = ?', parentAuthId);
    const found = where.contains(['name', 'auth_id'], search);
    return page(db, table, found, 'created_us, auth_id', slice);
  },
  patch: (authId, patch, balances = []) => {
    patchBalances(db, authId, balances);
    return table.patch(db, patch, 'auth_id = @id', { id: authId });
  },
  removeSubAccount: (authId) => {
    if (find(db, authId)?.parentAuthId === undefined) return [];
    const removed = removeEndpointsOf(db, authId);
    db.send('UPDATE application SET sub_account = NULL WHERE sub_account = ?', [authId]);
    db.send('UPDATE phone_number SET sub_account = NULL WHERE sub_account = ?', [authId]);
    db.send('DELETE FROM account WHERE auth_id = ?', [authId]);
    return removed;
  },
  credentials: (authId) => {
    const account = find(db, authId);
    return account && { account, tokens: tokensOf(db, authId) };
  },
  addToken: (authId, token, othersEndUs) => {
    if (find(db, authId) === undefined) return false;
    endTokens(db, authId, othersEndUs);
    insertToken(db, authId, token);
    return true;
  },
  addAccessToken: (authId, access) => {
    db.send('DELETE FROM access_token WHERE expires_us <= ?', [db.nowUs]);
    insertAccessToken(db, authId, access);
  },
  accessTokenOwner: (hash) => {
    const row = db.get('SELECT auth_id, expires_us FROM access_token WHERE hash = ?', [hash]);
    return (
      row && { authId: asAccountId(string(row, 'auth_id')), expiresUs: integer(row, 'expires_us') }
    );
  },
});

/** Deletes expired API tokens of an account. The other tokens and the access tokens end at `endUs`. */
function endTokens(db: Connection, authId: AccountId, endUs: number): void {
  db.send('DELETE FROM account_token WHERE auth_id = ? AND expires_us <= ?', [authId, db.nowUs]);
  db.send(
    `UPDATE account_token SET expires_us = ?
      WHERE auth_id = ? AND (expires_us IS NULL OR expires_us > ?)`,
    [endUs, authId, endUs],
  );
  db.send('UPDATE access_token SET expires_us = ? WHERE auth_id = ? AND expires_us > ?', [
    endUs,
    authId,
    endUs,
  ]);
}

function patchBalances(db: Connection, authId: AccountId, all: readonly BalanceTerms[]): void {
  for (const { currency, terms } of all) {
    const changed = patchBalance(db, authId, currency, terms);
    assert(changed !== undefined, 'the account has the balance');
  }
}

const purposeOf = (authId: AccountId): string => `account-token:${authId}`;

function insertToken(db: Connection, authId: AccountId, token: string): void {
  db.send('INSERT INTO account_token (auth_id, sealed, created_us) VALUES (?, ?, ?)', [
    authId,
    db.vault.seal(token, purposeOf(authId)),
    db.nowUs,
  ]);
}

const insertAccessToken = (
  db: Connection,
  authId: AccountId,
  { hash, expiresUs }: StoredAccessToken,
): void =>
  db.send('INSERT INTO access_token (hash, auth_id, created_us, expires_us) VALUES (?, ?, ?, ?)', [
    hash,
    authId,
    db.nowUs,
    expiresUs,
  ]);

/** Returns the readable tokens, newest first. */
function tokensOf(db: Connection, authId: AccountId) {
  const rows = db.all(
    'SELECT id, sealed, expires_us FROM account_token WHERE auth_id = ? ORDER BY id DESC',
    [authId],
  );
  return db.readable(rows, (row) =>
    readingRow('account_token', 'id', row, () => ({
      token: db.vault.open(row['sealed'] as Uint8Array, purposeOf(authId)),
      expiresUs: row['expires_us'] === null ? undefined : integer(row, 'expires_us'),
    })),
  );
}

/** The newest token signs. Older tokens are only accepted until they expire. */
export const signingTokenRepository = (db: Connection): Synchronously<SigningTokens> => ({
  tokensOf: (accountId) => {
    const account = find(db, accountId);
    const own = tokensOf(db, accountId)[0]?.token;
    if (account === undefined || own === undefined) return undefined;
    const parent =
      account.parentAuthId === undefined ? undefined : tokensOf(db, account.parentAuthId)[0]?.token;
    return { own, parent };
  },
});

const transferTable = new Table<CapacityTransfer>('capacity_transfer', {
  reference: text,
  operation: text,
  resource: text,
  slots: int,
  partnerAuthId: text,
  customerAuthId: text,
  description: text,
  partnerRemaining: int,
  customerEffective: int,
  createdUs: int,
});

export const partnerRepository = (db: Connection): Synchronously<PartnerStore> => ({
  transfer: (request) => {
    const decided = decideTransfer(
      request,
      {
        partner: find(db, request.partnerAuthId),
        customer: find(db, request.customerAuthId),
        allocated: netAllocation(db, request.partnerAuthId, request.customerAuthId),
      },
      db.nowUs,
    );
    if (!decided.ok) return decided;
    const { partnerRemaining, customerEffective } = decided.value;
    const column = request.resource === 'cps' ? 'cps_limit' : 'concurrent_calls_limit';
    const set = `UPDATE account SET ${column} = ?, updated_us = ? WHERE auth_id = ?`;
    db.send(set, [partnerRemaining, db.nowUs, request.partnerAuthId]);
    db.send(set, [customerEffective, db.nowUs, request.customerAuthId]);
    transferTable.insert(db, decided.value);
    return decided;
  },
  netAllocation: (partner, customer) => netAllocation(db, partner, customer),
  history: (partnerAuthId, slice) =>
    page(
      db,
      transferTable,
      new Where().and('partner_auth_id = ?', partnerAuthId),
      'id DESC',
      slice,
    ),
});

function netAllocation(db: Connection, partner: AccountId, customer: AccountId): NetAllocation {
  const rows = db.all(
    `SELECT resource, SUM(CASE operation WHEN 'transfer' THEN slots ELSE -slots END) AS net
      FROM capacity_transfer WHERE partner_auth_id = ? AND customer_auth_id = ? GROUP BY resource`,
    [partner, customer],
  );
  const net = (resource: string): number =>
    integer(
      rows.find((row) => row['resource'] === resource),
      'net',
    );
  return { concurrentCalls: net('concurrent_calls'), cps: net('cps') };
}

/** Lifetime of an idempotency key, microseconds. */
const KEY_LIFE_US = 86_400_000_000;

/** Maximum number of keys per account. Beyond it, the oldest are deleted. */
const KEYS_LIMIT = 10_000;
/** Number of requests between two checks of the limit. */
const KEYS_TRIM_EVERY = 64;

const responsePurpose = (owner: string, key: string): string => `response:${owner} ${key}`;

/** Decrypts the stored response of a request. */
export const openResponse = (db: Connection, owner: string, key: string, sealed: string): string =>
  db.vault.open(Buffer.from(sealed, 'base64'), responsePurpose(owner, key));

export const idempotencyRepository = (db: Connection): Synchronously<IdempotencyStore> => ({
  begin: (owner, key, fingerprint) => {
    // Housekeeping deletes the others: a clock that is far ahead must not.
    db.send('DELETE FROM idempotency_key WHERE account_id = ? AND key = ? AND created_us < ?', [
      owner,
      key,
      db.nowUs - KEY_LIFE_US,
    ]);
    trimKeys(db, owner);
    const fresh = db.run(
      `INSERT INTO idempotency_key (account_id, key, fingerprint, created_us)
        VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
      [owner, key, fingerprint, db.nowUs],
    );
    if (fresh === 1) return { kind: 'first' };
    const known = db.get(
      'SELECT fingerprint, response FROM idempotency_key WHERE account_id = ? AND key = ?',
      [owner, key],
    );
    if (known === undefined || known['fingerprint'] !== fingerprint) return { kind: 'mismatch' };
    if (known['response'] === null) return { kind: 'running' };
    return readingRow('idempotency_key', 'key', { ...known, key }, () => {
      const response = openResponse(db, owner, key, string(known, 'response'));
      JSON.parse(response);
      return { kind: 'done' as const, response };
    });
  },
  finish: (owner, key, response) => {
    const sealed = db.vault.seal(response, responsePurpose(owner, key));
    db.send('UPDATE idempotency_key SET response = ? WHERE account_id = ? AND key = ?', [
      Buffer.from(sealed).toString('base64'),
      owner,
      key,
    ]);
  },
  forget: (owner, key) => {
    db.send('DELETE FROM idempotency_key WHERE account_id = ? AND key = ? AND response IS NULL', [
      owner,
      key,
    ]);
  },
  purge: (beforeUs, limit) =>
    db.run(
      `DELETE FROM idempotency_key WHERE (account_id, key) IN
        (SELECT account_id, key FROM idempotency_key WHERE created_us < ? LIMIT ?)`,
      [beforeUs, limit],
    ),
});

let keysSinceTrim = 0;

function trimKeys(db: Connection, owner: string): void {
  keysSinceTrim += 1;
  if (keysSinceTrim < KEYS_TRIM_EVERY) return;
  keysSinceTrim = 0;
  db.send(
    `DELETE FROM idempotency_key WHERE account_id = @account AND created_us <
      (SELECT created_us FROM idempotency_key WHERE account_id = @account
        ORDER BY created_us DESC LIMIT 1 OFFSET ${KEYS_LIMIT})`,
    { account: owner },
  );
}
