import { type AccountId, asAccountId, uuid } from '../../../base/ids.ts';
import type { Micros } from '../../../base/money.ts';
import { micros } from '../../../base/money.ts';
import { availableOf, canSpend, isLow } from '../../../domain/ledger/ledger.ts';
import type { Balance, BalancePatch, LowBalanceAlert } from '../../../domain/ledger/types.ts';
import { type Connection, integer, type Row, string } from '../connection.ts';
import { flag, int, Table, text } from '../table.ts';

type BalanceRow = Omit<Balance, 'promotionalReservedBalance'>;

const table = new Table<BalanceRow>('balance', {
  id: text,
  accountId: text,
  currency: text,
  balance: int,
  reservedFunds: int,
  promotionalBalance: int,
  creditLimit: int,
  isPostpaid: flag,
  creditLimitType: text,
  lowBalanceThreshold: int,
  status: text,
  createdUs: int,
  updatedUs: int,
});

/** Combines the balance with its reservations. Promotional credit is spent first, so it covers reservations first. */
const whole = (row: BalanceRow): Balance => ({
  ...row,
  promotionalReservedBalance: micros(Math.min(row.promotionalBalance, row.reservedFunds)),
});

export function findBalance(
  db: Connection,
  accountId: AccountId,
  currency: string,
): Balance | undefined {
  const row =
    db.balances.byOwner(accountId, currency) ??
    read(db, 'account_id = ?', accountId).find((one) => one['currency'] === currency);
  return row && whole(table.read(db, row));
}

export const balanceById = (db: Connection, id: string): Balance | undefined => {
  const row = rowById(db, id);
  return row && whole(table.read(db, row));
};

const rowById = (db: Connection, id: string): Row | undefined =>
  db.balances.byId(id) ??
  read(db, 'account_id = (SELECT account_id FROM balance WHERE id = ?)', id).find(
    (row) => row['id'] === id,
  );

/**
 * Reads all balances of the account that `where` (SQL) selects. Locking them also gives the right to write the account's
 * ledger, whose entries are numbered across currencies.
 */
function read(db: Connection, where: string, value: string): readonly Row[] {
  const rows = db.all(`SELECT * FROM balance WHERE ${where} ORDER BY currency${db.forUpdate}`, [
    value,
  ]);
  // A read-only connection does not see later changes, so it caches nothing.
  if (!db.readonly)
    for (const row of rows) if (!db.balances.byId(string(row, 'id'))) db.balances.keep(row);
  return rows;
}

export function balancesOf(db: Connection, accountId: AccountId): readonly Balance[] {
  const rows = db.all('SELECT * FROM balance WHERE account_id = ? ORDER BY currency', [accountId]);
  return rows.map((row) => whole(table.read(db, db.balances.byId(string(row, 'id')) ?? row)));
}

export function insertBalance(
  db: Connection,
  accountId: AccountId,
  currency: string,
): Balance | undefined {
  const row: BalanceRow = {
    id: uuid(db.random),
    accountId,
    currency,
    balance: micros(0),
    reservedFunds: micros(0),
    promotionalBalance: micros(0),
    creditLimit: micros(0),
    isPostpaid: false,
    creditLimitType: 'hard',
    lowBalanceThreshold: micros(0),
    status: 'active',
    createdUs: db.nowUs,
    updatedUs: db.nowUs,
  };
  return table.insertNew(db, row) ? whole(row) : undefined;
}

export function patchBalance(
  db: Connection,
  accountId: AccountId,
  currency: string,
  patch: BalancePatch,
): Balance | undefined {
  const where = 'account_id = @account AND currency = @currency';
  writeLedger(db);
  const row = table.patch(db, patch, where, { account: accountId, currency });
  if (row !== undefined) db.balances.changedElsewhere(row.id);
  return row && whole(row);
}

/**
 * Runs at the end of a unit of work. Records each changed balance that fell below its threshold, once until it rises above it
 * again. Only the final balance of the unit counts. Returns true if an alert is due.
 */
export function settleTouched(db: Connection): boolean {
  let fell = false;
  for (const id of db.balances.takeTouched()) {
    const row = rowById(db, id);
    if (row === undefined) continue;
    const low = isLow({
      balance: micros(integer(row, 'balance')),
      reservedFunds: micros(integer(row, 'reserved_funds')),
      lowBalanceThreshold: micros(integer(row, 'low_balance_threshold')),
    })
      ? 1
      : 0;
    if (integer(row, 'low_balance_alerted') === low) continue;
    // A new account does not count as low before its first credit.
    if (low === 1 && !wasCredited(db, row)) continue;
    const balance = whole(table.read(db, row));
    db.balances.change({ ...row, low_balance_alerted: low });
    if (low === 0) continue;
    fell = true;
    db.send(
      `INSERT INTO low_balance_alert
          (balance_id, account_id, currency, available, threshold, fallen_us)
        VALUES (?, ?, ?, ?, ?, ?)`,
      [
        id,
        balance.accountId,
        balance.currency,
        availableOf(balance),
        balance.lowBalanceThreshold,
        db.nowUs,
      ],
    );
  }
  db.balances.takeTouched(); // by what was noted just now
  return fell;
}

