/**
 * Exports each UTC day of call records and ledger entries as `2026-11-21/<account>/cdr.csv.gz` and `ledger.csv.gz`.
 * When the day is complete, writes `2026-11-21/done.json` with the list of files. A failed day is repeated. Days
 * missed during downtime are exported afterwards.
 */
import { createWriteStream } from 'node:fs';
import { copyFile, mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Clock } from '../base/clock.ts';
import { DAY_MS, HOUR_MS } from '../base/duration.ts';
import type { AccountId } from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import type { ObjectStore } from '../base/object-store.ts';
import { RepeatedTask } from '../base/repeated-task.ts';
import type { Accounts } from '../domain/account/account.ts';
import type { CallRecords } from '../domain/cdr/cdr.ts';
import type { Ledger } from '../domain/ledger/ledger.ts';
import { cdrRows } from '../edge/rest/wire/cdr-rows.ts';
import { entryRows } from '../edge/rest/wire/ledger.ts';
import { type RowSet, rowLines } from '../edge/rest/wire/rows.ts';
import type { SettingStore } from '../edge/store/store.ts';

export interface DailyExportParts {
  readonly settings: {
    readonly folder: string;
    readonly toS3: boolean;
    readonly format: 'csv' | 'ndjson';
    readonly hourUtc: number;
  };
  /** Folder in which files are built before they are complete. */
  readonly workFolder: string;
  readonly objects: ObjectStore | undefined;
  readonly accounts: Accounts;
  readonly callRecords: CallRecords;
  readonly ledger: Ledger;
  readonly marks: SettingStore;
  /** Returns whether this node writes the export when several nodes share a store. */
  readonly isMine: () => Promise<boolean>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Setting key of the last exported day, in days since the epoch. */
const MARK = 'dataExport.lastDay';
/** Maximum age of a day that is still exported after a long downtime. */
const LATE_DAYS = 31;
const ACCOUNTS_AT_A_TIME = 200;
const CHECK_EVERY_MS = 10 * 60_000;

export class DailyExport {
  readonly #parts: DailyExportParts;
  readonly #rounds: RepeatedTask;

  constructor(parts: DailyExportParts) {
    this.#parts = parts;
    const { clock, logger } = parts;
    this.#rounds = new RepeatedTask({
      clock,
      round: () => this.round(),
      everyMs: CHECK_EVERY_MS,
      failed: (error) => logger.error({ error }, 'daily export failed'),
    });
  }

  start(): void {
    this.#rounds.start();
  }

  stop(): Promise<void> {
    return this.#rounds.stop();
  }

  /** Exports the days that are due, oldest first. Returns their names. */
  async round(): Promise<readonly string[]> {
    const { marks, clock, settings, isMine } = this.#parts;
    if (!(await isMine())) return [];
    const due = Math.floor((clock.wallMs() - settings.hourUtc * HOUR_MS) / DAY_MS) - 1;
    const mark = await marks.get(MARK);
    const first = mark === undefined ? due : Math.max(Number(mark) + 1, due - LATE_DAYS + 1);
    const written: string[] = [];
    for (let day = first; day <= due && !this.#rounds.stopping.aborted; day += 1) {
      written.push(await this.#writeDay(day));
      await marks.set(MARK, String(day));
    }
    return written;
  }

  async #writeDay(day: number): Promise<string> {
    const { accounts, logger } = this.#parts;
    const name = new Date(day * DAY_MS).toISOString().slice(0, 10);
    const files: { readonly file: string; readonly rows: number }[] = [];
    for (let offset = 0; ; offset += ACCOUNTS_AT_A_TIME) {
      const page = await accounts.list(
        { parentAuthId: undefined },
        { limit: ACCOUNTS_AT_A_TIME, offset },
      );
      for (const { authId } of page.items)
        files.push(...(await this.#writeAccount(name, day, authId)));
      if (offset + ACCOUNTS_AT_A_TIME >= page.total) break;
    }
    // Written last, because readers use it to detect a complete day.
    const { file } = await this.#write(
      `${name}/done.json`,
      Readable.from([`${JSON.stringify({ day: name, files }, undefined, 2)}\n`]),
    );
    logger.info({ day: name, files: files.length, mark: file }, 'day exported');
    return name;
  }

  async #writeAccount(name: string, day: number, accountId: AccountId) {
    const { callRecords, ledger, settings } = this.#parts;
    const [fromUs, toUs] = [day * DAY_MS * 1000, (day + 1) * DAY_MS * 1000 - 1];
    // Selected by end time: a call running at midnight belongs to the day on which it was billed.
    const calls = { accountId, endFromUs: fromUs, endToUs: toUs };
    const entries = { accountId, fromUs, toUs };
    const sets: readonly (readonly [kind: string, rows: number, set: RowSet])[] = [
      ['cdr', await callRecords.count(calls), cdrRows(callRecords, calls)],
      ['ledger', await ledger.count(entries), entryRows(ledger, entries)],
    ];
    const written: { readonly file: string; readonly rows: number }[] = [];
    for (const [kind, rows, set] of sets) {
      if (rows === 0) continue;
      const file = `${name}/${accountId}/${kind}.${settings.format}.gz`;
      await this.#write(file, Readable.from(rowLines(set, settings.format)), createGzip());
      written.push({ file, rows });
    }
    return written;
  }

  /** Writes a file atomically to every configured destination. */
  async #write(file: string, ...through: readonly (Readable | NodeJS.ReadWriteStream)[]) {
    const { settings, objects, workFolder } = this.#parts;
    const draft = join(workFolder, 'daily-export.part');
    await mkdir(workFolder, { recursive: true, mode: 0o700 });
    try {
      await pipeline([...through, createWriteStream(draft, { mode: 0o600 })]);
      if (settings.toS3 && objects !== undefined) await objects.put(`exports/${file}`, draft);
      if (settings.folder !== '') await this.#keep(draft, join(settings.folder, file));
    } finally {
      await rm(draft, { force: true });
    }
    return { file };
  }

  async #keep(draft: string, target: string): Promise<void> {
    await mkdir(dirname(target), { recursive: true });
    // Copied instead of renamed, because the work folder may be on another file system.
    await copyFile(draft, `${target}.part`);
    await rename(`${target}.part`, target);
  }
}
