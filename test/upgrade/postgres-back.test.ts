/** PostgreSQL: an upgrade that fails, and the way back to the version before an upgrade. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { micros } from '../../src/base/money.ts';
import { listPostgresMigrations, migratePostgres } from '../../src/edge/store/postgres/migrate.ts';
import { Folders, openNode } from '../edge/store/postgres/shared.ts';
import { anAccount, anEntry } from '../edge/store/records.ts';
import { type Cluster, postgresMissing, postgresProgram, sharedCluster } from '../postgres.ts';

const NEWEST = listPostgresMigrations().at(-1)?.version ?? 0;
const CREDIT = 5_000_000;

/** Runs a program of PostgreSQL on the cluster. Throws if it fails. */
function run(cluster: Cluster, name: string, ...args: readonly string[]): void {
  const server = [`--host=${cluster.folder}`, '--port=5432', '--username=carillon'];
  const { status, stderr } = postgresProgram(name, [...server, ...args]);
  if (status !== 0) throw new Error(`${name}: ${stderr}`);
}

/** Creates the node's account if it does not exist, credits it, and returns its balance. */
async function credited(url: string, dataDir: string, isNew: boolean): Promise<number> {
  const store = await openNode(url, dataDir);
  if (isNew) await store.accounts.create(anAccount(), 'token');
  await store.ledger.post([anEntry({ amount: micros(CREDIT) })], { checked: false });
  const balance = await store.ledger.balance(anAccount().authId, 'USD');
  expect(await store.verify()).toEqual([]);
  await store.close();
  return balance?.balance ?? Number.NaN;
}

describe.skipIf(postgresMissing !== undefined)(`PostgreSQL ${postgresMissing ?? ''}`, () => {
  let cluster: Cluster;
  let dumps: string;
  const folders = new Folders();
  beforeEach(async () => {
    cluster = await sharedCluster();
    dumps = mkdtempSync(join(tmpdir(), 'carillon-dump-'));
    chmodSync(dumps, 0o777); // the programs run as another user
  });
  afterEach(() => {
    rmSync(dumps, { recursive: true, force: true });
    folders.remove();
  });

  it('refuses the database of a newer version, names the commands to go back, and they work', async () => {
    const dataDir = folders.next();
    const url = cluster.database('upgraded');
    cluster.database('upgraded_before');
    run(cluster, 'dropdb', 'upgraded_before');
    expect(await credited(url, dataDir, true)).toBe(CREDIT);
    const dump = join(dumps, 'carillon.dump');
    run(cluster, 'pg_dump', '--format=custom', `--file=${dump}`, 'upgraded');
    // A newer version adds a column and a schema version, and books a credit.
    expect(await credited(url, dataDir, false)).toBe(2 * CREDIT);
    const db = cluster.connect('upgraded');
    db.run('ALTER TABLE cdr ADD COLUMN later TEXT NOT NULL');
    db.run('INSERT INTO schema_version (version) VALUES (?)', [NEWEST + 1]);

    const refusal = await openNode(url, dataDir).then(
      () => '',
      (error: Error) => error.message,
    );
    expect(refusal).toContain(
      `schema version ${NEWEST + 1}, this service supports up to ${NEWEST}`,
    );
    expect(refusal).toContain(
      'createdb --owner=carillon upgraded_before && pg_restore --dbname=upgraded_before carillon.dump',
    );
    const [latest] = db.all('SELECT max(version) AS version FROM schema_version');
    expect(Number(latest?.['version'])).toBe(NEWEST + 1);
    db.close();

    run(cluster, 'createdb', '--owner=carillon', 'upgraded_before');
    run(cluster, 'pg_restore', '--dbname=upgraded_before', dump);
    const before = cluster.url('upgraded_before');
    expect(await credited(before, dataDir, false)).toBe(2 * CREDIT);
  });

  it('keeps the old schema if a migration fails, and migrates once the cause is gone', () => {
    cluster.database('failing');
    const db = cluster.connect('failing');
    migratePostgres(db);
    // The database is at the last migration that SQLite does not share, and one later column exists already.
    db.run('DELETE FROM schema_version WHERE version >= 100');
    db.run('DROP TABLE alarm, webhook_delivery, credential_use');
    const tables = (): readonly string[] =>
      db
        .all("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
        .map((row) => String(row['tablename']));
    const before = tables();
    expect(() => migratePostgres(db)).toThrow('already exists');
    expect(tables()).toEqual(before);
    expect(db.all('SELECT version FROM schema_version WHERE version >= 100')).toEqual([]);
    db.run('ALTER TABLE application DROP COLUMN agent');
    db.run('ALTER TABLE cdr DROP COLUMN consent, DROP COLUMN consent_us');
    migratePostgres(db);
    expect(tables()).toContain('alarm');
    db.close();
  });
});
