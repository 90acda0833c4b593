/** Databases of earlier versions in `fixtures/databases`. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { isThorough } from '../thorough.ts';

const FOLDER = join(import.meta.dirname, '../../fixtures/databases');
const END = '.db.gz';

export const recordedNames: readonly string[] = readdirSync(FOLDER)
  .filter((file) => file.endsWith(END))
  .map((file) => file.slice(0, -END.length))
  .sort();

/** Databases for slow tests: all, or with `npm test` the oldest and the newest that was killed. */
export const chosenNames: readonly string[] = isThorough
  ? recordedNames
  : ['0.1.0-killed', recordedNames.findLast((name) => name.endsWith('killed')) ?? ''];

export interface RecordedAccount {
  readonly schema: number;
  readonly authId: string;
  readonly authToken: string;
}

/** Data that the earlier version stored, read without code of this version. */
export interface RecordedFacts {
  readonly cdrs: number;
  /** Calls that were active when the service was killed. */
  readonly open: readonly {
    readonly callUuid: string;
    readonly isAnswered: boolean;
    readonly perMinute: number;
    readonly heartbeatUs: number;
    readonly streams: readonly { readonly streamId: string; readonly perMinute: number }[];
  }[];
  /** Stream charges by stream ID, millionths. */
  readonly streamCharges: Readonly<Record<string, number>>;
  readonly notifications: number;
  readonly campaigns: number;
  readonly recordings: number;
}

/** A data folder with this database. `remove` deletes it. */
export class RecordedFolder {
  readonly dataDir: string;
  readonly file: string;
  readonly account: RecordedAccount;
  readonly #parent: string;

  constructor(name: string) {
    this.#parent = mkdtempSync(join(tmpdir(), 'carillon-recorded-'));
    this.dataDir = join(this.#parent, 'data');
    this.file = join(this.dataDir, 'carillon.db');
    mkdirSync(join(this.dataDir, 'keys'), { recursive: true, mode: 0o700 });
    writeFileSync(this.file, gunzipSync(readFileSync(join(FOLDER, name + END))), { mode: 0o600 });
    const key = join(this.dataDir, 'keys', 'store.key');
    writeFileSync(key, readFileSync(join(FOLDER, `${name}.key`)), { mode: 0o600 });
    this.account = JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8'));
  }

  facts(): RecordedFacts {
    const db = new Database(this.file, { readonly: true });
    try {
      const count = (table: string): number => {
        const found = db.prepare('SELECT 1 FROM sqlite_master WHERE name = ?').get(table);
        if (found === undefined) return 0;
        return Number(db.prepare(`SELECT COUNT(*) FROM ${table}`).pluck().get());
      };
      const charges = db
        .prepare("SELECT reference, amount FROM entry WHERE reference_type = 'stream_cdr'")
        .all() as { reference: string; amount: number }[];
      const open = db.prepare('SELECT record, heartbeat_us FROM open_call').all() as {
        record: string;
        heartbeat_us: number;
      }[];
      return {
        cdrs: count('cdr'),
        open: open.map((row) => {
          const { cdr, streams } = JSON.parse(row.record);
          const { callUuid, perMinute, answerUs } = cdr;
          const isAnswered = answerUs !== undefined;
          return { callUuid, isAnswered, perMinute, heartbeatUs: row.heartbeat_us, streams };
        }),
        streamCharges: Object.fromEntries(
          charges.map(({ reference, amount }) => [reference.replace('stream_cdr:', ''), amount]),
        ),
        notifications: count('notification'),
        campaigns: count('campaign'),
        recordings: count('recording'),
      };
    } finally {
      db.close();
    }
  }

  remove(): void {
    rmSync(this.#parent, { recursive: true, force: true });
  }
}
