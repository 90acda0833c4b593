import {
  type AccountId,
  type AppId,
  asAccountId,
  asAppId,
  asEndpointId,
  type EndpointId,
} from '../../../base/ids.ts';
import { err, ok } from '../../../base/result.ts';
import type { ApplicationStore, EndpointStore } from '../../../domain/provisioning/needs.ts';
import type { Application, Endpoint, EndpointSecrets } from '../../../domain/provisioning/types.ts';
import type { BindingStore, EndpointDirectory } from '../../../domain/registration/needs.ts';
import type { Binding } from '../../../domain/registration/types.ts';
import { type Connection, integer } from '../connection.ts';
import type { Synchronously } from '../repositories.ts';
import { withCredentials } from '../sealed-text.ts';
import { flag, int, optionalInt, optionalText, stored, Table, text } from '../table.ts';
import { readingRow } from '../unreadable.ts';
import { page, Where } from '../where.ts';
import { ENDPOINT_SECRETS, FLOW, TEXTS } from './stored-provisioning.ts';

const applicationTable = new Table<Application>('application', {
  appId: int,
  accountId: text,
  subAccount: optionalText,
  name: text,
  answerUrl: withCredentials(text('answer_url')),
  answerMethod: text,
  hangupUrl: withCredentials(text('hangup_url')),
  hangupMethod: text,
  fallbackAnswerUrl: withCredentials(text('fallback_answer_url')),
  fallbackMethod: text,
  messageUrl: withCredentials(text('message_url')),
  messageMethod: text,
  defaultApp: flag,
  defaultEndpointApp: flag,
  enabled: flag,
  logIncomingMessage: flag,
  publicUri: flag,
  callerId: optionalText,
  agent: optionalText,
  createdUs: int,
  updatedUs: int,
});

export const applicationRepository = (db: Connection): Synchronously<ApplicationStore> => ({
  insert: (application) => {
    const whole = { ...application, appId: asAppId(nextNumber(db, 'application')) };
    applicationTable.insert(db, whole);
    return whole;
  },
  get: (appId) => applicationTable.get(db, 'app_id = ?', [appId]),
  list: (filter, slice) =>
    page(
      db,
      applicationTable,
      new Where()
        .and('account_id = ?', filter.accountId)
        .and('sub_account = ?', filter.subAccount)
        .contains(['name'], filter.nameContains),
      'app_id DESC',
      slice,
    ),
  patch: (accountId, appId, patch) =>
    applicationTable.patch(db, patch, 'app_id = @id AND account_id = @account', {
      id: appId,
      account: accountId,
    }),
  remove: (accountId, appId, rebind) => {
    if (applicationTable.get(db, 'app_id = ? AND account_id = ?', [appId, accountId]) === undefined)
      return err('unknown');
    if (isDefault(db, accountId, appId)) return err('inUse');
    if (rebind === undefined) {
      const bound = db.get(
        `SELECT (SELECT COUNT(*) FROM endpoint WHERE app_id = @id)
            + (SELECT COUNT(*) FROM phone_number WHERE application_id = @id) AS n`,
        { id: appId },
      );
      if (integer(bound, 'n') > 0) return err('inUse');
    } else {
      db.send('UPDATE endpoint SET app_id = ? WHERE app_id = ?', [rebind, appId]);
      db.send('UPDATE phone_number SET application_id = ? WHERE application_id = ?', [
        rebind,
        appId,
      ]);
    }
    db.send('DELETE FROM application WHERE app_id = ?', [appId]);
    return ok(undefined);
  },
});

const isDefault = (db: Connection, accountId: AccountId, appId: AppId): boolean =>
  db.get('SELECT 1 AS found FROM account WHERE auth_id = ? AND default_endpoint_app = ?', [
    accountId,
    appId,
  ]) !== undefined;

const endpointTable = new Table<Endpoint>('endpoint', {
  endpointId: text,
  accountId: text,
  subAccount: optionalText,
  username: text,
  requestedUsername: text,
  alias: text,
  appId: optionalInt,
  callerId: optionalText,
  allowVoice: flag,
  allowMessage: flag,
  allowVideo: flag,
  allowSameDomain: flag,
  allowOtherDomains: flag,
  allowPhones: flag,
  allowApps: flag,
  createdUs: int,
  updatedUs: int,
});

const OWNED_ENDPOINT = 'endpoint_id = ? AND account_id = ?';