function wasCredited(db: Connection, balance: Row): boolean {
  writeTotals(db);
  const credited = db.get(
    `SELECT 1 AS found FROM entry_total
      WHERE account_id = ? AND currency = ? AND sign = 1 AND status = 'completed' AND count > 0 LIMIT 1`,
    [string(balance, 'account_id'), string(balance, 'currency')],
  );
  return credited !== undefined;
}

/** Writes the cached ledger changes of the transaction: before it ends, and before another statement reads them. */
export function writeLedger(db: Connection): void {
  for (const row of db.balances.takeChanged()) write(db, row);
  writeHeads(db);
  writeTotals(db);
}

function write(db: Connection, row: Row): void {
  db.sendLater(
    `balance ${string(row, 'id')}`,
    `UPDATE balance SET balance = ?, promotional_balance = ?, reserved_funds = ?, low_balance_alerted = ?, updated_us = ?
      WHERE id = ?`,
    [
      integer(row, 'balance'),
      integer(row, 'promotional_balance'),
      integer(row, 'reserved_funds'),
      integer(row, 'low_balance_alerted'),
      integer(row, 'updated_us'),
      string(row, 'id'),
    ],
  );
}

function writeHeads(db: Connection): void {
  for (const [accountId, { seq, createdUs }] of db.ledgerHeads.takeChanged())
    db.sendLater(
      `head ${accountId}`,
      `INSERT INTO ledger_head (account_id, seq, created_us) VALUES (?, ?, ?)
        ON CONFLICT (account_id) DO UPDATE SET seq = excluded.seq, created_us = excluded.created_us`,
      [accountId, seq, createdUs],
    );
}

function writeTotals(db: Connection): void {
  for (const total of db.entryTotals.take())
    db.sendLater(
      `total ${[total.accountId, total.day, total.currency, total.referenceType, total.type, total.sign, total.status].join(' ')}`,
      `INSERT INTO entry_total
          (account_id, day, currency, reference_type, type, sign, status, count, amount)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (account_id, day, currency, reference_type, type, sign, status)
          DO UPDATE SET count = entry_total.count + excluded.count,
            amount = entry_total.amount + excluded.amount`,
      [
        total.accountId,
        total.day,
        total.currency,
        total.referenceType,
        total.type,
        total.sign,
        total.status,
        total.count,
        total.amount,
      ],
    );
}

export const lowBalanceAlerts = (
  db: Connection,
  after: number,
  limit: number,
): readonly LowBalanceAlert[] =>
  db
    .all('SELECT * FROM low_balance_alert WHERE id > ? ORDER BY id LIMIT ?', [after, limit])
    .map((row) => ({
      id: integer(row, 'id'),
      balanceId: string(row, 'balance_id'),
      accountId: asAccountId(string(row, 'account_id')),
      currency: string(row, 'currency'),
      available: micros(integer(row, 'available')),
      threshold: micros(integer(row, 'threshold')),
      fallenUs: integer(row, 'fallen_us'),
    }));

export function lowBalanceTold(db: Connection, id: number): void {
  db.send('DELETE FROM low_balance_alert WHERE id = ?', [id]);
}

/** Changes a balance by a completed entry. */
export function moveBalance(
  db: Connection,
  balanceId: string,
  by: number,
  promotionalBalance: number,
): void {
  const row = rowById(db, balanceId);
  if (row === undefined) return;
  db.balances.change({
    ...row,
    balance: integer(row, 'balance') + by,
    promotional_balance: promotionalBalance,
    updated_us: db.nowUs,
  });
}

/** Raises the reserved amount of a balance; a negative `by` releases it. */
export function moveReserved(db: Connection, balanceId: string, by: number): void {
  const row = rowById(db, balanceId);
  if (row === undefined) return;
  const reserved = integer(row, 'reserved_funds') + by;
  db.balances.change({ ...row, reserved_funds: reserved, updated_us: db.nowUs });
}

const DAY_US = 86_400_000_000;

/** Number of UTC days since the epoch, the day key of `entry_total`. */
export const dayOf = (us: number): number => Math.floor(us / DAY_US);
export const dayStartUs = (day: number): number => day * DAY_US;

/** Returns whether `amount` more may be reserved now. Checks the funds, then the account's limit for the UTC day. */
export function mayHold(
  db: Connection,
  balance: Balance,
  amount: Micros,
  dailySpendLimit: Micros | undefined,
): 'insufficientFunds' | 'dailySpendLimit' | undefined {
  if (!canSpend(balance, amount)) return 'insufficientFunds';
  if (dailySpendLimit === undefined) return undefined;
  writeTotals(db);
  const spent = db.get(
    `SELECT SUM(amount) AS spent FROM entry_total
      WHERE account_id = ? AND day = ? AND currency = ? AND sign = -1`,
    [balance.accountId, dayOf(db.nowUs), balance.currency],
  );
  const committed = integer(spent, 'spent') + balance.reservedFunds + amount;
  return committed > dailySpendLimit ? 'dailySpendLimit' : undefined;
}
