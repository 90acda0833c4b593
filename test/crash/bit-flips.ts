/** Flips bits in the files of a killed billing process, and checks that the next start reports the damage or is not affected. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { Random } from '../../src/base/ids.ts';
import { examineBackup } from '../../src/edge/store/offline.ts';
import { billUntilKilled, openOnce, prepare } from './crash.ts';

/** Files of the data folder, and the part of each that a round damages. */
export const TARGETS = [
  { name: 'carillon.db', from: 0 },
  { name: 'carillon.db', from: 0, bytes: 100 },
  { name: 'carillon.db-wal', from: 0 },
  { name: 'carillon.db-wal', from: 0, bytes: 32 },
  { name: 'carillon.db-shm', from: 0, bytes: 136 },
  { name: 'carillon.db.boot', from: 0 },
  { name: join('keys', 'store.key'), from: 0 },
] as const;
type Target = (typeof TARGETS)[number];

/** Values that each start writes. */
const OF_START = "('store.open', 'store.probe', 'store.checksums')";
const SECTOR = 512;
/** Lines that the billing process prints before it is killed. */
const LINES = 200;

type Flipped =
  /** The store does not open. */
  | { readonly outcome: 'refused'; readonly reason: string }
  /** The store opens, and the examination of the running service finds the damage. */
  | { readonly outcome: 'found'; readonly reason: string }
  /** All rows are those of the undamaged files. */
  | { readonly outcome: 'unaffected' }
  /** Rows changed without a report. */
  | { readonly outcome: 'silent'; readonly reason: string };

/** All rows of all tables as text, by table. */
type Content = ReadonlyMap<string, string>;

/** Creates a data folder of a killed billing process, and the same folder after a clean stop. */
export async function prepareFlips(killed: string, stopped: string): Promise<void> {
  mkdirSync(killed);
  await prepare(killed);
  await billUntilKilled(killed, 1, LINES);
  cpSync(killed, stopped, { recursive: true });
  const { store } = await openOnce(stopped);
  await store.close();
}

/** Opens the undamaged folder and returns its content after the start. */
export async function contentOf(folder: string, workspace: string): Promise<Content> {
  const place = copied(folder, workspace);
  const { store } = await openOnce(place);
  try {
    return readAll(join(place, 'carillon.db'));
  } finally {
    await store.close();
  }
}

function copied(folder: string, workspace: string): string {
  const place = join(workspace, 'damaged');
  rmSync(place, { recursive: true, force: true });
  cpSync(folder, place, { recursive: true });
  return place;
}

function readAll(file: string): Content {
  const db = new Database(file, { readonly: true });
  try {
    const tables = db
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
      .pluck()
      .all() as string[];
    return new Map(
      tables.map((table) => {
        const where = table === 'setting' ? `WHERE key NOT IN ${OF_START}` : '';
        return [table, JSON.stringify(db.prepare(`SELECT * FROM "${table}" ${where}`).all())];
      }),
    );
  } finally {
    db.close();
  }
}

/** Flips a bit, or erases a sector in one of five rounds. Returns a description, or undefined if the file has no content. */
function damage(folder: string, target: Target, random: Random): string | undefined {
  const path = join(folder, target.name);
  const size = existsSync(path) ? statSync(path).size : 0;
  const most = 'bytes' in target ? Math.min(size, target.bytes) : size;
  if (most === 0) return undefined;
  const bytes = readFileSync(path);
  const at = target.from + random.integer(most);
  const isSector = random.integer(5) === 0;
  if (isSector) bytes.fill(0, at - (at % SECTOR), Math.min(at - (at % SECTOR) + SECTOR, size));
  else bytes[at] = (bytes[at] ?? 0) ^ (1 << random.integer(8));
  writeFileSync(path, bytes);
  return `${target.name} at ${at}${isSector ? ' (sector)' : ''}`;
}

/** Damages a copy of the folder and starts on it. */
export async function flip(
  folder: string,
  options: {
    readonly workspace: string;
    readonly target: Target;
    readonly random: Random;
    readonly intact: Content;
  },
): Promise<Flipped & { readonly where: string }> {
  const place = copied(folder, options.workspace);
  const where = damage(place, options.target, options.random) ?? 'nothing';
  return { where, ...(await startOn(place, options.intact)) };
}

async function startOn(folder: string, intact: Content): Promise<Flipped> {
  const opened = await openOnce(folder).catch((error: unknown) => String(error));
  if (typeof opened === 'string') return { outcome: 'refused', reason: opened };
  const file = join(folder, 'carillon.db');
  try {
    const reason = examined(file);
    if (reason !== undefined) return { outcome: 'found', reason };
    const now = readAll(file);
    const changed = [...intact].filter(([table, rows]) => now.get(table) !== rows);
    return changed.length === 0
      ? { outcome: 'unaffected' }
      : { outcome: 'silent', reason: `changed: ${changed.map(([table]) => table).join(', ')}` };
  } finally {
    await opened.store.close().catch(() => undefined);
  }
}

/** Examines the file as the running service does. */
function examined(file: string): string | undefined {
  try {
    const { damage: found, ledgerFaults } = examineBackup(file);
    return found[0] ?? (ledgerFaults.length > 0 ? 'a balance does not add up' : undefined);
  } catch (error) {
    return String(error);
  }
}