export const endpointRepository = (db: Connection): Synchronously<EndpointStore> => ({
  insert: (endpoint, secrets) => {
    const taken = db.get(
      'SELECT 1 AS found FROM endpoint WHERE account_id = ? AND requested_username = ?',
      [endpoint.accountId, endpoint.requestedUsername],
    );
    if (taken !== undefined) return err('requestedTaken');
    const whole = { ...endpoint, endpointId: asEndpointId(String(nextNumber(db, 'endpoint'))) };
    if (!endpointTable.insertNew(db, whole)) return err('storedTaken');
    sealSecrets(db, whole.endpointId, secrets);
    return ok(whole);
  },
  get: (accountId, endpointId) => endpointTable.get(db, OWNED_ENDPOINT, [endpointId, accountId]),
  byUsername: (username) => endpointTable.get(db, 'username = ?', [username]),
  list: (filter, slice) => {
    const where = new Where()
      .and('account_id = ?', filter.accountId)
      .and('sub_account = ?', filter.subAccount)
      .and('username = ?', filter.usernameExact)
      .contains(['username'], filter.usernameContains)
      .contains(['alias'], filter.aliasContains)
      .and('alias = ?', filter.aliasExact)
      .and('app_id = ?', filter.appId);
    if (filter.usernameStartsWith !== undefined) {
      const start = filter.usernameStartsWith;
      where.also('substr(username, 1, length(?)) = ?', [start, start]);
    }
    if (filter.appIsNull !== undefined) {
      where.also(filter.appIsNull ? 'app_id IS NULL' : 'app_id IS NOT NULL');
    }
    return page(db, endpointTable, where, 'endpoint_id DESC', slice);
  },
  patch: (accountId, endpointId, patch, secrets) => {
    const changed = endpointTable.patch(db, patch, 'endpoint_id = @id AND account_id = @account', {
      id: endpointId,
      account: accountId,
    });
    if (changed !== undefined && secrets !== undefined) sealSecrets(db, endpointId, secrets);
    return changed;
  },
  remove: (accountId, endpointId) => {
    const gone = endpointTable.get(db, OWNED_ENDPOINT, [endpointId, accountId]);
    if (gone === undefined) return false;
    db.send('DELETE FROM binding WHERE username = ?', [gone.username]);
    db.send('DELETE FROM endpoint WHERE endpoint_id = ?', [endpointId]);
    return true;
  },
});

/** Removes the endpoints of a sub-account that is being deleted. Returns the usernames that were registered. */
export function removeEndpointsOf(db: Connection, subAccount: AccountId): readonly string[] {
  const rows = db.all('DELETE FROM endpoint WHERE sub_account = ? RETURNING username', [
    subAccount,
  ]);
  const usernames = rows.map((row) => String(row['username']));
  for (const username of usernames) db.send('DELETE FROM binding WHERE username = ?', [username]);
  return usernames;
}

const purposeOf = (endpointId: EndpointId): string => `endpoint-ha1:${endpointId}`;

function sealSecrets(db: Connection, endpointId: EndpointId, secrets: EndpointSecrets): void {
  db.send(
    `INSERT INTO endpoint_secret (endpoint_id, sealed) VALUES (?, ?)
      ON CONFLICT (endpoint_id) DO UPDATE SET sealed = excluded.sealed`,
    [endpointId, db.vault.seal(ENDPOINT_SECRETS.write(secrets), purposeOf(endpointId))],
  );
}

export const endpointDirectoryRepository = (db: Connection): Synchronously<EndpointDirectory> => ({
  byUsername: (username) => {
    const row = db.get(
      `SELECT e.endpoint_id, e.account_id, s.sealed,
          CASE WHEN a.status = 'active' AND (e.sub_account IS NULL OR sub.status = 'active')
            THEN 1 ELSE 0 END AS active
        FROM endpoint e
        JOIN endpoint_secret s ON s.endpoint_id = e.endpoint_id
        JOIN account a ON a.auth_id = e.account_id
        LEFT JOIN account sub ON sub.auth_id = e.sub_account
        WHERE e.username = ?`,
      [username],
    );
    if (row === undefined) return undefined;
    const endpointId = asEndpointId(String(row['endpoint_id']));
    const secrets = readingRow('endpoint_secret', 'endpoint_id', row, () =>
      ENDPOINT_SECRETS.read(db.vault.open(row['sealed'] as Uint8Array, purposeOf(endpointId))),
    );
    return {
      endpointId,
      accountId: asAccountId(String(row['account_id'])),
      username,
      secrets,
      active: integer(row, 'active') === 1,
    };
  },
});

const bindingTable = new Table<Omit<Binding, 'regId'>>('binding', {
  username: text,
  contactUri: text,
  callId: text,
  cseq: int,
  expiresUs: int,
  q: int,
  instanceId: optionalText,
  userAgent: text,
  flow: stored('flow', FLOW),
  path: stored('path', TEXTS),
  login: optionalText,
  updatedUs: int,
});

export const bindingRepository = (db: Connection): Synchronously<BindingStore> => ({
  save: (binding) => bindingTable.replace(db, binding, ['username', 'contact_uri']),
  remove: (username, contactUri) => {
    db.send('DELETE FROM binding WHERE username = ? AND contact_uri = ?', [username, contactUri]);
  },
  listAll: () => bindingTable.all(db, 'ORDER BY username, contact_uri', []),
});

/** Returns the next number for IDs shown to people: ascending and never reused. */
function nextNumber(db: Connection, name: string): number {
  const row = db.get('UPDATE counter SET value = value + 1 WHERE name = ? RETURNING value', [name]);
  return integer(row, 'value');
}
