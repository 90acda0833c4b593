/** Tests that a data folder is copied to PostgreSQL completely or not at all. */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asCallUuid } from '../../../../src/base/ids.ts';
import { micros } from '../../../../src/base/money.ts';
import { checkStore } from '../../../../src/cli/doctor/services.ts';
import { examineHere } from '../../../../src/cli/examine.ts';
import { run } from '../../../../src/cli/program.ts';
import { CHECKSUM_MARK } from '../../../../src/edge/store/marks.ts';
import type { PostgresConnection } from '../../../../src/edge/store/postgres/connection.ts';
import { inspectPostgres } from '../../../../src/edge/store/postgres/inspect.ts';
import { migratePostgres } from '../../../../src/edge/store/postgres/migrate.ts';
import { type Cluster, postgresMissing, sharedCluster } from '../../../postgres.ts';
import { fill } from '../filled.ts';
import { openAt } from '../open.ts';
import { aCdr, aNotification, anAccount, anEntry, anOpenCall } from '../records.ts';
import { Folders, openNode } from './shared.ts';

describe.skipIf(postgresMissing !== undefined)(`store copy ${postgresMissing ?? ''}`, () => {
  const folders = new Folders();
  let dataDir: string;
  const account = anAccount();
  const sub = anAccount({ authId: 'SA_A' as typeof account.authId, parentAuthId: account.authId });
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await sharedCluster();
    dataDir = folders.next();
    const { store } = await openAt(dataDir);
    await store.accounts.create(account, 'a-token');
    await store.accounts.create(sub, 'sub-token');
    await store.ledger.post([anEntry(), anEntry({ type: 'debit', amount: micros(7) })], {
      checked: false,
    });
    await store.calls.settle({ cdr: aCdr(), entries: [], notification: aNotification() });
    const open = anOpenCall({ cdr: aCdr({ callUuid: asCallUuid('open') }) });
    await store.calls.open(open, undefined);
    await store.close();
  });
  afterAll(() => folders.remove());

  async function carillon(url: string, ...args: readonly string[]) {
    const out: string[] = [];
    let failed = false;
    await run(['--data-dir', dataDir, ...args], {
      print: (line) => out.push(line),
      note: (text) => out.push(text),
      interactive: false,
      env: { CARILLON_STORE_URL: url },
      fail: () => {
        failed = true;
      },
    });
    return { text: out.join('\n'), failed };
  }
  const admin = (name: string): PostgresConnection => cluster.connect(name);

  it('copies all data including secrets, and the copy continues where the folder ended', async () => {
    const url = cluster.database('copied');
    const copied = await carillon(url, 'store', 'copy');
    expect(copied.text).toContain('entry: 2');
    expect(copied.failed).toBe(false);
    const store = await openNode(url, dataDir);
    expect(await store.accounts.get(account.authId)).toEqual(account);
    expect(await store.signingTokens.tokensOf(sub.authId)).toEqual({
      own: 'sub-token',
      parent: 'a-token',
    });
    expect(await store.calls.listOpen()).toHaveLength(1);
    const next = aCdr({ callUuid: asCallUuid('next') });
    await store.calls.settle({ cdr: next, entries: [], notification: undefined });
    expect((await store.cdrs.get(next.callUuid))?.number).toBe(2);
    expect((await store.ledger.balance(account.authId, 'USD'))?.balance).toBe(9_999_993);
    expect(await store.verify()).toEqual([]);
    await store.close();
    const again = await carillon(url, 'store', 'copy');
    expect(again).toMatchObject({ failed: true, text: expect.stringContaining('not empty') });
  });

  it('reports differences and rolls back the copy', async () => {
    const url = cluster.database('differs');
    const db = admin('differs');
    migratePostgres(db);
    db.run(`CREATE FUNCTION twice() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN NEW.amount := NEW.amount * 2; RETURN NEW; END'`);
    db.run('CREATE TRIGGER t BEFORE INSERT ON entry FOR EACH ROW EXECUTE FUNCTION twice()');
    const copied = await carillon(url, 'store', 'copy');
    expect(copied.failed).toBe(true);
    expect(copied.text).toContain('entry.amount is');
    expect(copied.text).toContain('does not add up');
    expect(db.all('SELECT * FROM account')).toEqual([]);
    db.close();
  });

  it('refuses while a service uses the folder', async () => {
    const { store } = await openAt(dataDir);
    const copied = await carillon(cluster.database('busy'), 'store', 'copy');
    expect(copied).toMatchObject({ failed: true, text: expect.stringContaining('runs on this') });
    await store.close();
  });

  it('copies the folder of a killed service and leaves it unchanged', async () => {
    const folder = folders.next();
    const killed = folders.next();
    const { store } = await openAt(folder);
    await store.accounts.create(account, 'a-token');
    cpSync(folder, killed, { recursive: true });
    await store.close();
    const copied = await carillon(
      cluster.database('killed'),
      '--data-dir',
      killed,
      'store',
      'copy',
    );
    expect([copied.failed, copied.text]).toEqual([false, expect.stringContaining('account: 1')]);
    const { store: again } = await openAt(killed);
    expect(await again.accounts.get(account.authId)).toEqual(account);
    await again.close();
  });

  it('refuses a database with a damaged page or log', async () => {
    const folder = folders.next();
    const { store } = await openAt(folder);
    await store.accounts.create({ ...account, name: 'A name to damage' }, 'a-token');
    await store.accounts.create(sub, 'sub-token');
    const killed = folders.next();
    cpSync(folder, killed, { recursive: true });
    await store.close();
    for (const [file, reason] of [
      [join(folder, 'carillon.db'), 'wrong checksum'],
      [join(killed, 'carillon.db-wal'), 'log of the database is damaged'],
    ] as const) {
      const bytes = readFileSync(file);
      const at = bytes.indexOf('A name to damage');
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      writeFileSync(file, bytes);
      const url = cluster.database(`damaged${reason.length}`);
      const copied = await carillon(url, '--data-dir', dirname(file), 'store', 'copy');
      expect(copied).toMatchObject({ failed: true, text: expect.stringContaining(reason) });
    }
  });

  it('refuses SQLite backups on PostgreSQL; the doctor checks that the server answers', async () => {
    const url = cluster.database('other');
    const restored = await carillon(url, 'restore', 'any.db');
    expect(restored).toMatchObject({ failed: true, text: expect.stringContaining('pg_restore') });
    expect(inspectPostgres(url)).toEqual({
      version: expect.stringMatching(/^\d+\.\d+/),
      hasChecksums: false,
    });
    const { settings } = examineHere({ CARILLON_STORE_URL: url }, undefined);
    expect(await checkStore(settings)).toMatchObject({
      verdict: 'warning',
      advice: expect.stringContaining('pg_checksums --enable'),
    });
    expect(() => inspectPostgres('postgres://u:s3cret@127.0.0.1:1/x')).toThrow(
      /^the database is unavailable(?!.*s3cret)/,
    );
    const store = await openNode(url, folders.next());
    await expect(store.backup('/tmp/any')).rejects.toThrow('pg_dump');
    await store.close();
  });

  it('copies every row of a folder with rows in every table', async () => {
    const folder = folders.next();
    await fill(folder);
    const url = cluster.database('everything');
    const copied = await carillon(url, '--data-dir', folder, 'store', 'copy');
    expect([copied.failed, copied.text]).toEqual([false, expect.any(String)]);
    const file = new Database(join(folder, 'carillon.db'), { readonly: true });
    const tables = file
      .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
      .pluck()
      .all() as string[];
    const db = admin('everything');
    const filled = tables.filter((table) => {
      const where = table === 'setting' ? `WHERE key <> '${CHECKSUM_MARK}'` : '';
      const count = file.prepare(`SELECT COUNT(*) FROM "${table}" ${where}`).pluck().get();
      const [there] = db.all(`SELECT COUNT(*) AS n FROM "${table}"`);
      expect([table, Number(there?.['n'])]).toEqual([table, count]);
      return Number(count) > 0;
    });
    expect(filled).toEqual(
      expect.arrayContaining(['cdr', 'recording', 'campaign', 'notification']),
    );
    file.close();
    db.close();
  });
});
