/** Backup commands without a running service. */
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/program.ts';
import { openAt } from '../edge/store/open.ts';
import { aCdr, anAccount, anEntry } from '../edge/store/records.ts';

const NOBODY = 65_534;
let folder: string;
let dataDir: string;
let backup: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-restore-'));
  dataDir = join(folder, 'data');
  backup = join(folder, 'kept.db');
  const { store } = await openAt(dataDir);
  await store.accounts.create(anAccount(), 'a-token');
  await store.ledger.post([anEntry()], { checked: false });
  const cdr = aCdr({ accountId: anAccount().authId });
  await store.calls.settle({ cdr, entries: [], notification: undefined });
  await store.backup(backup);
  await store.ledger.post([{ ...anEntry(), reference: 'late:1' }], { checked: false });
  await store.close();
});
afterEach(() => rmSync(folder, { recursive: true }));

const carillon = (...args: readonly string[]) =>
  withEnvironment({}, '--data-dir', dataDir, ...args);

async function withEnvironment(env: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const out: string[] = [];
  let notes = '';
  let failed = false;
  await run(args, {
    print: (line) => out.push(line),
    note: (text) => {
      notes += text;
    },
    interactive: false,
    env,
    fail: () => {
      failed = true;
    },
  });
  return { out, notes, failed };
}

const balanceIn = async (): Promise<number | undefined> => {
  const { store } = await openAt(dataDir);
  const balance = await store.ledger.balance(anAccount().authId, 'USD');
  expect(await store.verify()).toEqual([]);
  await store.close();
  return balance?.balance;
};

it('verify and restore refuse a copy whose log is damaged, and leave its evidence for the service', async () => {
  const { store } = await openAt(dataDir);
  await store.ledger.post([{ ...anEntry(), reference: 'late:2' }], { checked: false });
  const killed = join(folder, 'killed');
  cpSync(dataDir, killed, { recursive: true });
  await store.close();
  const file = join(killed, 'carillon.db');
  const log = readFileSync(`${file}-wal`);
  const at = log.indexOf('late:2');
  log[at] = (log[at] ?? 0) ^ 1;
  writeFileSync(`${file}-wal`, log);
  for (const command of [['verify'], ['restore', '--replace']]) {
    const { failed, notes } = await carillon(...command, file);
    expect([failed, notes]).toEqual([true, expect.stringContaining('its log is damaged')]);
  }
  await expect(openAt(killed)).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
});

