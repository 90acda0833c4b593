import { SECOND_MS, secondsOf } from '../../../base/duration.ts';
import { assert } from '../../../base/errors.ts';
import { type AccountId, asAccountId } from '../../../base/ids.ts';
import { type Micros, micros } from '../../../base/money.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import { affordable, type Price, priceUse } from '../../../domain/ledger/ledger.ts';
import type { LedgerStore, RateStore } from '../../../domain/ledger/needs.ts';
import type {
  LedgerEntry,
  LedgerFault,
  NewEntry,
  Rate,
  ReserveRefusal,
  Use,
} from '../../../domain/ledger/types.ts';
import { type Connection, integer, string } from '../connection.ts';
import type { Synchronously } from '../repositories.ts';
import {
  balanceById,
  balancesOf,
  findBalance,
  insertBalance,
  lowBalanceAlerts,
  lowBalanceTold,
  mayHold,
  moveReserved,
  patchBalance,
} from './balances.ts';
import {
  completePending,
  findRepeated,
  type PostingOptions,
  type PostingRefusal,
  postEntry,
} from './entries.ts';
import { dailyTotals, entryPage, entrySummary, walkEntries } from './entry-list.ts';
import { UnitRefused } from './unit-refused.ts';

export const ledgerRepository = (db: Connection): Synchronously<LedgerStore> => ({
  openBalance: (accountId, currency) => {
    const account = db.get(
      'SELECT 1 AS found FROM account WHERE auth_id = ? AND parent_auth_id IS NULL',
      [accountId],
    );
    if (account === undefined) return err('unknownAccount');
    const opened = insertBalance(db, accountId, currency);
    return opened === undefined ? err('balanceExists') : ok(opened);
  },
  balance: (accountId, currency) => findBalance(db, accountId, currency),
  balances: (accountId) => balancesOf(db, accountId),
  patchBalance: (accountId, currency, patch) => patchBalance(db, accountId, currency, patch),
  lowBalanceAlerts: (after, limit) => lowBalanceAlerts(db, after, limit),
  lowBalanceTold: (id) => lowBalanceTold(db, id),
  post: (entries, options) => postAll(db, entries, options),
  postPending: (entry) => {
    const posted = postEntry(db, entry, { checked: false, status: 'pending' });
    return typeof posted === 'string' ? err(posted) : ok(posted);
  },
  completePending: (entryId, status) => completePending(db, entryId, status),
  reserve: (reservation) => hold(db, reservation),
  extend: (reservationId, amount) => extendHold(db, reservationId, amount),
  release: (reservationId, entries) => {
    releaseHold(db, reservationId);
    postCharges(db, entries);
  },
  chargeUse: (use, usedMs) => chargeUse(db, use, usedMs),
  page: (filter, page, perPage) => entryPage(db, filter, page, perPage),
  summary: (filter) => entrySummary(db, filter),
  walk: (filter, before, limit) => walkEntries(db, filter, before, limit),
  daily: (accountId, fromDay, toDay) => dailyTotals(db, accountId, fromDay, toDay),
  referenceTypes: (accountId) =>
    db
      .all(
        `SELECT DISTINCT reference_type FROM entry_total
          WHERE account_id = ? AND count > 0 ORDER BY reference_type`,
        [accountId],
      )
      .map((row) => string(row, 'reference_type')),
  verify: () => verifyLedger(db),
});

/** Posts all entries or none: a refused entry rolls back those before it. */
export function postAll(
  db: Connection,
  entries: readonly NewEntry[],
  options: Pick<PostingOptions, 'checked' | 'strict'>,
): Result<readonly LedgerEntry[], PostingRefusal> {
  const posted: LedgerEntry[] = [];
  for (const entry of entries) {
    const one = postEntry(db, entry, { ...options, status: 'completed' });
    if (typeof one === 'string') throw new UnitRefused(one);
    posted.push(one);
  }
  return ok(posted);
}

/** Charges for usage that already happened, whatever the balance: the balance was checked when the usage began. */
export function postCharges(db: Connection, entries: readonly NewEntry[]): void {
  for (const entry of entries) {
    const posted = postEntry(db, entry, { checked: false, status: 'completed' });
    assert(typeof posted !== 'string', `no balance in ${entry.currency} to charge`);
  }
}

