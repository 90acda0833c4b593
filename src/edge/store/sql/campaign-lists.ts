/** Contact lists: uploads and queries. */
import type { CampaignId } from '../../../base/ids.ts';
import type { CampaignStore, ListedContact } from '../../../domain/campaign/needs.ts';
import type { Attempt, BadRow, Campaign, Contact } from '../../../domain/campaign/types.ts';
import { type Connection, integer, string } from '../connection.ts';
import type { Synchronously } from '../repositories.ts';
import { withCredentials } from '../sealed-text.ts';
import {
  int,
  optional,
  optionalFlag,
  optionalInt,
  optionalText,
  stored,
  Table,
  text,
} from '../table.ts';
import { pastUnreadable } from '../unreadable.ts';
import { page, Where } from '../where.ts';
import { ORPHANED } from './nodes.ts';
import { HEADERS } from './stored-campaign.ts';

/** `due_us` is 0 for a contact that was never called. */
const contactTable = new Table<Contact>('campaign_contact', {
  id: int,
  rowNumber: int,
  to: text('to_number'),
  from: optional(text('from_number')),
  answerUrl: withCredentials(optional(text('answer_url'))),
  hangupUrl: withCredentials(optional(text('hangup_url'))),
  headers: stored('headers', HEADERS),
  timezone: text,
  status: text,
  reason: optionalText,
  attempts: int,
  dueUs: {
    name: 'due_us',
    write: (value) => value ?? null,
    read: (value) => (value === null || value === 0 ? undefined : Number(value)),
  },
  firstDialUs: optionalInt,
  callUuid: optionalText,
});

export const attemptTable = new Table<Attempt>('campaign_attempt', {
  callUuid: text,
  campaignId: text<CampaignId>,
  contactId: int,
  rowNumber: int,
  attemptNumber: int,
  to: text('to_number'),
  from: text('from_number'),
  status: text,
  placedUs: int,
  answeredUs: optionalInt,
  endedUs: optionalInt,
  hangupCause: optionalText,
  hangupCauseCode: optionalInt,
  machine: optionalFlag,
});

export const readContact = (db: Connection, row: Parameters<typeof contactTable.read>[1]) =>
  contactTable.read(db, row);

/** Sub-select of the campaign's current list. Its parameter is the campaign ID. */
const ITS_LIST = '(SELECT list FROM campaign WHERE id = ?)';

export const contactLists = (db: Connection, getCampaign: GetCampaign) => ({
  ...uploads(db, getCampaign),
  ...removals(db),
  ...views(db),
});

type GetCampaign = (id: CampaignId) => Campaign | undefined;

const uploads = (db: Connection, getCampaign: GetCampaign) =>
  ({
    beginList: (id: CampaignId): number =>
      integer(
        db.get(
          `INSERT INTO campaign_list (campaign_id, state, node_id, epoch) VALUES (?, 'open', ?, ?)
            RETURNING number`,
          [id, db.node.id, db.node.epoch],
        ),
        'number',
      ),
    addRows: (listId, contacts, bad) => {
      if (!isOpen(db, listId)) return false;
      let added = 0;
      let refused = 0;
      for (const contact of contacts) {
        if (insertContact(db, listId, contact)) added += 1;
        else refused += insertBad(db, listId, duplicate(db, listId, contact));
      }
      for (const row of bad) refused += insertBad(db, listId, row);
      db.send(
        'UPDATE campaign_list SET contacts = contacts + ?, bad_rows = bad_rows + ? WHERE number = ?',
        [added, refused, listId],
      );
      return true;
    },
    finishList: (id, listId, from) => {
      const campaign = getCampaign(id);
      if (campaign === undefined || !from.includes(campaign.status)) return undefined;
      if (!isOpen(db, listId)) return undefined;
      const list = db.get('SELECT contacts, bad_rows FROM campaign_list WHERE number = ?', [
        listId,
      ]);
      const contacts = integer(list, 'contacts');
      db.send(
        `UPDATE campaign_list SET state = 'gone'
          WHERE number = (SELECT list FROM campaign WHERE id = ?)`,
        [id],
      );
      db.send(`UPDATE campaign_list SET state = 'current' WHERE number = ?`, [listId]);
      db.send(
        // The contacts of the replaced list count no more. Some may have failed, because they were erased.
        `UPDATE campaign SET list = ?, pending = ?, dialling = 0, answered = 0, no_answer = 0, busy = 0,
            failed = 0, retry_pending = 0, expired = 0, status = ?, updated_us = ? WHERE id = ?`,
        [listId, contacts, contacts > 0 ? 'ready' : 'draft', db.nowUs, id],
      );
      const after = getCampaign(id);
      if (after === undefined) return undefined;
      return { campaign: after, contacts, bad: integer(list, 'bad_rows') };
    },
  }) satisfies Partial<Synchronously<CampaignStore>>;

