import { changed } from '../../../base/changes.ts';
import { err, ok } from '../../../base/result.ts';
import type {
  CallerIdStore,
  CarrierStore,
  NumberStore,
} from '../../../domain/provisioning/needs.ts';
import type { CallerId, Carrier, PhoneNumber } from '../../../domain/provisioning/types.ts';
import type { Connection } from '../connection.ts';
import type { Synchronously } from '../repositories.ts';
import {
  type Column,
  flag,
  int,
  optional,
  optionalInt,
  optionalText,
  stored,
  Table,
  text,
} from '../table.ts';
import { page, Where } from '../where.ts';
import { postAll } from './ledger.ts';
import { CARRIER_AUTH, CARRIER_POLICY, TEXTS } from './stored-provisioning.ts';

const numberTable = new Table<PhoneNumber>('phone_number', {
  e164: text,
  id: text,
  accountId: optionalText,
  subAccount: optionalText,
  country: text,
  region: text,
  status: text,
  alias: optionalText,
  setupFeeMicros: int('setup_fee'),
  monthlyFeeMicros: int('monthly_fee'),
  currency: text,
  carrier: optionalText,
  applicationId: optionalInt,
  trunkGroupId: optionalText,
  purchasedUs: optionalInt,
  nextBillingUs: optionalInt,
  lastBilledUs: optionalInt,
  releasedUs: optionalInt,
  cooldownEndsUs: optionalInt,
  suspendedUs: optionalInt,
  createdUs: int,
  updatedUs: int,
});

export const numberRepository = (db: Connection): Synchronously<NumberStore> => ({
  insert: (number) => (numberTable.insertNew(db, number) ? ok(number) : err('numberExists')),
  get: (e164) => numberTable.get(db, 'e164 = ?', [e164]),
  list: (filter, slice) => {
    const where = new Where()
      .and('account_id = ?', filter.accountId)
      .and('status = ?', filter.status)
      .and('country = ?', filter.country)
      .contains(['e164'], filter.search);
    return page(db, numberTable, where, 'e164', slice);
  },
  patch: (accountId, e164, patch) =>
    numberTable.patch(db, patch, 'e164 = @e164 AND account_id = @account', {
      e164,
      account: accountId,
    }),
  remove: (e164) => {
    const number = numberTable.get(db, 'e164 = ?', [e164]);
    if (number === undefined) return err('unknown');
    if (number.accountId !== undefined) return err('inUse');
    db.send('DELETE FROM phone_number WHERE e164 = ?', [e164]);
    return ok(undefined);
  },
  purchase: (owned, fees) => {
    const current = numberTable.get(db, 'e164 = ?', [owned.e164]);
    if (current?.status !== 'available') return err('notAvailable');
    if (owned.applicationId !== undefined && !hasApplication(db, owned))
      return err('unknownApplication');
    const posted = postAll(db, fees, { checked: true });
    numberTable.replace(db, owned, ['e164']);
    return posted;
  },
  ...rentals(db),
  ...releases(db),
});

const hasApplication = (db: Connection, { accountId, applicationId }: PhoneNumber): boolean =>
  db.get('SELECT 1 AS found FROM application WHERE app_id = ? AND account_id = ?', [
    applicationId ?? null,
    accountId ?? null,
  ]) !== undefined;

type NumberParts = Partial<Synchronously<NumberStore>>;

/** Monthly fees of purchased numbers, and their suspension while a fee is unpaid. */
const rentals = (db: Connection) =>
  ({
    dueForRental: (nowUs, limit) =>
      numberTable.all(
        db,
        `WHERE next_billing_us <= ? AND status IN ('active', 'suspended')
        ORDER BY next_billing_us LIMIT ?`,
        [nowUs, limit],
      ),
    rent: (number, fee, nextBillingUs) => {
      if (!isStillDue(db, number)) return err('changed');
      // A refused fee is thrown, which rolls back the unit of work.
      if (fee !== undefined) postAll(db, [fee], { checked: true });
      db.send(
        `UPDATE phone_number SET next_billing_us = @next, last_billed_us = @now, updated_us = @now,
          status = 'active', suspended_us = NULL
        WHERE e164 = @e164`,
        { next: nextBillingUs, now: db.nowUs, e164: number.e164 },
      );
      return ok(undefined);
    },
    suspend: (number, retryUs) => {
      if (!isStillDue(db, number)) return false;
      db.send(
        `UPDATE phone_number SET status = 'suspended', suspended_us = COALESCE(suspended_us, @now),
          next_billing_us = @retry, updated_us = @now
        WHERE e164 = @e164`,
        { retry: retryUs, now: db.nowUs, e164: number.e164 },
      );
      return true;
    },
  }) satisfies NumberParts;