describe('carillon restore', () => {
  it('restores into the data folder of the settings', async () => {
    const set = join(folder, 'set');
    const environment = { CARILLON_CONFIG_BODY: `dataDir: ${set}` };
    const keys = join(dataDir, 'keys');
    const { out } = await withEnvironment(environment, 'restore', backup, '--keys', keys);
    expect(out[0]).toBe(`restored: ${join(set, 'carillon.db')}`);
  });

  it('restores a backup with its keys into an empty folder, and the service reads it', async () => {
    const keys = join(folder, 'keys');
    cpSync(join(dataDir, 'keys'), keys, { recursive: true });
    rmSync(dataDir, { recursive: true });
    const { out, failed } = await carillon('restore', backup, '--keys', keys);
    expect([failed, out[0]]).toEqual([false, `restored: ${join(dataDir, 'carillon.db')}`]);
    expect(out[1]).toMatch(/^1 account, 1 call, 1 ledger entry, 0 recordings; schema \d+$/);
    expect(statSync(join(dataDir, 'carillon.db')).mode & 0o777).toBe(0o600);
    expect(await balanceIn()).toBe(anEntry().amount);
  });

  it('gives all restored files to the owner of the data folder, also as root', async () => {
    const keys = join(folder, 'keys');
    cpSync(join(dataDir, 'keys'), keys, { recursive: true });
    writeFileSync(join(keys, 'admin.token'), 'a token\n', { mode: 0o644 });
    rmSync(dataDir, { recursive: true });
    mkdirSync(dataDir);
    if (process.getuid?.() === 0) chownSync(dataDir, NOBODY, NOBODY);
    const { uid: owner } = statSync(dataDir);
    expect((await carillon('restore', backup, '--keys', keys)).failed).toBe(false);
    const names = readdirSync(dataDir, { recursive: true, encoding: 'utf8' });
    expect(names).toContain(join('keys', 'admin.token'));
    const states = names.map((name) => [name, statSync(join(dataDir, name))] as const);
    expect(states.filter(([, { uid }]) => uid !== owner)).toEqual([]);
    const open = states.filter(([, { mode }]) => (mode & 0o077) !== 0).map(([name]) => name);
    expect(open).toEqual(['carillon.db.lock']);
  });

  it('replaces a database only on request, and keeps the old one', async () => {
    const refused = await carillon('restore', backup);
    expect([refused.failed, refused.notes]).toEqual([true, expect.stringContaining('--replace')]);
    expect(await balanceIn()).toBe(2 * anEntry().amount);
    expect((await carillon('restore', backup, '--replace')).failed).toBe(false);
    expect(await balanceIn()).toBe(anEntry().amount);
    const [aside] = readdirSync(dataDir).filter((name) => name.startsWith('carillon.db.before-'));
    const db = new Database(join(dataDir, aside ?? ''), { readonly: true });
    expect(db.prepare('SELECT COUNT(*) AS n FROM entry').get()).toEqual({ n: 2 });
    db.close();
  });

  it('is refused while a service uses the folder', async () => {
    const { store } = await openAt(dataDir);
    const { failed, notes } = await carillon('restore', backup, '--replace');
    expect([failed, notes]).toEqual([true, expect.stringContaining('another service runs')]);
    await store.close();
    expect(await balanceIn()).toBe(2 * anEntry().amount);
  });

  it.each([
    [
      'of a newer version',
      (db: Database.Database) => db.pragma('user_version = 900'),
      'newer version',
    ],
    [
      'with an inconsistent ledger',
      (db: Database.Database) => db.exec('UPDATE balance SET balance = balance + 1'),
      'does not add up',
    ],
    [
      'of another program',
      (db: Database.Database) => db.pragma('user_version = 0'),
      'not a database of this service',
    ],
  ])('refuses a backup %s before any change', async (_, spoil, why) => {
    const db = new Database(backup);
    spoil(db);
    db.close();
    const { failed, notes } = await carillon('restore', backup, '--replace');
    expect([failed, notes]).toEqual([true, expect.stringContaining(why)]);
    expect(await balanceIn()).toBe(2 * anEntry().amount);
    expect(readdirSync(dataDir).filter((name) => /restoring|before/.test(name))).toEqual([]);
  });

  it('refuses a backup without its keys, and with keys of another service', async () => {
    rmSync(join(dataDir, 'keys'), { recursive: true });
    expect((await carillon('restore', backup, '--replace')).notes).toContain(
      'store.key does not exist',
    );
    const keys = join(folder, 'other');
    mkdirSync(keys);
    writeFileSync(join(keys, 'store.key'), Buffer.alloc(32, 7));
    const other = await carillon('restore', backup, '--replace', '--keys', keys);
    expect([other.failed, other.notes]).toEqual([true, expect.stringContaining('key file')]);
    expect(existsSync(join(dataDir, 'keys'))).toBe(false);
  });
});

describe('carillon verify FILE', () => {
  it('checks a whole backup and describes its faults', async () => {
    expect((await carillon('verify', backup)).out[0]).toBe('the backup is complete');
    expect((await carillon('verify', join(folder, 'none.db'))).notes).toContain(
      'none.db does not exist',
    );
    const bytes = readFileSync(backup);
    bytes.fill(0xff, 8192, 16_384);
    writeFileSync(backup, bytes);
    expect((await carillon('verify', backup)).failed).toBe(true);
    writeFileSync(backup, 'no database');
    expect((await carillon('verify', backup)).notes).toContain('is not a usable database');
  });

  it('detects a file that differs from its description', async () => {
    writeFileSync(`${backup}.json`, JSON.stringify({ sha256: 'of another' }));
    const { failed, out } = await carillon('verify', backup);
    expect([failed, out[0]]).toEqual([true, expect.stringContaining('checksum differs')]);
  });
});
