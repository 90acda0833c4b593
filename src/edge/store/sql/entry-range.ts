/** Converts a time window to a range of entry numbers, which ascend with time. */
import type { AccountId } from '../../../base/ids.ts';
import type { EntryFilter } from '../../../domain/ledger/types.ts';
import { type Connection, integer } from '../connection.ts';

export interface SeqRange {
  readonly first: number;
  readonly last: number;
}

/** Returns the numbers of the oldest and newest entry in the window. */
export function seqRange(db: Connection, filter: EntryFilter): SeqRange | undefined {
  const { accountId, fromUs, toUs } = filter;
  const first = fromUs === undefined ? 1 : firstSince(db, accountId, fromUs);
  const last =
    toUs === undefined ? lastSeq(db, accountId) : firstSince(db, accountId, toUs + 1) - 1;
  return first > last ? undefined : { first, last };
}

/** Returns the number of the account's last entry, or 0 if it has no entries. */
const lastSeq = (db: Connection, accountId: AccountId): number =>
  integer(db.get('SELECT seq FROM ledger_head WHERE account_id = ?', [accountId]), 'seq');

/**
 * Returns the number of the oldest entry at or after `us`, or the last number plus one if there is no such entry. Numbers have
 * no gaps and ascend with time, so this is a binary search: 24 rows for ten million entries.
 */
export const firstSince = (db: Connection, accountId: AccountId, us: number): number =>
  integer(
    db.get(
      `WITH RECURSIVE half (low, high) AS (
          SELECT CAST(1 AS BIGINT), seq + 1 FROM ledger_head WHERE account_id = @accountId
          UNION ALL
          SELECT CASE WHEN e.created_us < @us THEN e.seq + 1 ELSE half.low END,
              CASE WHEN e.created_us < @us THEN half.high ELSE e.seq END
            FROM half
            JOIN entry e ON e.account_id = @accountId AND e.seq = (half.low + half.high) / 2
            WHERE half.low < half.high
        )
        SELECT low FROM half WHERE low = high`,
      { accountId, us },
    ) ?? { low: 1 },
    'low',
  );
