import { type Connection, string } from '../connection.ts';
import type { SettingStore, Synchronously } from '../repositories.ts';

export const settingRepository = (db: Connection): Synchronously<SettingStore> => {
  const get = (key: string): string | undefined => {
    const row = db.get('SELECT value FROM setting WHERE key = ?', [key]);
    return row && string(row, 'value');
  };
  return {
    get,
    set: (key, value) => {
      db.send(
        `INSERT INTO setting (key, value) VALUES (?, ?)
        ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
        [key, value],
      );
    },
    getOrSet: (key, value) => {
      db.send('INSERT INTO setting (key, value) VALUES (?, ?) ON CONFLICT DO NOTHING', [
        key,
        value,
      ]);
      return get(key) ?? value;
    },
  };
};
