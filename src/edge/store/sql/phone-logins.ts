import type { PhoneLoginStore } from '../../../domain/phone-login/needs.ts';
import type { PhoneLogin } from '../../../domain/phone-login/types.ts';
import { type Connection, integer } from '../connection.ts';
import type { Synchronously } from '../repositories.ts';
import { flag, int, Table, text } from '../table.ts';

const table = new Table<PhoneLogin>('phone_login', {
  id: text,
  accountId: text,
  keyDigest: text,
  jti: text,
  endpointId: text,
  username: text,
  incoming: flag,
  outgoing: flag,
  expiresUs: int,
});

export const phoneLoginRepository = (db: Connection): Synchronously<PhoneLoginStore> => {
  const isRevoked = ({ accountId, jti }: PhoneLogin): boolean =>
    db.get('SELECT 1 AS found FROM revoked_token WHERE account_id = ? AND jti = ?', [
      accountId,
      jti,
    ]) !== undefined;
  return {
    get: (id) => {
      const login = table.get(db, 'id = ?', [id]);
      return login && { ...login, revoked: isRevoked(login) };
    },
    add: (login, limit, nowUs) => {
      if (isRevoked(login)) return 'tokenRevoked';
      const live = db.get(
        'SELECT COUNT(*) AS n FROM phone_login WHERE account_id = ? AND expires_us > ?',
        [login.accountId, nowUs],
      );
      if (integer(live, 'n') >= limit) return 'tooMany';
      table.insertNew(db, login);
      return 'added';
    },
    revoke: (accountId, jti, untilUs) => {
      db.send(
        `INSERT INTO revoked_token (account_id, jti, until_us) VALUES (?, ?, ?)
        ON CONFLICT (account_id, jti) DO UPDATE SET until_us = excluded.until_us`,
        [accountId, jti, untilUs],
      );
      return table.all(db, 'WHERE account_id = ? AND jti = ?', [accountId, jti]);
    },
    live: (accountId, nowUs) =>
      table.all(db, 'WHERE account_id = ? AND expires_us > ?', [accountId, nowUs]),
    purge: (beforeUs) => {
      db.send('DELETE FROM phone_login WHERE expires_us < ?', [beforeUs]);
      db.send('DELETE FROM revoked_token WHERE until_us < ?', [beforeUs]);
    },
  };
};
