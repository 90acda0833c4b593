import type { NotificationStore, PendingOf } from '../../../domain/callback/needs.ts';
import type { StoredNotification } from '../../../domain/callback/types.ts';
import type { NodeRef } from '../../../domain/cluster/types.ts';
import { type Connection, integer } from '../connection.ts';
import type { Synchronously } from '../repositories.ts';
import { withCredentials } from '../sealed-text.ts';
import { int, optionalText, stored, Table, text } from '../table.ts';
import { pastUnreadable } from '../unreadable.ts';
import { Where } from '../where.ts';
import { ORPHANED } from './nodes.ts';
import { PARAMETERS, TARGET } from './stored-callback.ts';

export const notificationTable = new Table<StoredNotification>(
  'notification',
  {
    id: text,
    accountId: text,
    subject: text('call_uuid'),
    event: text,
    target: withCredentials(stored('target', TARGET)),
    parameters: withCredentials(stored('parameters', PARAMETERS)),
    json: optionalText,
    createdUs: int,
    attempts: int,
  },
  'of a node',
);

export const addNotification = (db: Connection, notification: StoredNotification): boolean =>
  notificationTable.insertNewLater(db, `notification ${notification.id}`, notification);

export const notificationRepository = (db: Connection): Synchronously<NotificationStore> => ({
  put: (notification, earlier) => {
    if (earlier !== undefined && isOver(db, notification, earlier)) return;
    notificationTable.insertNew(db, notification);
    // After a node was declared dead, another node has adopted its callbacks.
    db.send(`DELETE FROM notification WHERE id = ? AND node_id <> '' AND ${ORPHANED}`, [
      notification.id,
    ]);
  },
  /** Lists pending notifications oldest first, so that those of a call keep their order. */
  listPending: (limit, of) => {
    const { sql, values } = ofLane(of, db.node);
    return pastUnreadable(limit, 0, (after) => {
      const rows = db.all(
        `SELECT * FROM notification WHERE ${sql} AND seq > ? ORDER BY seq LIMIT ?`,
        [...values, after, limit],
      );
      const next = integer(rows.at(-1), 'seq');
      return { rows: rows.length, items: notificationTable.readAll(db, rows), next };
    });
  },
  adopt: () =>
    db.run(`UPDATE notification SET node_id = ?, epoch = ? WHERE ${ORPHANED}`, [
      db.node.id,
      db.node.epoch,
    ]),
  recordAttempt: (id, attempts) => {
    db.send('UPDATE notification SET attempts = ? WHERE id = ?', [attempts, id]);
  },
  remove: (id) => {
    db.send('DELETE FROM notification WHERE id = ?', [id]);
  },
  removeUntil: (of, createdUs) => {
    const { sql, values } = ofLane(of, db.node);
    return db.run(`DELETE FROM notification WHERE ${sql} AND created_us <= ?`, [
      ...values,
      createdUs,
    ]);
  },
});

/** Whether another node declared `by` dead and reported the end of the call. */
const isOver = (db: Connection, { subject }: StoredNotification, by: NodeRef): boolean =>
  db.get(
    `SELECT 1 AS found FROM cdr WHERE call_uuid = ?
      AND NOT EXISTS (SELECT 1 FROM node WHERE node_id = ? AND epoch = ?)`,
    [subject, by.id, by.epoch],
  ) !== undefined;

function ofLane(of: PendingOf | undefined, node: NodeRef): Where {
  const where = new Where().and('node_id = ?', node.id).and('epoch = ?', node.epoch);
  if (of === undefined) return where;
  where.and('account_id = ?', of.accountId).and('call_uuid = ?', of.subject);
  return where.also(of.subject === undefined ? 'json IS NULL' : 'json IS NOT NULL');
}
