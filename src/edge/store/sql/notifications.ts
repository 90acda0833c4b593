import type { NotificationStore, PendingOf } from '../../../domain/callback/needs.ts';
import type { NotificationDraft, StoredNotification } from '../../../domain/callback/types.ts';
import type { NodeRef } from '../../../domain/cluster/types.ts';
import type { Connection } from '../connection.ts';
import type { Synchronously } from '../repositories.ts';
import { withCredentials } from '../sealed-text.ts';
import { int, json, optional, Table, text } from '../table.ts';
import { Where } from '../where.ts';
import { NOBODYS } from './nodes.ts';

/** A notification inside the JSON of another record. Its subject is called `callUuid` there, as in records of earlier versions. */
export type StoredSubject<T extends { readonly subject: string }> = Omit<T, 'subject'> & {
  readonly callUuid: string;
};

export const writeSubject = <T extends NotificationDraft>({
  subject,
  ...rest
}: T): StoredSubject<T> => ({ ...rest, callUuid: subject });

export const readSubject = <T extends NotificationDraft>({ callUuid, ...rest }: StoredSubject<T>) =>
  ({ ...rest, subject: callUuid }) as unknown as T;

export const notificationTable = new Table<StoredNotification>(
  'notification',
  {
    id: text('id'),
    accountId: text('account_id'),
    subject: text('call_uuid'),
    event: text('event'),
    target: withCredentials(json('target')),
    parameters: withCredentials(json('parameters')),
    json: optional(text('json')),
    createdUs: int('created_us'),
    attempts: int('attempts'),
  },
  'of a node',
);

export const addNotification = (db: Connection, notification: StoredNotification): boolean =>
  notificationTable.insertNewLater(db, `notification ${notification.id}`, notification);

export const notificationRepository = (db: Connection): Synchronously<NotificationStore> => ({
  put: (notification) => {
    notificationTable.insertNew(db, notification);
    // Another node has adopted the callbacks of a node that was declared dead.
    db.send(`DELETE FROM notification WHERE id = ? AND node_id <> '' AND ${NOBODYS}`, [
      notification.id,
    ]);
  },
  /** Oldest first, so that a call's notifications keep their order. */
  listPending: (limit, of) => {
    const { sql, values } = ofLane(of, db.node);
    return notificationTable.all(db, `WHERE ${sql} ORDER BY seq LIMIT ?`, [...values, limit]);
  },
  adopt: () =>
    db.run(`UPDATE notification SET node_id = ?, epoch = ? WHERE ${NOBODYS}`, [
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

function ofLane(of: PendingOf | undefined, node: NodeRef): Where {
  const where = new Where().and('node_id = ?', node.id).and('epoch = ?', node.epoch);
  if (of === undefined) return where;
  where.and('account_id = ?', of.accountId).and('call_uuid = ?', of.subject);
  return where.also(of.subject === undefined ? 'json IS NULL' : 'json IS NOT NULL');
}
