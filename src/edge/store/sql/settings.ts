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
      db.run('INSERT OR REPLACE INTO setting (key, value) VALUES (?, ?)', [key, value]);
    },
    getOrSet: (key, value) => {
      db.run('INSERT INTO setting (key, value) VALUES (?, ?) ON CONFLICT DO NOTHING', [key, value]);
      return get(key) ?? value;
    },
  };
};