/** Deletion of lists that no campaign uses, in steps. */
const removals = (db: Connection) =>
  ({
    clearList: (listId, limit) => {
      db.send(`UPDATE campaign_list SET state = 'gone' WHERE number = ? AND state = 'open'`, [
        listId,
      ]);
      const isGone = db.get(`SELECT 1 FROM campaign_list WHERE number = ? AND state = 'gone'`, [
        listId,
      ]);
      if (isGone === undefined) return false;
      const removed =
        db.run(
          `DELETE FROM campaign_contact WHERE id IN
            (SELECT id FROM campaign_contact WHERE list = ? ORDER BY row_number LIMIT ?)`,
          [listId, limit],
        ) ||
        db.run(
          `DELETE FROM campaign_bad_row WHERE list = ? AND row_number IN
            (SELECT row_number FROM campaign_bad_row WHERE list = ? LIMIT ?)`,
          [listId, listId, limit],
        );
      if (removed > 0) return true;
      db.send('DELETE FROM campaign_list WHERE number = ?', [listId]);
      return false;
    },
    strayLists: () =>
      db
        .all(
          `SELECT number FROM campaign_list
            WHERE state <> 'current' AND (state <> 'open' OR ${ORPHANED}) ORDER BY number`,
        )
        .map((row) => integer(row, 'number')),
  }) satisfies Partial<Synchronously<CampaignStore>>;

const views = (db: Connection) =>
  ({
    badRows: (id, after, limit) =>
      db
        .all(
          `SELECT row_number, reason FROM campaign_bad_row
            WHERE list = ${ITS_LIST} AND row_number > ? ORDER BY row_number LIMIT ?`,
          [id, after, limit],
        )
        .map((row) => ({
          rowNumber: integer(row, 'row_number'),
          reason: string(row, 'reason'),
        })),
    contacts: (id, { status, search }, slice) =>
      page(
        db,
        contactTable,
        new Where()
          .also(`list = ${ITS_LIST}`, [id])
          .and('status = ?', status)
          .contains(['to_number', 'from_number'], search),
        'row_number',
        slice,
      ),
    results: (id, after, limit) =>
      pastUnreadable(limit, after, (from) => {
        const rows = db.all(
          `SELECT * FROM campaign_contact
            WHERE list = ${ITS_LIST} AND row_number > ? ORDER BY row_number LIMIT ?`,
          [id, from, limit],
        );
        const next = integer(rows.at(-1), 'row_number');
        return { rows: rows.length, items: contactTable.readAll(db, rows), next };
      }).map((contact) => ({
        contact,
        attempt:
          contact.callUuid === undefined
            ? undefined
            : attemptTable.get(db, 'call_uuid = ?', [contact.callUuid]),
      })),
    attempts: (id, slice) =>
      page(db, attemptTable, new Where().and('campaign_id = ?', id), 'seq DESC', slice),
    attempt: (callUuid) => attemptTable.get(db, 'call_uuid = ?', [callUuid]),
  }) satisfies Partial<Synchronously<CampaignStore>>;

const isOpen = (db: Connection, listId: number): boolean =>
  db.get(`SELECT 1 FROM campaign_list WHERE number = ? AND state = 'open'`, [listId]) !== undefined;

/** Returns false if the list already has the number or the row. */
function insertContact(db: Connection, listId: number, contact: ListedContact): boolean {
  const { answerUrl, hangupUrl } = contact;
  const url = withCredentials(text('url'));
  const sealed = (typed: string | undefined) =>
    typed === undefined ? null : url.write(typed, db.vault);
  return db.changesOne(
    `INSERT INTO campaign_contact (list, row_number, to_number, from_number, answer_url, hangup_url,
          headers, timezone, status, attempts, due_us)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'pending', 0, 0) ON CONFLICT DO NOTHING`,
    [
      listId,
      contact.rowNumber,
      contact.to,
      contact.from ?? null,
      sealed(answerUrl),
      sealed(hangupUrl),
      HEADERS.write(contact.headers),
      contact.timezone,
    ],
  );
}

function duplicate(db: Connection, listId: number, { rowNumber, to }: ListedContact): BadRow {
  const first = db.get('SELECT row_number FROM campaign_contact WHERE list = ? AND to_number = ?', [
    listId,
    to,
  ]);
  return { rowNumber, reason: `${to} is already in row ${integer(first, 'row_number')}` };
}

/** Returns how many rows were added. Only the first reason of a row is kept. */
const insertBad = (db: Connection, listId: number, { rowNumber, reason }: BadRow): number =>
  db.changesOne(
    'INSERT INTO campaign_bad_row (list, row_number, reason) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    [listId, rowNumber, reason],
  )
    ? 1
    : 0;
