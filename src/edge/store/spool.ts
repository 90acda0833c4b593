import { readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { type FileHandle, open, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from '../../base/errors.ts';
import { makeFolder } from './make-folder.ts';
import type { Unit } from './unit.ts';
import type { Vault } from './vault.ts';

const PURPOSE = 'spool';

interface Waiting {
  readonly line: string;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/**
 * Units of work that wait on the local disk for a database that is away: a line each, encrypted, in the order in which they
 * were asked for. How many of them are done stands in a file beside it, so that a process that dies repeats a few at most;
 * only units that may be repeated are put here.
 */
export class Spool {
  readonly #file: string;
  readonly #doneFile: string;
  readonly #vault: Vault;
  readonly #limitBytes: number;
  /** On the disk, and with those on their way there. */
  #written: number;
  #bytes: number;
  #underWay = 0;
  /** What is not done yet, from `#done` on. */
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
    // A line without its end was never promised to anybody.
    this.#written = text.lastIndexOf('\n') + 1;
    this.#bytes = this.#written;
    if (text.length > this.#written) truncateSync(this.#file, this.#written);
    this.#done = Number(readOr(this.#doneFile, '0')) || 0;
    this.#lines = text.split('\n').slice(0, -1).slice(this.#done);
    if (this.#lines.length === 0) this.#empty();
  }

  /** Units that wait, those included that are being put on the disk. */
  get size(): number {
    return this.#lines.length + this.#waiting.length + this.#underWay;
  }

  /** Resolves once it is on the disk; rejects with STORE_FULL when there is no room. */
  add(unit: Unit): Promise<void> {
    const sealed = this.#vault.seal(JSON.stringify(unit), PURPOSE);
    const line = `${Buffer.from(sealed).toString('base64')}\n`;
    if (this.#bytes + line.length > this.#limitBytes)
      return Promise.reject(new ServiceError('STORE_FULL', 'the spool of the store is full'));
    this.#bytes += line.length;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ line, resolve, reject });
      this.#writing ??= this.#write();
    });
  }

  /** The oldest units, those on the disk alone. */
  next(limit: number): readonly Unit[] {
    return this.#lines.slice(0, limit).map((line) => {
      const text = this.#vault.open(Buffer.from(line, 'base64'), PURPOSE);
      return JSON.parse(text) as Unit;
    });
  }

  /** The oldest `count` are done. */
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

  /** Everything that waits goes to the disk together. */
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
        // Half a line must not stand before the next.
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

function readOr(file: string, absent: string): string {
  return statSync(file, { throwIfNoEntry: false }) === undefined
    ? absent
    : readFileSync(file, 'utf8');
}
