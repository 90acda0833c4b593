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
 * order. A second file stores the position after the completed units with a checksum, so that a process that dies repeats only
 * a few. If it is damaged, all units are repeated. Only units that may be repeated are stored here.
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
  /** Lines that are not completed, starting at byte `#done`. */
  #lines: string[];
  #done: number;
  #handle: FileHandle | undefined;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;
  /** The current write of `#writing`. */
  #batch: Promise<void> | undefined;

  constructor(folder: string, vault: Vault, limitBytes: number) {
    makeFolder(folder);
    this.#file = join(folder, 'units');
    this.#doneFile = join(folder, 'done');
    this.#vault = vault;
    this.#limitBytes = limitBytes;
    // One character per byte: damaged bytes must not change positions.
    const text = this.#wholeLines(readOr(this.#file, ''));
    this.#written = text.length;
    this.#bytes = this.#written;
    this.#done = readDone(this.#doneFile, text.length);
    this.#lines = text.slice(this.#done).split('\n').slice(0, -1);
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

  /**
   * Removes an incomplete last line, which was never acknowledged, and returns the other lines. A whole unit without a line end
   * was acknowledged: only the line end is damaged.
   */
  #wholeLines(text: string): string {
    const whole = text.lastIndexOf('\n') + 1;
    if (whole === text.length) return text;
    const last = text.slice(whole);
    const lines = text.slice(0, whole);
    truncateSync(this.#file, whole);
    const unit = [last.slice(0, -1), last].find((line) => !('reason' in this.#read(line)));
    if (unit === undefined) return lines;
    appendFileSync(this.#file, `${unit}\n`);
    return `${lines}${unit}\n`;
  }

  /** Resolves when the units that are now being written are on the disk or were rejected. */
  async batchWritten(): Promise<void> {
    await this.#batch;
  }

  /** Returns the oldest units that are on the disk; for a line that cannot be read, its report. */
  next(limit: number): readonly (Unit | UnreadableRow)[] {
    return this.#lines.slice(0, limit).map((line) => this.#read(line));
  }

  #read(line: string): Unit | UnreadableRow {
    try {
      return writeUnit(SPOOLED_WRITE.read(this.#vault.open(bytesOf(line), PURPOSE)));
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
    for (const line of this.#lines.splice(0, count)) this.#done += line.length + 1;
    if (this.size === 0) {
      this.#empty();
      return;
    }
    const draft = `${this.#doneFile}.new`;
    writeFileSync(draft, withChecksum(String(this.#done)), { mode: 0o600 });
    renameSync(draft, this.#doneFile);
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#handle?.close();
    this.#handle = undefined;
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      this.#batch = this.#writeBatch(this.#waiting.splice(0));
      await this.#batch;
    }
    this.#writing = undefined;
  }

  /** Writes the lines in one operation. Never rejects. */
  async #writeBatch(batch: readonly Waiting[]): Promise<void> {
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

/** Decodes a line. Node ignores everything after the padding, so a line whose end is damaged would hide the next one. */
function bytesOf(line: string): Buffer {
  const bytes = Buffer.from(line, 'base64');
  if (bytes.toString('base64') !== line) throw new Error('the line is damaged');
  return bytes;
}

const withChecksum = (text: string): string =>
  `${text} ${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;

/** Returns the position after the completed units; 0 if the file is missing or damaged, or was written by an earlier version. */
function readDone(file: string, most: number): number {
  const text = readOr(file, '');
  const [position = ''] = text.split(' ');
  return text === withChecksum(position) && Number(position) <= most ? Number(position) : 0;
}

function readOr(file: string, absent: string): string {
  return statSync(file, { throwIfNoEntry: false }) === undefined
    ? absent
    : readFileSync(file, 'latin1');
}
