import { type AccountId, asAccountId } from '../../../base/ids.ts';
import type { CredentialUse, CredentialUseStore } from '../../../domain/account/needs.ts';
import type { DeliveryStore } from '../../../domain/callback/needs.ts';
import type { Delivery } from '../../../domain/callback/types.ts';
import { type Connection, integer } from '../connection.ts';
import type { AccessOf, Synchronously } from '../repositories.ts';
import { withCredentials } from '../sealed-text.ts';
import { converted, flag, int, optionalInt, optionalText, stored, Table, text } from '../table.ts';
import { page, Where } from '../where.ts';
import { DELIVERY_REQUEST } from './stored-callback.ts';

type Attempt = Delivery['attempt'];
type Flat = Omit<Delivery, 'attempt'> & Attempt;

const US_PER_MS = 1000;

const table = new Table<Flat>('webhook_delivery', {
  id: text,
  accountId: text<AccountId>,
  atUs: int,
  event: text,
  method: text<Attempt['method']>('method'),
  url: text,
  status: optionalInt,
  error: optionalText,
  durationMs: converted(
    int('duration_us'),
    (ms: number) => Math.round(ms * US_PER_MS),
    (us) => us / US_PER_MS,
  ),
  signedString: text,
  isDelivered: flag,
  callUuid: optionalText,
  replayOf: optionalText,
  request: withCredentials(stored('request', DELIVERY_REQUEST)),
  requestBody: text,
  responseBody: text,
});

const toFlat = ({ attempt, ...delivery }: Delivery): Flat => ({
  ...delivery,
  ...attempt,
});

function fromFlat(flat: Flat): Delivery {
  const { event, method, url, status, error, durationMs, signedString, ...delivery } = flat;
  return { ...delivery, attempt: { event, method, url, status, error, durationMs, signedString } };
}

/** Where each operation runs. */
export const DELIVERY_ACCESS: AccessOf<DeliveryStore> = {
  put: 'soon',
  page: 'report',
  get: 'point',
  timings: 'report',
  purge: 'write',
};

export const deliveryRepository = (db: Connection): Synchronously<DeliveryStore> => ({
  put: (deliveries, perAccount) => {
    for (const delivery of deliveries) table.insert(db, toFlat(delivery));
    for (const accountId of new Set(deliveries.map((one) => one.accountId))) {
      db.send(
        `DELETE FROM webhook_delivery WHERE account_id = @accountId AND at_us <=
          (SELECT at_us FROM webhook_delivery WHERE account_id = @accountId
            ORDER BY at_us DESC LIMIT 1 OFFSET @perAccount)`,
        { accountId, perAccount },
      );
    }
  },
  page: (accountId, { callUuid, event, isDelivered: wanted, search }, slice) => {
    const where = new Where()
      .and('account_id = ?', accountId)
      .and('call_uuid = ?', callUuid)
      .and('lower(event) = lower(?)', event)
      .and('is_delivered = ?', wanted === undefined ? undefined : Number(wanted))
      .contains(['url', "COALESCE(call_uuid, '')"], search);
    const { items, total } = page(db, table, where, 'at_us DESC, id', slice);
    return { items: items.map(fromFlat), total };
  },
  get: (accountId, id) => {
    const found = table.get(db, 'id = ? AND account_id = ?', [id, accountId]);
    return found && fromFlat(found);
  },
  timings: (accountId) =>
    db
      .all('SELECT duration_us, is_delivered FROM webhook_delivery WHERE account_id = ?', [
        accountId,
      ])
      .map((row) => ({
        durationMs: integer(row, 'duration_us') / US_PER_MS,
        isDelivered: integer(row, 'is_delivered') === 1,
      })),
  purge: (beforeUs, most, limit) => {
    const old = db.run(
      `DELETE FROM webhook_delivery WHERE id IN
        (SELECT id FROM webhook_delivery WHERE at_us < ? ORDER BY at_us LIMIT ?)`,
      [beforeUs, limit],
    );
    if (old === limit) return old;
    const surplus = db.run(
      `DELETE FROM webhook_delivery WHERE id IN
        (SELECT id FROM webhook_delivery WHERE at_us <=
          (SELECT at_us FROM webhook_delivery ORDER BY at_us DESC LIMIT 1 OFFSET ?)
          ORDER BY at_us LIMIT ?)`,
      [most, limit - old],
    );
    return old + surplus;
  },
});

type Use = CredentialUse & { readonly accountId: AccountId };

const useTable = new Table<Use>('credential_use', {
  accountId: text<AccountId>,
  atUs: int,
  address: text,
  userAgent: text,
  requests: int,
});

export const credentialUseRepository = (db: Connection): Synchronously<CredentialUseStore> => ({
  add: (uses) => {
    for (const [accountId, use] of uses) {
      db.send(
        `INSERT INTO credential_use (account_id, at_us, address, user_agent, requests)
          VALUES (@accountId, @atUs, @address, @userAgent, @requests)
          ON CONFLICT (account_id) DO UPDATE SET
            address = CASE WHEN excluded.at_us < credential_use.at_us
              THEN credential_use.address ELSE excluded.address END,
            user_agent = CASE WHEN excluded.at_us < credential_use.at_us
              THEN credential_use.user_agent ELSE excluded.user_agent END,
            at_us = CASE WHEN excluded.at_us < credential_use.at_us
              THEN credential_use.at_us ELSE excluded.at_us END,
            requests = credential_use.requests + excluded.requests`,
        { ...use, accountId },
      );
    }
  },
  get: (accountId) => {
    const found = useTable.get(db, 'account_id = ?', [asAccountId(accountId)]);
    if (found === undefined) return undefined;
    const { accountId: _, ...use } = found;
    return use;
  },
  purge: () => {
    db.send('DELETE FROM credential_use WHERE account_id NOT IN (SELECT auth_id FROM account)');
  },
});
