import { plainFilter } from '../../../base/phone-number.ts';
import { err, ok } from '../../../base/result.ts';
import type { ExportStore, RecordingStore } from '../../../domain/recording/needs.ts';
import type { ExportJob, Recording, RecordingFilter } from '../../../domain/recording/types.ts';
import { type Connection, integer, string } from '../connection.ts';
import type { Synchronously } from '../repositories.ts';
import { int, optional, optionalInt, optionalText, stored, Table, text } from '../table.ts';
import { pastUnreadable } from '../unreadable.ts';
import { page, Where } from '../where.ts';
import { LEFT_BY_OWN_NODE, ORPHANED } from './nodes.ts';
import { notificationTable } from './notifications.ts';
import { TEXTS } from './stored-provisioning.ts';
import { chargesColumn, EXPORT_FILTER } from './stored-recording.ts';

const recordingTable = new Table<Recording>(
  'recording',
  {
    recordingId: text,
    accountId: text,
    subAccount: optionalText,
    callUuid: optionalText,
    conferenceName: optionalText,
    conferenceUuid: optionalText,
    fromNumber: text,
    toNumber: text,
    format: text,
    type: text,
    status: text,
    file: text,
    bytes: int,
    durationMs: int,
    billedMs: optionalInt,
    startUs: optionalInt,
    endUs: optionalInt,
    addedUs: int,
    pendingCharges: optional(chargesColumn('dues')),
  },
  'of a node',
);

const UNFINISHED = "recording_id = @id AND status = 'recording'";
const DAY_US = 86_400_000_000;

export const recordingRepository = (db: Connection): Synchronously<RecordingStore> => ({
  insert: (recording) => recordingTable.insert(db, recording),
  note: (recordingId, pendingCharges) => {
    recordingTable.patch(db, { pendingCharges }, UNFINISHED, { id: recordingId });
  },
  finish: (recordingId, end, notification) => {
    const finished = recordingTable.patch(db, { ...end, pendingCharges: undefined }, UNFINISHED, {
      id: recordingId,
    });
    if (finished !== undefined && notification !== undefined) {
      notificationTable.insertNew(db, notification);
    }
    return finished;
  },
  get: (recordingId) => recordingTable.get(db, 'recording_id = ?', [recordingId]),
  page: (filter, slice) =>
    page(db, recordingTable, recordingWhere(filter), 'added_us DESC, recording_id DESC', slice),
  walk: (filter, after, limit) => {
    const first = after && { at: after.addedUs, id: String(after.recordingId) };
    return pastUnreadable(limit, first, (from) => {
      const where = recordingWhere(filter);
      if (from !== undefined) where.also('(added_us, recording_id) > (?, ?)', [from.at, from.id]);
      const rows = db.all(
        `SELECT * FROM recording WHERE ${where.sql} ORDER BY added_us, recording_id LIMIT ?`,
        [...where.values, limit],
      );
      const last = rows.at(-1);
      const next = last && { at: integer(last, 'added_us'), id: string(last, 'recording_id') };
      return { rows: rows.length, items: recordingTable.readAll(db, rows), next };
    });
  },
  remove: (recordingId) => {
    // Deletes the transcription too. A waiting one stays and will report that the file does not exist.
    db.send("DELETE FROM transcription WHERE recording_id = ? AND status <> 'waiting'", [
      recordingId,
    ]);
    return db.run('DELETE FROM recording WHERE recording_id = ?', [recordingId]) === 1;
  },
  unfinished: () =>
    recordingTable.all(
      db,
      `WHERE status = 'recording' AND ${LEFT_BY_OWN_NODE} ORDER BY added_us, recording_id`,
      [db.node.id],
    ),
  ...retention(db),
});

/** Position in the order of retention. */
interface Position {
  readonly account: string;
  readonly at: number;
  readonly id: string;
}

const FIRST: Position = { account: '', at: 0, id: '' };

const positionOf = ({ accountId, addedUs, recordingId }: Recording): Position | undefined => ({
  account: accountId,
  at: addedUs,
  id: recordingId,
});

