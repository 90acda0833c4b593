import { describe, expect, it } from 'vitest';
import { Mispredicted } from '../../../../src/edge/store/connection.ts';
import type { PostgresConnection } from '../../../../src/edge/store/postgres/connection.ts';
import { migratePostgres } from '../../../../src/edge/store/postgres/migrate.ts';
import { postgresMissing, sharedCluster } from '../../../postgres.ts';

const RENAME = 'UPDATE setting SET value = ? WHERE key = ?';

describe.skipIf(postgresMissing !== undefined)('a predicted number of rows', () => {
  it('commits if it is right; otherwise nothing of the transaction is written', async () => {
    const cluster = await sharedCluster();
    cluster.database('rows');
    const db: PostgresConnection = cluster.connect('rows');
    migratePostgres(db);
    const written = (name: string) =>
      db.all('SELECT value FROM setting WHERE key = ?', [name])[0]?.['value'];
    db.run('INSERT INTO setting (key, value) VALUES (?, ?)', ['a', 'old']);
    db.begin(true);
    expect(db.changesOne(RENAME, ['new', 'a'])).toBe(true);
    db.commit();
    expect(written('a')).toBe('new');
    db.begin(true);
    db.changesOne(RENAME, ['newer', 'a']);
    expect(db.changesOne(RENAME, ['newer', 'unknown'])).toBe(true);
    expect(() => db.commit()).toThrow(Mispredicted);
    db.rollback();
    expect(written('a')).toBe('new');
    db.close();
  });
});