export function hold(
  db: Connection,
  reservation: Parameters<LedgerStore['reserve']>[0],
): Result<void, ReserveRefusal> {
  const { reservationId, accountId, currency, amount, dailySpendLimit } = reservation;
  const balance = findBalance(db, accountId, currency);
  if (balance === undefined) return err('unknownBalance');
  const limit =
    dailySpendLimit === 'ofAccount' ? dailySpendLimitOf(db, accountId) : dailySpendLimit;
  const refusal = mayHold(db, balance, amount, limit);
  if (refusal !== undefined) return isHeld(db, reservationId) ? ok(undefined) : err(refusal);
  const isNew = db.changesOneLater(
    rowOf(reservationId),
    `INSERT INTO reservation (id, account_id, balance_id, amount, created_us)
      VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    [reservationId, accountId, balance.id, amount, db.nowUs],
  );
  if (isNew) moveReserved(db, balance.id, amount);
  return ok(undefined);
}

const rowOf = (reservationId: string): string => `reservation ${reservationId}`;

const isHeld = (db: Connection, reservationId: string): boolean =>
  db.get('SELECT 1 AS found FROM reservation WHERE id = ?', [reservationId]) !== undefined;

function dailySpendLimitOf(db: Connection, accountId: AccountId): Micros | undefined {
  const account = db.get('SELECT daily_spend_limit FROM account WHERE auth_id = ?', [accountId]);
  const limit = account?.['daily_spend_limit'] ?? undefined;
  return limit === undefined ? undefined : micros(Number(limit));
}

const NOTHING: Price = { billedMs: 0, amount: micros(0) };

function chargeUse(db: Connection, use: Use, usedMs: number): Result<Price, 'unknownBalance'> {
  const { reservationId, accountId, currency, rate, description, reference, referenceType } = use;
  const entry = { accountId, currency, type: 'debit', reference, referenceType } as const;
  const before = findRepeated(db, { ...entry, amount: micros(0), description, key: reference });
  const price = usedMs > 0 ? priceUse(usedMs, rate) : NOTHING;
  const charge = before === undefined ? payable(db, use, price) : NOTHING;
  releaseHold(db, reservationId);
  if (before !== undefined)
    return ok({ ...affordable(before.amount, rate), amount: before.amount });
  if (charge.amount === 0) return ok(charge);
  const described = `${description} (${secondsOf(charge.billedMs)} s)`;
  const posted = postEntry(
    db,
    { ...entry, amount: charge.amount, description: described, key: reference },
    { checked: false, status: 'completed' },
  );
  if (posted === 'unknownBalance') return err(posted);
  return ok(charge);
}

/** Returns `price`, or the reserved pulses of it if the balance does not cover the rest. */
function payable(db: Connection, use: Use, price: Price): Price {
  const { reservationId, accountId, currency } = use;
  const row = db.get('SELECT amount FROM reservation WHERE id = ?', [reservationId]);
  const held = micros(integer(row, 'amount'));
  if (price.amount <= held) return price;
  const { amount } = price;
  const more = {
    reservationId,
    accountId,
    currency,
    amount,
    dailySpendLimit: 'ofAccount',
  } as const;
  const raised = row === undefined ? hold(db, more) : extendHold(db, reservationId, amount);
  return raised.ok ? price : affordable(held, use.rate);
}

/**
 * Raises a reservation to an amount; a reservation that is already as high stays unchanged. The account's daily limit applies.
 */
export function extendHold(
  db: Connection,
  reservationId: string,
  amount: Micros,
): Result<void, ReserveRefusal> {
  const held = db.get(
    `SELECT r.balance_id, r.amount, a.daily_spend_limit FROM reservation r
      JOIN account a ON a.auth_id = r.account_id WHERE r.id = ?`,
    [reservationId],
  );
  const balance = held && balanceById(db, string(held, 'balance_id'));
  if (held === undefined || balance === undefined) return err('unknownBalance');
  const more = amount - integer(held, 'amount');
  if (more <= 0) return ok(undefined);
  const limit = held['daily_spend_limit'] === null ? undefined : integer(held, 'daily_spend_limit');
  const refusal = mayHold(db, balance, more as Micros, limit as Micros | undefined);
  if (refusal !== undefined) return err(refusal);
  const raised = db.changesOne('UPDATE reservation SET amount = ? WHERE id = ? AND amount = ?', [
    amount,
    reservationId,
    integer(held, 'amount'),
  ]);
  db.reservations.delete(reservationId);
  if (!raised) return err('unknownBalance'); // another node has released it
  moveReserved(db, balance.id, more);
  return ok(undefined);
}

/** Ignores a missing reservation, because settling is idempotent. */
export function releaseHold(db: Connection, reservationId: string): void {
  const known = db.reservations.get(reservationId);
  if (known !== undefined) {
    db.reservations.delete(reservationId);
    const sql = 'DELETE FROM reservation WHERE id = ?';
    if (db.changesOneLater(rowOf(reservationId), sql, [reservationId]))
      moveReserved(db, known.balanceId, -known.amount);
    return;
  }
  const held = db.get('DELETE FROM reservation WHERE id = ? RETURNING balance_id, amount', [
    reservationId,
  ]);
  if (held !== undefined) moveReserved(db, string(held, 'balance_id'), -integer(held, 'amount'));
}

/** Compares every balance with the sums that it must equal. */
export function verifyLedger(db: Pick<Connection, 'all'>): readonly LedgerFault[] {
  const rows = db.all(
    `SELECT b.id, b.account_id, b.currency, b.balance, b.reserved_funds,
        COALESCE((SELECT SUM(e.sign * e.amount) FROM entry e
          WHERE e.account_id = b.account_id AND e.balance_id = b.id AND e.status = 'completed'), 0)
          AS entries,
        COALESCE(h.amount, 0) AS reservations,
        COALESCE((SELECT SUM(t.sign * t.amount) FROM entry_total t
          WHERE t.account_id = b.account_id AND t.currency = b.currency AND t.status = 'completed'), 0)
          AS totals
      FROM balance b
        LEFT JOIN (SELECT balance_id, SUM(amount) AS amount FROM reservation GROUP BY balance_id) h
          ON h.balance_id = b.id`,
  );
  return rows
    .filter(
      (row) =>
        row['balance'] !== row['entries'] ||
        row['balance'] !== row['totals'] ||
        row['reserved_funds'] !== row['reservations'],
    )
    .map((row) => ({
      balanceId: string(row, 'id'),
      accountId: asAccountId(string(row, 'account_id')),
      currency: string(row, 'currency'),
      balance: integer(row, 'balance'),
      sumOfEntries: integer(row, 'entries'),
      sumOfDailyTotals: integer(row, 'totals'),
      reservedFunds: integer(row, 'reserved_funds'),
      sumOfReservations: integer(row, 'reservations'),
    }));
}

export const rateRepository = (db: Connection): Synchronously<RateStore> => ({
  put: (rate) => {
    db.send(
      `INSERT INTO rate
          (direction, prefix, currency, account_id, per_minute, pulse_seconds)
        VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (direction, currency, account_id, prefix)
          DO UPDATE SET per_minute = excluded.per_minute, pulse_seconds = excluded.pulse_seconds`,
      [
        rate.direction,
        rate.prefix,
        rate.currency,
        rate.accountId ?? '',
        rate.perMinute,
        secondsOf(rate.pulseMs),
      ],
    );
  },
  remove: (key) =>
    db.run(
      'DELETE FROM rate WHERE direction = ? AND prefix = ? AND currency = ? AND account_id = ?',
      [key.direction, key.prefix, key.currency, key.accountId ?? ''],
    ) === 1,
  listAll: () =>
    db.all('SELECT * FROM rate ORDER BY direction, currency, prefix').map((row) => ({
      direction: string(row, 'direction') as Rate['direction'],
      prefix: string(row, 'prefix'),
      currency: string(row, 'currency'),
      accountId: asAccountId(string(row, 'account_id')) || undefined,
      perMinute: integer(row, 'per_minute') as Micros,
      pulseMs: integer(row, 'pulse_seconds') * SECOND_MS,
    })),
});
