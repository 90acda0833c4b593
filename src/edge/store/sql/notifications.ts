import type { NotificationStore } from '../../../domain/callback/needs.ts';
import type { NotificationDraft, StoredNotification } from '../../../domain/callback/types.ts';
import type { Connection } from '../connection.ts';
import type { Synchronously } from '../repositories.ts';
import { withCredentials } from '../sealed-text.ts';
import { int, json, optional, Table, text } from '../table.ts';

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

export const notificationTable = new Table<StoredNotification>('notification', {
  id: text('id'),
  accountId: text('account_id'),
  subject: text('call_uuid'),
  event: text('event'),
  target: withCredentials(json('target')),
  parameters: withCredentials(json('parameters')),
  json: optional(text('json')),
  createdUs: int('created_us'),
  attempts: int('attempts'),
});

export const notificationRepository = (db: Connection): Synchronously<NotificationStore> => ({
  put: (notification) => {
    notificationTable.insertNew(db, notification);
  },
  /** Oldest first, so that a call's notifications keep their order. */
  listPending: (limit, accountId) =>
    accountId === undefined
      ? notificationTable.all(db, 'ORDER BY seq LIMIT ?', [limit])
      : notificationTable.all(db, 'WHERE account_id = ? ORDER BY seq LIMIT ?', [accountId, limit]),
  recordAttempt: (id, attempts) => {
    db.run('UPDATE notification SET attempts = ? WHERE id = ?', [attempts, id]);
  },
  remove: (id) => {
    db.run('DELETE FROM notification WHERE id = ?', [id]);
  },
});
