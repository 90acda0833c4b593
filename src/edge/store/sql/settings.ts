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
    Buffer.from(db.vault.seal(encoded(key, value), purposeOf(key))).toString('base64');
  /** Returns undefined without a readable value. An unreadable one is reported. */
  const secret = (key: string): string | undefined =>
    readSetting(key, (sealed) =>
      decoded(key, db.vault.open(Buffer.from(sealed, 'base64'), purposeOf(key))),
    );
  function readSetting<T>(key: string, read: (value: string) => T): T | undefined {
    const rows = db.all('SELECT key, value FROM setting WHERE key = ?', [key]);
    const of = (row: Row): T => readingRow('setting', 'key', row, () => read(string(row, 'value')));
    return db.readable(rows, of)[0];
  }
  const put = (key: string, value: string): void =>
    db.send(
      `INSERT INTO setting (key, value) VALUES (?, ?)
        ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
      [key, value],
    );
  return {
    // An unreadable value counts as absent: the service then uses its default, and the row is reported.
    get: (key) =>
      settingKind(key) === undefined ? get(key) : readSetting(key, (value) => decoded(key, value)),
    set: (key, value) => put(key, encoded(key, value)),
    getOrSet,
    // Replaces an unreadable secret: nothing else could ever read it, and the report has a copy.
    keepSecret: (key, value) => {
      getOrSet(key, seal(key, value));
      const stored = secret(key);
      if (stored === undefined) put(key, seal(key, value));
      return stored ?? value;
    },
    secret,
  };
};

/** Adds the version to JSON of a known kind. */
const encoded = (key: string, text: string): string =>
  settingKind(key)?.write(JSON.parse(text) as never) ?? text;

/** Checks JSON of a known kind and removes its version. Throws `UnreadableValue`. */
function decoded(key: string, stored: string): string {
  const kind = settingKind(key);
  return kind === undefined ? stored : JSON.stringify(kind.read(stored));
}

const purposeOf = (key: string): string => `setting:${key}`;
