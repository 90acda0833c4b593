/** Selects due contacts and stores attempts. Each unit of work also updates the affected statuses and counters. */
import type { CallUuid, CampaignId } from '../../../base/ids.ts';
import type { StoredNotification } from '../../../domain/callback/types.ts';
import type {
  AttemptFinish,
  AttemptStart,
  CampaignStore,
  DueContact,
  DueQuery,
} from '../../../domain/campaign/needs.ts';
import type {
  Campaign,
  Contact,
  ContactReason,
  ContactStatus,
} from '../../../domain/campaign/types.ts';
import { type Connection, integer, type Row, string } from '../connection.ts';
import type { Synchronously } from '../repositories.ts';
import { pastUnreadable } from '../unreadable.ts';
import { attemptTable, readContact } from './campaign-lists.ts';
import { notificationTable } from './notifications.ts';

export const dialling = (db: Connection, getCampaign: (id: CampaignId) => Campaign | undefined) =>
  ({
    dueZones: (id) => dueZones(db, id),
    due: (query) => due(db, query),
    failUnreadable: (query) =>
      failUnreadable(db, query) ? getCampaign(query.campaignId) : undefined,
    waiting: (id, limit) =>
      db
        .all(
          `SELECT id FROM campaign_contact
            WHERE list = (SELECT list FROM campaign WHERE id = ?) AND due_us IS NOT NULL LIMIT ?`,
          [id, limit],
        )
        .map((row) => integer(row, 'id')),
    contact: (contactId) => {
      const row = db.get('SELECT * FROM campaign_contact WHERE id = ?', [contactId]);
      return row && readContact(db, row);
    },
    begin: (start) => (begin(db, start) ? getCampaign(start.campaignId) : undefined),
    finish: (finished, notifications) => {
      const campaignId = finish(db, finished);
      if (campaignId === undefined) return undefined;
      insertNotifications(db, notifications);
      return getCampaign(campaignId);
    },
    decide: (id, decisions, notifications) => {
      for (const { contactId, ...decision } of decisions) {
        const row = db.get(
          `SELECT * FROM campaign_contact WHERE id = ? AND status IN ('pending', 'retry_pending')`,
          [contactId],
        );
        if (row !== undefined) move(db, id, row, decision);
      }
      insertNotifications(db, notifications);
      return getCampaign(id);
    },
    openAttempts: () => attemptTable.all(db, 'WHERE ended_us IS NULL ORDER BY seq', []),
  }) satisfies Partial<Synchronously<CampaignStore>>;

/**
 * Finds the timezones with due contacts by skipping along the index: a list has few timezones and up to millions of contacts.
 */
function dueZones(db: Connection, id: CampaignId) {
  const rows = db.all(
    `WITH RECURSIVE
        its (list) AS (SELECT list FROM campaign WHERE id = ?),
        zone (timezone) AS (
          SELECT (SELECT min(timezone) FROM campaign_contact
            WHERE list = its.list AND due_us IS NOT NULL) FROM its
          UNION ALL
          SELECT (SELECT min(c.timezone) FROM campaign_contact c
            WHERE c.list = its.list AND c.due_us IS NOT NULL AND c.timezone > zone.timezone)
          FROM its, zone WHERE zone.timezone IS NOT NULL)
      SELECT zone.timezone, (SELECT min(c.due_us) FROM campaign_contact c
          WHERE c.list = its.list AND c.timezone = zone.timezone AND c.due_us IS NOT NULL) AS due_us
        FROM its, zone WHERE zone.timezone IS NOT NULL`,
    [id],
  );
  return rows.map((row) => ({
    timezone: string(row, 'timezone'),
    dueUs: integer(row, 'due_us'),
  }));
}

function due(db: Connection, query: DueQuery): readonly DueContact[] {
  const campaign = db.get('SELECT list, account_id FROM campaign WHERE id = ?', [query.campaignId]);
  if (campaign === undefined) return [];
  const list = integer(campaign, 'list');
  const accountId = string(campaign, 'account_id');
  const { timezone, nowUs, limit, dayStartUs } = query;
  const retries = readContacts(db, limit, (offset) =>
    db.all(
      `SELECT * FROM campaign_contact WHERE list = ? AND timezone = ? AND due_us > 0 AND due_us <= ?
        ORDER BY due_us, id LIMIT ? OFFSET ?`,
      [list, timezone, nowUs, limit, offset],
    ),
  );
  const left = limit - retries.length;
  const fresh =
    left === 0
      ? []
      : readContacts(db, left, (offset) =>
          db.all(
            `SELECT * FROM campaign_contact WHERE list = ? AND timezone = ? AND due_us = 0
              ORDER BY id LIMIT ? OFFSET ?`,
            [list, timezone, left, offset],
          ),
        );
  return [...retries, ...fresh].map((contact) => ({
    contact,
    ...hindranceOf(db, accountId, { to: contact.to, dayStartUs }),
  }));
}