const retention = (db: Connection) =>
  ({
    expired: ({ nowUs, defaultMs, after }, limit) =>
      pastUnreadable(limit, after && positionOf(after), (from) => {
        const rows = db.all(
          // CROSS JOIN forces the account as the outer loop. In the other order SQLite would read every recording.
          `SELECT r.* FROM account a
            CROSS JOIN recording r WHERE r.account_id = a.auth_id
              AND r.added_us < @now - COALESCE(a.recording_retention_days * ${DAY_US}, @defaultUs)
              AND r.status <> 'recording'
              AND (r.account_id, r.added_us, r.recording_id) > (@account, @at, @id)
            ORDER BY a.auth_id, r.added_us, r.recording_id LIMIT @limit`,
          { now: nowUs, defaultUs: defaultMs * 1000, limit, ...(from ?? FIRST) },
        );
        const last = rows.at(-1);
        const next = last && {
          account: string(last, 'account_id'),
          at: integer(last, 'added_us'),
          id: string(last, 'recording_id'),
        };
        return { rows: rows.length, items: recordingTable.readAll(db, rows), next };
      }),
  }) satisfies Partial<Synchronously<RecordingStore>>;

const recordingWhere = (filter: RecordingFilter): Where =>
  new Where()
    .and('account_id = ?', filter.accountId)
    .and('sub_account = ?', filter.subAccount)
    .also("status = 'ready'")
    .and('added_us >= ?', filter.addedFromUs)
    .and('added_us <= ?', filter.addedToUs)
    .and('call_uuid = ?', filter.callUuid)
    .and('conference_name = ?', filter.conferenceName)
    .and('conference_uuid = ?', filter.conferenceUuid)
    .and('from_number = ?', plainFilter(filter.fromNumber))
    .and('to_number = ?', plainFilter(filter.toNumber))
    .and('format = ?', filter.format)
    .and('recording_id = ?', filter.recordingId);

const exportTable = new Table<ExportJob>(
  'export_job',
  {
    exportId: text,
    accountId: text,
    recipients: stored('recipients', TEXTS),
    filter: stored('filter', EXPORT_FILTER),
    status: text,
    attempts: int,
    file: optionalText,
    recordings: int,
    error: optionalText,
    createdUs: int,
    updatedUs: int,
  },
  'of a node',
);

export const exportRepository = (db: Connection): Synchronously<ExportStore> => ({
  enqueue: (job) => (exportTable.insertNew(db, job) ? ok(undefined) : err('exportRunning')),
  patch: (exportId, patch) => exportTable.patch(db, patch, 'export_id = @id', { id: exportId }),
  get: (exportId) => exportTable.get(db, 'export_id = ?', [exportId]),
  page: (filter, slice) =>
    page(
      db,
      exportTable,
      new Where().and('account_id = ?', filter.accountId).and('status = ?', filter.status),
      'created_us DESC, export_id DESC',
      slice,
    ),
  take: () => {
    const { id, epoch } = db.node;
    // A node works on one job at a time, so a running job of this node is left over from an interruption and may be claimed.
    const free = `status = 'queued'
      OR (status = 'running' AND (${ORPHANED} OR (node_id = @id AND epoch = @epoch)))`;
    const row = db.get(
      `UPDATE export_job SET node_id = @id, epoch = @epoch, status = 'running', updated_us = @now
        WHERE (${free}) AND export_id = (SELECT export_id FROM export_job WHERE ${free}
          ORDER BY created_us, export_id LIMIT 1)
        RETURNING *`,
      { id, epoch, now: db.nowUs },
    );
    if (row === undefined) return undefined;
    try {
      return exportTable.read(db, row);
    } catch (error) {
      // Skips an unreadable job, which would otherwise block all later ones.
      if (!db.noteUnreadable(error)) throw error;
      db.send("UPDATE export_job SET status = 'failed', error = ? WHERE export_id = ?", [
        'its record cannot be read',
        string(row, 'export_id'),
      ]);
      return undefined;
    }
  },
});
