import { type Connection, type Row, string } from '../connection.ts';
import type { SettingStore, Synchronously } from '../repositories.ts';
import { readingRow } from '../unreadable.ts';
import { settingKind } from './stored-setting.ts';

export const settingRepository = (db: Connection): Synchronously<SettingStore> => {
  const get = (key: string): string | undefined => {
    const row = db.get('SELECT value FROM setting WHERE key = ?', [key]);
    return row && string(row, 'value');
  };
  const getOrSet = (key: string, value: string): string => {
    db.send('INSERT INTO setting (key, value) VALUES (?, ?) ON CONFLICT DO NOTHING', [key, value]);
    return get(key) ?? value;
  };
  const seal = (key: string, value: string): string =>
    Buffer.from(db.vault.seal(value, purposeOf(key))).toString('base64');
  const open = (key: string, sealed: string): string =>
    db.vault.open(Buffer.from(sealed, 'base64'), purposeOf(key));
  return {
    // An unreadable value counts as absent: the service then uses its default, and the row is reported.
    get: (key) => {
      const kind = settingKind(key);
      if (kind === undefined) return get(key);
      const rows = db.all('SELECT key, value FROM setting WHERE key = ?', [key]);
      const read = (row: Row): string =>
        readingRow('setting', 'key', row, () => JSON.stringify(kind.read(string(row, 'value'))));
      return db.readable(rows, read)[0];
    },
    set: (key, text) => {
      const kind = settingKind(key);
      const value = kind === undefined ? text : kind.write(JSON.parse(text) as never);
      db.send(
        `INSERT INTO setting (key, value) VALUES (?, ?)
        ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
        [key, value],
      );
    },
    getOrSet,
    keepSecret: (key, value) => open(key, getOrSet(key, seal(key, value))),
    secret: (key) => {
      const sealed = get(key);
      return sealed === undefined ? undefined : open(key, sealed);
    },
  };
};

const purposeOf = (key: string): string => `setting:${key}`;