/** Returns whether the number has the owner, status and due time with which it was read. */
function isStillDue(db: Connection, { e164, accountId, status, nextBillingUs }: PhoneNumber) {
  const now = numberTable.get(db, 'e164 = ?', [e164]);
  return (
    now?.accountId === accountId && now?.status === status && now.nextBillingUs === nextBillingUs
  );
}

/** Releases, which an account may cancel until the cooldown ends. */
const releases = (db: Connection) =>
  ({
    cancelRelease: (accountId, e164) => {
      const released = numberTable.get(db, 'e164 = ?', [e164]);
      const status = released?.suspendedUs === undefined ? 'active' : 'suspended';
      return numberTable.patch(
        db,
        { status, cooldownEndsUs: undefined, releasedUs: undefined },
        "e164 = @e164 AND account_id = @account AND status = 'pending_release'",
        { e164, account: accountId },
      );
    },
    completeReleases: (nowUs) =>
      db.run(
        `UPDATE phone_number SET status = 'available', account_id = NULL, sub_account = NULL,
          application_id = NULL, trunk_group_id = NULL, purchased_us = NULL,
          next_billing_us = NULL, last_billed_us = NULL, cooldown_ends_us = NULL,
          alias = NULL, suspended_us = NULL,
          updated_us = @now
        WHERE status = 'pending_release' AND cooldown_ends_us <= @now`,
        { now: nowUs },
      ),
  }) satisfies NumberParts;

export function carrierRepository(db: Connection): Synchronously<CarrierStore> {
  const table = carrierTable(db);
  return {
    insert: (carrier) => (table.insertNew(db, carrier) ? ok(undefined) : err('carrierExists')),
    patch: (name, patch, policy) => {
      const before = policy && table.get(db, 'name = ?', [name]);
      const all = before ? { ...patch, policy: changed(before.policy, policy) } : patch;
      return table.patch(db, all, 'name = @name', { name });
    },
    remove: (name) => {
      db.send('UPDATE phone_number SET carrier = NULL WHERE carrier = ?', [name]);
      return db.run('DELETE FROM carrier WHERE name = ?', [name]) === 1;
    },
    get: (name) => table.get(db, 'name = ?', [name]),
    listAll: () => table.all(db, 'ORDER BY name', []),
  };
}

/** Creates the table with the vault that encrypts the passwords received from carriers. */
function carrierTable(db: Connection): Table<Carrier> {
  const auth: Column<NonNullable<Carrier['auth']>> = {
    name: 'auth',
    write: (value) => db.vault.seal(CARRIER_AUTH.write(value), 'carrier-auth'),
    read: (value) => CARRIER_AUTH.read(db.vault.open(value as Uint8Array, 'carrier-auth')),
  };
  return new Table<Carrier>('carrier', {
    name: text,
    host: text,
    port: optionalInt,
    transport: text,
    auth: optional(auth),
    sourceAddresses: stored('source_addresses', TEXTS),
    prefixes: stored('prefixes', TEXTS),
    strip: int,
    prepend: text,
    cpsLimit: int,
    concurrentCallsLimit: int,
    secure: flag,
    priority: int,
    enabled: flag,
    policy: stored('policy', CARRIER_POLICY),
  });
}

const callerIdTable = new Table<CallerId>('caller_id', {
  accountId: text,
  e164: text,
  createdUs: int,
});

export const callerIdRepository = (db: Connection): Synchronously<CallerIdStore> => ({
  add: (callerId) => {
    callerIdTable.insertNew(db, callerId);
  },
  remove: (accountId, e164) =>
    db.run('DELETE FROM caller_id WHERE account_id = ? AND e164 = ?', [accountId, e164]) === 1,
  list: (accountId) => callerIdTable.all(db, 'WHERE account_id = ? ORDER BY e164', [accountId]),
  owns: (accountId, e164) =>
    db.get(
      `SELECT 1 AS found FROM caller_id WHERE account_id = @account AND e164 = @e164
        UNION ALL
        SELECT 1 FROM phone_number
          WHERE account_id = @account AND e164 = @e164 AND status = 'active'`,
      { account: accountId, e164 },
    ) !== undefined,
});
