import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { micros } from '../../../src/base/money.ts';
import { bootFileOf, examineLog } from '../../../src/edge/store/log-examination.ts';
import { acceptLoss } from '../../../src/edge/store/offline.ts';
import { eventually } from '../../eventually.ts';
import { openAt, withFolder } from './open.ts';
import { anAccount, anEntry } from './records.ts';

const HEADER = 32;
const FRAME = 24 + 4096;
const CREDITS = 5;

/** Copies the folder of a running store with a commit per credit, as a killed process leaves it. */
async function killed(workspace: string): Promise<string> {
  const [running, folder] = [join(workspace, 'running'), join(workspace, 'killed')];
  const { store } = await openAt(running);
  await store.accounts.create(anAccount(), 'token');
  for (let i = 0; i < CREDITS; i += 1)
    await store.ledger.post([anEntry({ amount: micros(1_000_000) })], { checked: false });
  cpSync(running, folder, { recursive: true });
  await store.close();
  return folder;
}

const databaseIn = (folder: string): string => join(folder, 'carillon.db');

/** Numbers of the commit frames, starting at 0. */
function commitsIn(folder: string): readonly number[] {
  const log = readFileSync(`${databaseIn(folder)}-wal`);
  const frames = Math.floor((log.length - HEADER) / FRAME);
  return Array.from({ length: frames }, (_, frame) => frame).filter(
    (frame) => log.readUInt32BE(HEADER + frame * FRAME + 4) !== 0,
  );
}

function flip(folder: string, at: number): void {
  const path = `${databaseIn(folder)}-wal`;
  const log = readFileSync(path);
  log[at] = (log[at] ?? 0) ^ 1;
  writeFileSync(path, log);
}

/** Damages the commit with this number, counted from the end. */
function damageCommit(folder: string, fromEnd: number): void {
  flip(folder, HEADER + (commitsIn(folder).at(-fromEnd) ?? 0) * FRAME + 1000);
}

const balanceIn = async (folder: string): Promise<number | undefined> => {
  const { store } = await openAt(folder);
  const balance = await store.ledger.balance(anAccount().authId, 'USD');
  await store.close();
  return balance?.balance;
};

describe('the write-ahead log of a killed process', () => {
  it('is intact without damage', async () => {
    await withFolder(async (workspace) => {
      const folder = await killed(workspace);
      expect(examineLog(databaseIn(folder), 'normal')).toBeUndefined();
      expect(await balanceIn(folder)).toBe(CREDITS * 1_000_000);
    });
  });

  it('is refused if a commit is damaged, also the last one', async () => {
    await withFolder(async (workspace) => {
      const folder = await killed(workspace);
      damageCommit(folder, 1);
      expect(examineLog(databaseIn(folder), 'normal')).toEqual({ count: 1, isDamage: true });
      await expect(openAt(folder)).rejects.toMatchObject({
        code: 'STORE_CORRUPT',
        message: expect.stringContaining('restore --accept-loss'),
      });
      await expect(openAt(folder)).rejects.toThrow('the last 1 transaction cannot be read');
    });
  });

  it.each(['header', 'salts', 'whole log'])('is refused if it has damage: %s', async (part) => {
    await withFolder(async (workspace) => {
      const folder = await killed(workspace);
      if (part === 'whole log') rmSync(`${databaseIn(folder)}-wal`);
      else flip(folder, part === 'header' ? 3 : HEADER + 8);
      await expect(openAt(folder)).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
    });
  });

  it('continues without the lost commits once the operator accepts it, and keeps the files', async () => {
    await withFolder(async (workspace) => {
      const folder = await killed(workspace);
      damageCommit(folder, 2);
      const { faults, copy, facts } = acceptLoss(folder, 'now');
      expect([faults, facts.damage, facts.ledgerFaults]).toEqual([2, [], []]);
      expect(existsSync(`${copy}-wal`)).toBe(true);
      expect(await balanceIn(folder)).toBe((CREDITS - 2) * 1_000_000);
      expect(() => acceptLoss(folder, 'again')).toThrow('is intact');
    });
  });
});

describe('the write-ahead log after a restart of the operating system', () => {
  const rebooted = async (workspace: string): Promise<string> => {
    const folder = await killed(workspace);
    writeFileSync(bootFileOf(databaseIn(folder)), 'another start');
    return folder;
  };

  it('may lack the last commits: they are reported, with an alarm, until the report is removed', async () => {
    await withFolder(async (workspace) => {
      const folder = await rebooted(workspace);
      damageCommit(folder, 3);
      expect(examineLog(databaseIn(folder), 'normal')).toEqual({ count: 3, isDamage: false });
      const { store } = await openAt(folder);
      const [report] = await eventually('the report', async () => {
        const { items } = await store.unreadableRows.page({ limit: 10, offset: 0 });
        return items.length > 0 ? items : undefined;
      });
      expect(report).toMatchObject({
        table: 'log',
        reason: 'a power failure removed the last 3 transactions',
      });
      await store.close();
    });
  });

  it('is refused with store.synchronous=full, which syncs each commit', async () => {
    await withFolder(async (workspace) => {
      const folder = await rebooted(workspace);
      damageCommit(folder, 3);
      await expect(openAt(folder, undefined, undefined, 'full')).rejects.toMatchObject({
        code: 'STORE_CORRUPT',
      });
    });
  });
});