/** Returns whether there was such a contact. The report of each has its key and its original content. */
function failUnreadable(
  db: Connection,
  { campaignId, nowUs, limit }: Pick<DueQuery, 'campaignId' | 'nowUs' | 'limit'>,
): boolean {
  let after = -1;
  let failed = 0;
  for (;;) {
    const rows = db.all(
      `SELECT * FROM campaign_contact WHERE list = (SELECT list FROM campaign WHERE id = ?)
          AND due_us <= ? AND status IN ('pending', 'retry_pending') AND id > ? ORDER BY id LIMIT ?`,
      [campaignId, nowUs, after, limit],
    );
    for (const row of rows) {
      if (db.readable([row], (one) => readContact(db, one)).length > 0) continue;
      move(db, campaignId, row, { status: 'failed', reason: 'unreadable', dueUs: undefined });
      failed += 1;
    }
    if (failed > 0 || rows.length < limit) return failed > 0;
    after = integer(rows.at(-1), 'id');
  }
}

const readContacts = (
  db: Connection,
  limit: number,
  rowsFrom: (offset: number) => readonly Row[],
): readonly Contact[] =>
  pastUnreadable(limit, 0, (offset) => {
    const rows = rowsFrom(offset);
    const items = db.readable(rows, (row) => readContact(db, row));
    return { rows: rows.length, items, next: offset + rows.length };
  });

function hindranceOf(
  db: Connection,
  accountId: string,
  { to, dayStartUs }: { readonly to: string; readonly dayStartUs: number },
): Omit<DueContact, 'contact'> {
  const barred = db.get(`SELECT 1 FROM do_not_call WHERE scope IN (?, 'operator') AND number = ?`, [
    accountId,
    to,
  ]);
  const calls = db.get(
    `SELECT COUNT(*) AS n FROM campaign_attempt
      WHERE account_id = ? AND to_number = ? AND placed_us >= ? AND counted = 1`,
    [accountId, to, dayStartUs],
  );
  return { doNotCall: barred !== undefined, callsOfDay: integer(calls, 'n') };
}

function begin(db: Connection, start: AttemptStart): boolean {
  const { callUuid, campaignId, contactId, from, placedUs, poolNumber } = start;
  const campaign = db.get(
    `SELECT list, account_id FROM campaign WHERE id = ? AND status = 'running'`,
    [campaignId],
  );
  if (campaign === undefined) return false;
  const row = db.get(
    `SELECT * FROM campaign_contact
      WHERE id = ? AND list = ? AND attempts = ? AND due_us <= ?`,
    [contactId, integer(campaign, 'list'), start.attemptsBefore, placedUs],
  );
  if (row === undefined) return false;
  const hindrance = hindranceOf(db, string(campaign, 'account_id'), {
    to: string(row, 'to_number'),
    dayStartUs: start.dayStartUs,
  });
  if (hindrance.doNotCall || hindrance.callsOfDay >= start.maxCallsOfDay) return false;
  if (poolNumber !== undefined && !isUsable(db, poolNumber)) return false;
  move(db, campaignId, row, { status: 'dialling', reason: undefined, dueUs: undefined });
  db.send(
    `UPDATE campaign_contact SET attempts = attempts + 1, call_uuid = ?,
        first_dial_us = COALESCE(first_dial_us, ?) WHERE id = ?`,
    [callUuid, placedUs, contactId],
  );
  db.send(
    `INSERT INTO campaign_attempt (call_uuid, account_id, campaign_id, contact_id, row_number,
        attempt_number, to_number, from_number, status, placed_us)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'dialling', ?)`,
    [
      callUuid,
      string(campaign, 'account_id'),
      campaignId,
      contactId,
      integer(row, 'row_number'),
      integer(row, 'attempts') + 1,
      string(row, 'to_number'),
      from,
      placedUs,
    ],
  );
  db.send('UPDATE campaign SET last_dial_us = ? WHERE id = ?', [placedUs, campaignId]);
  if (poolNumber !== undefined) countUse(db, poolNumber, placedUs);
  return true;
}

type PoolNumberUse = NonNullable<AttemptStart['poolNumber']>;

