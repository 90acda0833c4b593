/** Pages that transactions write to the SQLite write-ahead log, by table or index. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import Database from 'better-sqlite3';
import { PageOwners } from './page-owners.ts';

// https://www.sqlite.org/fileformat2.html#the_write_ahead_log
const HEADER_BYTES = 32;
const PAGE_SIZE_AT = 8;
const SALT_AT = 16;
const SALT_BYTES = 8;
const FRAME_HEADER_BYTES = 24;
const FRAME_SIZE_AT = 4;
const FRAME_SALT_AT = 8;

export interface LogPages {
  readonly commits: number;
  readonly pages: number;
  /** Pages by table or index, largest first. */
  readonly byName: ReadonlyArray<readonly [name: string, pages: number]>;
}

/** Position in a log. */
interface Mark {
  readonly salt: string;
  readonly frames: number;
}

type Frame = (page: number, ends: boolean, content: () => Buffer) => void;

/** Tells each frame of the log as it is now. */
function readLog(file: string, notify: Frame = () => undefined): Mark {
  const handle = openSync(`${file}-wal`, 'r');
  try {
    const { size } = fstatSync(handle);
    const header = Buffer.alloc(HEADER_BYTES);
    if (readSync(handle, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return { salt: '', frames: 0 };
    const salt = header.toString('hex', SALT_AT, SALT_AT + SALT_BYTES);
    const pageSize = header.readUInt32BE(PAGE_SIZE_AT);
    const frame = Buffer.alloc(FRAME_HEADER_BYTES);
    let frames = 0;
    let at = HEADER_BYTES;
    for (; at + FRAME_HEADER_BYTES + pageSize <= size; at += FRAME_HEADER_BYTES + pageSize) {
      readSync(handle, frame, 0, FRAME_HEADER_BYTES, at);
      // The frame belongs to an earlier log in the same file.
      if (frame.toString('hex', FRAME_SALT_AT, FRAME_SALT_AT + SALT_BYTES) !== salt) break;
      frames += 1;
      notify(frame.readUInt32BE(0), frame.readUInt32BE(FRAME_SIZE_AT) > 0, () => {
        const content = Buffer.alloc(pageSize);
        readSync(handle, content, 0, pageSize, at + FRAME_HEADER_BYTES);
        return content;
      });
    }
    return { salt, frames };
  } finally {
    closeSync(handle);
  }
}

/**
 * Counts WAL pages of a database that another process writes. An open read transaction keeps the WAL from being reset.
 * It can restart at most once: with the first transaction, if a checkpoint had copied all of it.
 */
export class LogWatch {
  readonly #file: string;
  readonly #db: Database.Database;
  readonly #owners: PageOwners;
  readonly #begun: Mark;

  constructor(file: string) {
    this.#file = file;
    this.#db = new Database(file);
    this.#db.exec('BEGIN');
    const rows = this.#db.prepare<[], Page>('SELECT pageno, name, pagetype FROM dbstat').all();
    this.#owners = new PageOwners(
      new Map(
        rows.map(({ pageno, name, pagetype }) => [
          pageno,
          pagetype === 'overflow' ? `${name}, overflow` : name,
        ]),
      ),
    );
    this.#begun = readLog(file);
  }

  stop(): LogPages {
    const counts = new Map<string, number>();
    let commits = 0;
    let before = this.#begun.frames;
    if (readLog(this.#file).salt !== this.#begun.salt) before = 0;
    let written = new Map<number, Buffer>();
    readLog(this.#file, (page, ends, content) => {
      before -= 1;
      if (before >= 0) return;
      written.set(page, content());
      if (!ends) return;
      commits += 1;
      this.#owners.wrote(written);
      for (const one of written.keys()) {
        const name = this.#owners.nameOf(one);
        counts.set(name, (counts.get(name) ?? 0) + 1);
      }
      written = new Map();
    });
    this.#db.close();
    const byName = [...counts].sort(([, a], [, b]) => b - a);
    return { commits, pages: byName.reduce((sum, [, pages]) => sum + pages, 0), byName };
  }
}

interface Page {
  readonly pageno: number;
  readonly name: string;
  readonly pagetype: string;
}
