import type { UserStore } from '../../../domain/user/needs.ts';
import type { AuditEntry, Invitation, Session, User } from '../../../domain/user/types.ts';
import type { Connection } from '../connection.ts';
import type { Synchronously } from '../repositories.ts';
import { type Column, int, optional, optionalText, Table, text } from '../table.ts';
import { page, Where } from '../where.ts';

/** A text column that is encrypted with the key file. */
const sealed = (name: string, purpose: string): Column<string> => ({
  name,
  write: (value, vault) => vault.seal(value, purpose),
  read: (value, vault) => vault.open(value as Uint8Array, purpose),
});

const userTable = new Table<User>('console_user', {
  id: text,
  email: text,
  role: text,
  accountId: optionalText,
  passwordHash: text,
  totpSecret: optional(sealed('totp_secret', 'totp')),
  totpStep: int,
  createdUs: int,
});

const invitationTable = new Table<Invitation>('user_invitation', {
  tokenHash: text,
  email: optionalText,
  role: text,
  accountId: optionalText,
  expiresUs: int,
});

const sessionTable = new Table<Session>('user_session', {
  tokenHash: text,
  userId: text,
  createdUs: int,
  seenUs: int,
  userAgent: text,
  address: text,
});

/** Deletes the oldest entries first, approximately in the order of their times, without reading others. */
const PURGE_AUDIT = `DELETE FROM audit WHERE id IN
  (SELECT id FROM (SELECT id, at_us FROM audit ORDER BY id LIMIT ?) AS oldest WHERE at_us < ?)`;

const auditTable = new Table<AuditEntry>('audit', {
  atUs: int,
  who: text,
  accountId: optionalText,
  what: text,
  method: text,
  path: text,
  status: int,
  address: optionalText,
  detail: optionalText,
});

export const userRepository = (db: Connection): Synchronously<UserStore> => ({
  insert: (user) => userTable.insertNew(db, user),
  get: (id) => userTable.get(db, 'id = ?', [id]),
  byEmail: (email) => userTable.get(db, 'email = ?', [email]),
  list: (accountId) => {
    if (accountId === 'all') return userTable.all(db, 'ORDER BY email', []);
    return userTable.all(db, 'WHERE account_id IS NOT DISTINCT FROM ? ORDER BY email', [
      accountId ?? null,
    ]);
  },
  patch: (id, patch) => userTable.patch(db, patch, 'id = @id', { id }),
  useTotpStep: (id, step) =>
    userTable.patch(db, { totpStep: step }, 'id = @id AND totp_step < @step', { id, step }) !==
    undefined,
  changeRole: (id, role) => {
    if (role !== 'owner' && isLastOwner(db, id)) return false;
    userTable.patch(db, { role }, 'id = @id', { id });
    return true;
  },
  remove: (id) => {
    if (isLastOwner(db, id)) return false;
    db.send('DELETE FROM user_session WHERE user_id = ?', [id]);
    db.send('DELETE FROM console_user WHERE id = ?', [id]);
    return true;
  },
  ...invitations(db),
  ...sessions(db),
  addAudit: (entry) => auditTable.insert(db, entry),
  audit: ({ accountId, who, what, fromUs, toUs }, slice) => {
    const where = new Where()
      .contains(['who'], who)
      .contains(['what', 'path', 'detail'], what)
      .and('at_us >= ?', fromUs)
      .and('at_us <= ?', toUs);
    if (accountId !== 'all') where.and('account_id = ?', accountId);
    return page(db, auditTable, where, 'id DESC', slice);
  },
  purge: ({ nowUs, sessionsUs }) => {
    db.send('DELETE FROM user_invitation WHERE expires_us <= ?', [nowUs]);
    db.send('DELETE FROM user_session WHERE seen_us < ?', [sessionsUs]);
  },
  purgeAudit: (beforeUs, limit) => db.run(PURGE_AUDIT, [limit, beforeUs]),
});

/** The caller's transaction excludes other changes of users, so the result holds until it commits. */
function isLastOwner(db: Connection, id: string): boolean {
  const owners = userTable.all(db, "WHERE account_id IS NULL AND role = 'owner' LIMIT 2", []);
  return owners.length === 1 && owners[0]?.id === id;
}

type UserParts = Partial<Synchronously<UserStore>>;

const invitations = (db: Connection) =>
  ({
    putInvitation: (invitation) => invitationTable.insert(db, invitation),
    invitation: (tokenHash) => invitationTable.get(db, 'token_hash = ?', [tokenHash]),
    invitations: (accountId, nowUs) => {
      const where = new Where().and('expires_us > ?', nowUs);
      if (accountId !== 'all') where.and('account_id = ?', accountId);
      const rest = `WHERE ${where.sql} ORDER BY expires_us, token_hash`;
      return invitationTable.all(db, rest, where.values);
    },
    takeInvitation: (tokenHash, nowUs) => {
      const found = invitationTable.get(db, 'token_hash = ? AND expires_us > ?', [
        tokenHash,
        nowUs,
      ]);
      db.send('DELETE FROM user_invitation WHERE token_hash = ?', [tokenHash]);
      return found;
    },
  }) satisfies UserParts;

const sessions = (db: Connection) =>
  ({
    putSession: (session, most) => {
      sessionTable.insert(db, session);
      db.send(
        `DELETE FROM user_session WHERE user_id = @user AND token_hash NOT IN
        (SELECT token_hash FROM user_session WHERE user_id = @user
          ORDER BY created_us DESC, token_hash = @own DESC LIMIT @most)`,
        { user: session.userId, own: session.tokenHash, most },
      );
    },
    session: (tokenHash) => sessionTable.get(db, 'token_hash = ?', [tokenHash]),
    sessionsOf: (userId) =>
      sessionTable.all(db, 'WHERE user_id = ? ORDER BY created_us DESC', [userId]),
    sessionSeen: (tokenHash, seenUs) => {
      db.send('UPDATE user_session SET seen_us = ? WHERE token_hash = ?', [seenUs, tokenHash]);
    },
    removeSession: (tokenHash) => {
      db.send('DELETE FROM user_session WHERE token_hash = ?', [tokenHash]);
    },
    removeSessions: (userId, keep) => {
      db.send('DELETE FROM user_session WHERE user_id = ? AND token_hash IS DISTINCT FROM ?', [
        userId,
        keep ?? null,
      ]);
    },
  }) satisfies UserParts;