/** Returns whether the number is still in the pool and below its limits. */
function isUsable(db: Connection, { id, day, maxCalls, maxCallsPerDay }: PoolNumberUse): boolean {
  const row = db.get('SELECT total_calls, day, calls_of_day FROM campaign_number WHERE id = ?', [
    id,
  ]);
  if (row === undefined) return false;
  if (maxCalls !== undefined && integer(row, 'total_calls') >= maxCalls) return false;
  const isToday = string(row, 'day') === day;
  return maxCallsPerDay === undefined || !isToday || integer(row, 'calls_of_day') < maxCallsPerDay;
}

function countUse(db: Connection, { id, day }: PoolNumberUse, usedUs: number): void {
  db.send(
    `UPDATE campaign_number SET total_calls = total_calls + 1,
        calls_of_day = CASE WHEN day = @day THEN calls_of_day + 1 ELSE 1 END,
        day = @day, last_used_us = @usedUs WHERE id = @id`,
    { id, day, usedUs },
  );
}

/** Returns the campaign of the attempt, or undefined if the attempt was already closed. */
function finish(db: Connection, finished: AttemptFinish): CampaignId | undefined {
  const { callUuid, status, answeredUs, endedUs, hangupCause, hangupCauseCode, machine } = finished;
  const attempt = db.get(
    `UPDATE campaign_attempt SET status = ?, answered_us = ?, ended_us = ?, hangup_cause = ?,
        hangup_cause_code = ?, machine = ? WHERE call_uuid = ? AND ended_us IS NULL
      RETURNING campaign_id, contact_id`,
    [
      status,
      answeredUs ?? null,
      endedUs,
      hangupCause,
      hangupCauseCode,
      machine === undefined ? null : Number(machine),
      callUuid,
    ],
  );
  if (attempt === undefined) return undefined;
  const campaignId = string(attempt, 'campaign_id') as CampaignId;
  const { contact } = finished;
  const row = db.get('SELECT * FROM campaign_contact WHERE id = ? AND call_uuid = ?', [
    integer(attempt, 'contact_id'),
    callUuid,
  ]);
  if (row !== undefined) move(db, campaignId, row, contact);
  if (!contact.counts) uncount(db, callUuid, finished.day);
  db.send(
    `UPDATE campaign SET updated_us = ?, consecutive_failures =
      CASE ? WHEN 'counts' THEN consecutive_failures + 1 WHEN 'resets' THEN 0
        ELSE consecutive_failures END WHERE id = ?`,
    [db.nowUs, finished.failure, campaignId],
  );
  return campaignId;
}

/** Reverts the counts of an attempt that rang no phone: for the contact, the pool number and the daily limit. */
function uncount(db: Connection, callUuid: CallUuid, day: string): void {
  db.send(
    `UPDATE campaign_contact SET attempts = attempts - 1,
        first_dial_us = CASE WHEN attempts > 1 THEN first_dial_us END
      WHERE id = (SELECT contact_id FROM campaign_attempt WHERE call_uuid = ?) AND call_uuid = ?`,
    [callUuid, callUuid],
  );
  db.send(
    `UPDATE campaign_number SET total_calls = CASE WHEN total_calls > 0 THEN total_calls - 1 ELSE 0 END,
        calls_of_day =
          CASE WHEN calls_of_day > 0 AND day = ? THEN calls_of_day - 1 ELSE calls_of_day END
      WHERE (campaign_id, number) =
        (SELECT campaign_id, from_number FROM campaign_attempt WHERE call_uuid = ?)`,
    [day, callUuid],
  );
  db.send('UPDATE campaign_attempt SET counted = 0 WHERE call_uuid = ?', [callUuid]);
}

/**
 * Changes the status of a contact. All status changes go through here, which keeps the counters equal to the number of
 * contacts per status.
 */
export function move(
  db: Connection,
  campaignId: CampaignId,
  row: Row,
  to: {
    readonly status: ContactStatus;
    readonly reason: ContactReason | undefined;
    readonly dueUs: number | undefined;
  },
): void {
  const { status, reason, dueUs } = to;
  const from = string(row, 'status') as ContactStatus;
  const waits = status === 'pending' || status === 'retry_pending';
  db.send('UPDATE campaign_contact SET status = ?, reason = ?, due_us = ? WHERE id = ?', [
    status,
    reason ?? null,
    waits ? (dueUs ?? 0) : null,
    integer(row, 'id'),
  ]);
  // Statuses are a fixed enumeration, and each is the name of a column.
  db.send(`UPDATE campaign SET ${from} = ${from} - 1 WHERE id = ?`, [campaignId]);
  db.send(`UPDATE campaign SET ${status} = ${status} + 1 WHERE id = ?`, [campaignId]);
}

function insertNotifications(db: Connection, notifications: readonly StoredNotification[]): void {
  for (const notification of notifications) notificationTable.insertNew(db, notification);
}
