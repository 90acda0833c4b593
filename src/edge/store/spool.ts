import { createHash } from 'node:crypto';
import {
  appendFileSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from '../../base/errors.ts';
import { makeFolder } from './make-folder.ts';
import { SPOOLED_WRITE, storedWrite, writeUnit } from './sql/stored-write.ts';
import type { Unit } from './unit.ts';
import type { UnreadableRow } from './unreadable.ts';
import type { Vault } from './vault.ts';

const PURPOSE = 'spool';

interface Waiting {
  readonly line: string;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/**
 * Queue of units of work on the local disk, for a database that is unavailable. One encrypted line per unit, in submission
 * order. A second file stores the number of completed units, so that a process that dies repeats only a few. Only units that
 * may be repeated are stored here.
 */
export class Spool {
  readonly #file: string;
  readonly #doneFile: string;
  readonly #vault: Vault;
  readonly #limitBytes: number;
  /** Number of bytes on the disk, including those being written. */
  #written: number;
  #bytes: number;
  #underWay = 0;
  /** Lines that are not completed, starting at `#done`. */
  #lines: string[];
  #done: number;
  #handle: FileHandle | undefined;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;

  constructor(folder: string, vault: Vault, limitBytes: number) {
    makeFolder(folder);
    this.#file = join(folder, 'units');
    this.#doneFile = join(folder, 'done');
    this.#vault = vault;
    this.#limitBytes = limitBytes;
    const text = readOr(this.#file, '');
    // An incomplete last line was never acknowledged and is dropped.
    this.#written = text.lastIndexOf('\n') + 1;
    this.#bytes = this.#written;
    if (text.length > this.#written) truncateSync(this.#file, this.#written);
    this.#done = Number(readOr(this.#doneFile, '0')) || 0;
    this.#lines = text.split('\n').slice(0, -1).slice(this.#done);
    if (this.#lines.length === 0) this.#empty();
  }

  /** Number of waiting units, including those being written to the disk. */
  get size(): number {
    return this.#lines.length + this.#waiting.length + this.#underWay;
  }

  /** Resolves when the unit is on the disk. Rejects with STORE_FULL when there is no room. */
  add(unit: Unit): Promise<void> {
    const sealed = this.#vault.seal(SPOOLED_WRITE.write(storedWrite(unit)), PURPOSE);
    const line = `${Buffer.from(sealed).toString('base64')}\n`;
    if (this.#bytes + line.length > this.#limitBytes)
      return Promise.reject(new ServiceError('STORE_FULL', 'the spool of the store is full'));
    this.#bytes += line.length;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ line, resolve, reject });
      this.#writing ??= this.#write();
    });
  }

  /** Returns the oldest units that are on the disk; for a line that cannot be read, its report. */
  next(limit: number): readonly (Unit | UnreadableRow)[] {
    return this.#lines.slice(0, limit).map((line) => this.#read(line));
  }

  #read(line: string): Unit | UnreadableRow {
    try {
      return writeUnit(SPOOLED_WRITE.read(this.#vault.open(Buffer.from(line, 'base64'), PURPOSE)));
    } catch (error) {
      return reportOf(line, error);
    }
  }

  /**
   * Copies the lines of units that can never be written, by their index among the oldest, to a file next to the spool.
   * Returns their reports.
   */
  setAside(failed: ReadonlyMap<number, unknown>): readonly UnreadableRow[] {
    const lines = [...failed].map(([index, error]) => [this.#lines[index] ?? '', error] as const);
    if (lines.length > 0)
      appendFileSync(`${this.#file}.damaged`, lines.map(([line]) => `${line}\n`).join(''), {
        mode: 0o600,
      });
    return lines.map(([line, error]) => reportOf(line, error));
  }

  /** Marks the oldest `count` units as completed. */
  done(count: number): void {
    this.#lines.splice(0, count);
    this.#done += count;
    if (this.size === 0) {
      this.#empty();
      return;
    }
    const draft = `${this.#doneFile}.new`;
    writeFileSync(draft, String(this.#done), { mode: 0o600 });
    renameSync(draft, this.#doneFile);
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#handle?.close();
    this.#handle = undefined;
  }

  /** Writes all waiting lines in one operation. */
  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      const text = batch.map(({ line }) => line).join('');
      this.#underWay = batch.length;
      try {
        this.#handle ??= await open(this.#file, 'a', 0o600);
        await this.#handle.appendFile(text);
        await this.#handle.datasync();
        this.#written += text.length;
        this.#underWay = 0;
        this.#lines.push(...batch.map(({ line }) => line.trimEnd()));
        for (const { resolve } of batch) resolve();
      } catch (cause) {
        this.#bytes -= text.length;
        this.#underWay = 0;
        // Removes an incomplete line, so that the next line starts at a line boundary.
        await truncate(this.#file, this.#written).catch(() => undefined);
        const reason = cause instanceof Error ? cause.message : String(cause);
        const error = new ServiceError('STORE_FULL', `the spool of the store: ${reason}`, {
          cause,
        });
        for (const { reject } of batch) reject(error);
      }
    }
    this.#writing = undefined;
  }

  #empty(): void {
    void this.#handle?.close();
    this.#handle = undefined;
    rmSync(this.#file, { force: true });
    rmSync(this.#doneFile, { force: true });
    this.#bytes = 0;
    this.#written = 0;
    this.#done = 0;
    this.#lines = [];
  }
}

/** The original stays encrypted, because it contains URLs with credentials. */
const reportOf = (line: string, error: unknown): UnreadableRow => ({
  table: 'spool',
  key: createHash('sha256').update(line).digest('hex').slice(0, 32),
  reason: error instanceof Error ? error.message : String(error),
  original: JSON.stringify({ sealed: line }),
});

function readOr(file: string, absent: string): string {
  return statSync(file, { throwIfNoEntry: false }) === undefined
    ? absent
    : readFileSync(file, 'utf8');
}
