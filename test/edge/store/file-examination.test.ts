import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logger.ts';
import { micros } from '../../../src/base/money.ts';
import { FileExamination } from '../../../src/edge/store/file-examination.ts';
import { eventually } from '../../eventually.ts';
import { SimClock } from '../../sim/clock.ts';
import { openAt, withFolder } from './open.ts';
import { anAccount, anEntry } from './records.ts';

const PAGE = 4096;
const FIRST_MS = 10_000;
const DAY_MS = 86_400_000;

/** Creates a store with an account, 400 entries and a clean stop. */
async function filled(folder: string): Promise<string> {
  const { store } = await openAt(folder);
  await store.accounts.create(anAccount(), 'token');
  for (let i = 0; i < 400; i += 1)
    await store.ledger.post([anEntry({ amount: micros(1_000_000) })], { checked: false });
  await store.close();
  return join(folder, 'carillon.db');
}

const examined = (store: { check(): Promise<void> }) =>
  eventually('the examination', () =>
    store.check().then(
      () => undefined,
      (error: Error) => error,
    ),
  );

describe('a database file', () => {
  it('is examined soon after the start; a damaged page ends the acceptance of calls', async () => {
    await withFolder(async (folder) => {
      const file = await filled(folder);
      const bytes = readFileSync(file);
      const table = new Database(file, { readonly: true });
      const root = Number(
        table.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'entry'").pluck().get(),
      );
      table.close();
      // Bits of the header of the table's first page flip.
      bytes.fill(0x5a, (root - 1) * PAGE, (root - 1) * PAGE + 64);
      writeFileSync(file, bytes);
      const clock = new SimClock();
      const { store } = await openAt(folder, clock);
      await store.check();
      await clock.advance(FIRST_MS);
      expect(await examined(store)).toMatchObject({ code: 'STORE_CORRUPT' });
      await store.close();
    });
  });

  it('is examined for a balance that is not the sum of its entries', async () => {
    await withFolder(async (folder) => {
      const file = await filled(folder);
      const db = new Database(file);
      db.prepare(
        'UPDATE entry SET amount = amount + 4 WHERE seq = (SELECT MAX(seq) FROM entry)',
      ).run();
      db.close();
      const clock = new SimClock();
      const { store } = await openAt(folder, clock);
      await clock.advance(FIRST_MS);
      const { message } = await examined(store);
      expect(message).toContain(`the ledger of account ${anAccount().authId} does not add up`);
      await store.close();
    });
  });
});

describe('FileExamination', () => {
  it('ends an examination that does not return, so that a stop does not wait for it', async () => {
    await withFolder(async (folder) => {
      // Opening a FIFO waits for a writer.
      const file = join(folder, 'fifo');
      execFileSync('mkfifo', [file]);
      const clock = new SimClock();
      const examination = new FileExamination({ file, clock, logger: silentLogger });
      await clock.advance(FIRST_MS);
      await examination.stop();
      const open = () => openSync(file, constants.O_WRONLY | constants.O_NONBLOCK);
      await eventually('the end of the process', () => {
        try {
          closeSync(open());
          return undefined;
        } catch (error) {
          return (error as NodeJS.ErrnoException).code === 'ENXIO' ? true : undefined;
        }
      });
    });
  });

  it('repeats every day, remembers damage, and ignores other failures', async () => {
    const clock = new SimClock();
    const verdicts = [undefined, 'page 7', undefined];
    let rounds = 0;
    const examination = new FileExamination({
      file: 'x.db',
      clock,
      logger: silentLogger,
      examine: async () => verdicts[rounds++],
    });
    examination.failed({ code: 'STORE_BUSY', message: 'busy' });
    await clock.advance(FIRST_MS);
    expect(rounds).toBe(1);
    expect(() => examination.require()).not.toThrow();
    await clock.advance(DAY_MS);
    expect(() => examination.require()).toThrow('page 7');
    await clock.advance(DAY_MS);
    expect(rounds).toBe(3);
    expect(() => examination.require()).toThrow('page 7');
    await examination.stop();
  });

  it('counts a unit that met a damaged page', () => {
    const needs = { file: 'x.db', clock: new SimClock(), logger: silentLogger };
    const examination = new FileExamination({ ...needs, examine: async () => undefined });
    examination.failed({ code: 'STORE_CORRUPT', message: 'damaged', isDamage: true });
    expect(() => examination.require()).toThrow('restore a backup');
    void examination.stop();
  });
});
