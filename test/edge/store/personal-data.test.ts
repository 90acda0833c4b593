/** The page on privacy lists every table, so that erasure is decided for each new one. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const MIGRATIONS = join(ROOT, 'src/edge/store/migrations');

function tables(): readonly string[] {
  const db = new DatabaseSync(':memory:');
  for (const file of readdirSync(MIGRATIONS).sort())
    if (file.endsWith('.sql') && !file.endsWith('.postgres.sql'))
      db.exec(readFileSync(join(MIGRATIONS, file), 'utf8'));
  const rows = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
  db.close();
  return rows.map(({ name }) => String(name)).filter((name) => !name.startsWith('sqlite_'));
}

it('each table is in one row of the page on privacy', () => {
  const page = readFileSync(join(ROOT, 'docs/operate/privacy.md'), 'utf8');
  const listed = [...page.slice(page.indexOf('## Tables')).matchAll(/`([a-z_]+)`/g)];
  expect(listed.map(([, name]) => name).sort()).toEqual(tables().toSorted());
});
