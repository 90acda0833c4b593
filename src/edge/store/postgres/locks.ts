/** Locks that a transaction takes before it begins, always in the same order, which prevents deadlocks between nodes. */
import { integer, string } from '../connection.ts';
import type { Unit } from '../unit.ts';
import type { PostgresConnection } from './connection.ts';

/**
 * Repositories whose writes read only rows that they change, insert or lock themselves. All other writes are rare and read
 * before they write, so they are serialized across all nodes.
 */
const FREE: ReadonlySet<string> = new Set([
  'calls',
  'ledger',
  'callLogs',
  'notifications',
  'idempotency',
  'settings',
  'bindings',
  'recordings',
  'transcriptions',
  'exports',
  'retention',
  'nodes',
  'alarms',
  'deliveries',
  'credentialUses',
  'unreadableRows',
]);
const FREE_OPERATIONS: ReadonlySet<string> = new Set(['users.sessionSeen', 'users.addAudit']);

/**
 * First key of the advisory locks; the second key identifies the lock. Other programs on the same database must not use this
 * first key.
 */
export const LOCK_SPACE = 0x4341_5249;
const PROVISIONING = 1;
const CAMPAIGNS = 2;
export const MIGRATION = 3;

export function lockFor(db: PostgresConnection, units: readonly Unit[]): void {
  const guarded = units.filter(isGuarded);
  const ofCampaigns = guarded.filter(({ repository }) => repository === 'campaigns').length;
  if (guarded.length > ofCampaigns) take(db, PROVISIONING);
  if (ofCampaigns > 0) take(db, CAMPAIGNS);
  const moved = movedBy(units);
  addOwners(db, moved);
  if (moved.accounts.size > 0) lockLedgers(db, moved);
}

const isGuarded = ({ repository, operation }: Unit): boolean =>
  !FREE.has(repository) && !FREE_OPERATIONS.has(`${repository}.${operation}`);

function take(db: PostgresConnection, lock: number): void {
  db.send('SELECT pg_advisory_xact_lock(?, ?)', [LOCK_SPACE, lock]);
}

interface Owned {
  readonly accountId: string;
}
interface OfCall {
  readonly cdr: Owned & { readonly callUuid: string };
}

interface OfUse {
  readonly reservationId: string;
}

/** Accounts and reservations that the units change, as far as their arguments show. */
interface Moved {
  readonly accounts: Set<string>;
  /** Reservations that are released or raised, and whether the unit also names their account. */
  readonly reservations: Map<string, boolean>;
}

function movedBy(units: readonly Unit[]): Moved {
  const accounts = new Set<string>();
  const reservations = new Map<string, boolean>();
  for (const { repository, operation, given } of units) {
    const own = (owned: readonly unknown[]): void => {
      for (const one of owned) if (one) accounts.add((one as Owned).accountId);
    };
    const [first, second] = given;
    switch (`${repository}.${operation}`) {
      case 'ledger.openBalance':
      case 'ledger.patchBalance':
        accounts.add(String(first));
        break;
      case 'accounts.patch':
        if ((given[2] as readonly unknown[] | undefined)?.length) accounts.add(String(first));
        break;
      case 'ledger.post':
        own(first as readonly Owned[]);
        break;
      case 'ledger.postPending':
      case 'ledger.reserve':
        own([first]);
        break;
      case 'ledger.extend':
      case 'calls.extendReservation':
        reservations.set(String(first), false);
        break;
      case 'ledger.release':
        reservations.set(String(first), (second as readonly Owned[]).length > 0);
        own(second as readonly Owned[]);
        break;
      case 'unreadableRows.remove':
        if (first === 'open_call') reservations.set(String(second), false);
        break;
      case 'ledger.chargeUse':
        reservations.set((first as OfUse).reservationId, true);
        own([first]);
        break;
      case 'calls.open':
      case 'calls.openAhead':
        own([(first as OfCall).cdr]);
        break;
      case 'calls.settle':
      case 'calls.discard':
        own([(first as OfCall).cdr]);
        reservations.set((first as OfCall).cdr.callUuid, true);
        break;
      case 'numbers.purchase':
        own(second as readonly Owned[]);
        break;
      case 'numbers.rent':
        own([second]);
        break;
    }
  }
  return { accounts, reservations };
}

function addOwners(db: PostgresConnection, { accounts, reservations }: Moved): void {
  const unknown = [...reservations].filter(([, isKnown]) => !isKnown).map(([id]) => id);
  if (unknown.length === 0) return;
  const rows = db.all('SELECT account_id FROM reservation WHERE id = ANY(?::text[])', [
    arrayOf(unknown),
  ]);
  for (const row of rows) accounts.add(string(row, 'account_id'));
}

/** Locks all balances of the accounts. The lock also covers numbering their entries and changing their reservations. */
function lockLedgers(db: PostgresConnection, { accounts, reservations }: Moved): void {
  const of = [arrayOf([...accounts])];
  const [balances = [], heads = [], held = []] = db.answers([
    [
      `SELECT * FROM balance WHERE account_id = ANY(?::text[])
        ORDER BY account_id, currency FOR NO KEY UPDATE`,
      of,
    ],
    ['SELECT account_id, seq, created_us FROM ledger_head WHERE account_id = ANY(?::text[])', of],
    [
      `SELECT id, balance_id, amount FROM reservation
        WHERE id = ANY(?::text[]) AND account_id = ANY(?::text[])`,
      [arrayOf([...reservations.keys()]), ...of],
    ],
  ]);
  for (const row of balances) db.balances.keep(row);
  for (const id of accounts) db.ledgerHeads.keep(id, { seq: 0, createdUs: 0 });
  for (const row of heads) {
    const head = { seq: integer(row, 'seq'), createdUs: integer(row, 'created_us') };
    db.ledgerHeads.keep(string(row, 'account_id'), head);
  }
  for (const row of held) {
    const reservation = { balanceId: string(row, 'balance_id'), amount: integer(row, 'amount') };
    db.reservations.set(string(row, 'id'), reservation);
  }
}

/** Formats an array literal; https://www.postgresql.org/docs/current/arrays.html#ARRAYS-INPUT */
const arrayOf = (texts: readonly string[]): string =>
  `{${texts.map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;
