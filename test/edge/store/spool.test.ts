import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/base/errors.ts';
import { asCallUuid } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { micros } from '../../../src/base/money.ts';
import { Spool } from '../../../src/edge/store/spool.ts';
import { Spooling } from '../../../src/edge/store/spooling.ts';
import type { Unit } from '../../../src/edge/store/unit.ts';
import type { UnreadableRow } from '../../../src/edge/store/unreadable.ts';
import { Vault } from '../../../src/edge/store/vault.ts';
import { until } from '../../eventually.ts';
import { SimClock } from '../../sim/clock.ts';
import { aCdr, aNotification, anEntry, anOpenCall } from './records.ts';

const KEY = Buffer.alloc(32, 7);
const LIMIT = 1_000_000;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-spool-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const unit = (repository: string, operation: string, ...given: readonly unknown[]): Unit => ({
  repository,
  operation,
  given,
  nowUs: 5,
  node: { id: 'a', epoch: 2 },
});
const removal = (id: string): Unit => unit('notifications', 'remove', id);
const open = (): Spool => new Spool(folder, new Vault(KEY), LIMIT);

const cdr = aCdr();
const line = { atUs: 1, kind: 'sip', text: 'INVITE', facts: {} };
const UNITS: readonly Unit[] = [
  unit('calls', 'update', anOpenCall({ cdr, hangupNotification: aNotification() })),
  unit('calls', 'settle', {
    cdr,
    entries: [anEntry({ type: 'debit', amount: micros(5) })],
    notification: aNotification(),
    isInterrupted: true,
  }),
  unit('calls', 'settle', { cdr, entries: [], notification: undefined }),
  unit('calls', 'discard', { cdr: { callUuid: cdr.callUuid, accountId: cdr.accountId } }),
  unit('callLogs', 'put', cdr.callUuid, [line]),
  unit('notifications', 'put', aNotification()),
  unit('notifications', 'recordAttempt', 'n', 3),
  removal('n'),
];

/** Writes lines as an earlier version did: the unit itself, without a version. */
function writeOld(units: readonly unknown[]): void {
  const vault = new Vault(KEY);
  const lines = units.map((one) => {
    const sealed = vault.seal(JSON.stringify(one), 'spool');
    return `${Buffer.from(sealed).toString('base64')}\n`;
  });
  writeFileSync(join(folder, 'units'), lines.join(''));
}

describe('units on the disk', () => {
  it('are the same after a restart', async () => {
    const before = open();
    for (const one of UNITS) await before.add(one);
    await before.close();
    expect(open().next(100)).toEqual(UNITS);
  });

  it('that are being written when the spool is closed are not lost', async () => {
    const before = open();
    const added = [removal('a'), removal('b')].map((one) => before.add(one));
    await before.close();
    expect(open().next(100)).toEqual([removal('a'), removal('b')]);
    await Promise.all(added);
  });

  it('are intact after an incomplete line, which was never acknowledged', async () => {
    const before = open();
    await before.add(removal('a'));
    await before.close();
    appendFileSync(join(folder, 'units'), 'AAAA');
    const again = open();
    await again.add(removal('b'));
    await again.close();
    expect(open().next(100)).toEqual([removal('a'), removal('b')]);
  });

  it('of an earlier version are read', () => {
    writeOld(UNITS);
    expect(open().next(100)).toEqual(UNITS);
  });

  it.each([
    ['another operation', unit('accounts', 'create', {}), 'accounts.create has no stored form'],
    ['a call without its account', unit('calls', 'discard', { cdr: { callUuid: 'a' } }), 'is not'],
    ['a wrong argument', unit('notifications', 'recordAttempt', 'n', 'x'), 'is not integer'],
    ['no unit', ['x'], 'is not an object'],
  ])('with %s are reported', (_, written, reason) => {
    writeOld([written]);
    expect(open().next(1)).toMatchObject([
      { table: 'spool', reason: expect.stringContaining(reason) },
    ]);
  });
});

describe('the room on the disk', () => {
  /** A spool with room for one unit. */
  async function small(): Promise<Spool> {
    const spool = open();
    await spool.add(removal('a'));
    const { length } = readFileSync(join(folder, 'units'));
    spool.done(1);
    await spool.close();
    return new Spool(folder, new Vault(KEY), length);
  }
  const FULL = { code: 'STORE_FULL' };

  it('is limited, also after a restart, until the units are completed', async () => {
    const spool = await small();
    await spool.add(removal('b'));
    await expect(spool.add(removal('c'))).rejects.toMatchObject(FULL);
    await spool.close();
    const again = new Spool(folder, new Vault(KEY), readFileSync(join(folder, 'units')).length);
    await expect(again.add(removal('c'))).rejects.toMatchObject(FULL);
    again.done(1);
    await again.add(removal('d'));
    expect(again.next(10)).toEqual([removal('d')]);
    await again.close();
  });

  it('is not used by a unit that could not be written', async () => {
    const spool = await small();
    mkdirSync(join(folder, 'units'));
    await expect(spool.add(removal('b'))).rejects.toMatchObject(FULL);
    expect(spool.size).toBe(0);
    rmSync(join(folder, 'units'), { recursive: true });
    await spool.add(removal('c'));
    expect(spool.next(10)).toEqual([removal('c')]);
    await spool.close();
  });
});

/** Fails instead of being asked forever without I/O, which no time limit could end. */
class LimitedSpool extends Spool {
  #asked = 0;

  override next(limit: number): ReturnType<Spool['next']> {
    this.#asked += 1;
    if (this.#asked > 100) throw new Error('the spool is asked without a pause');
    return super.next(limit);
  }
}

describe('Spooling', () => {
  async function drain(spool: Spool, fails: (one: Unit) => Error | undefined = () => undefined) {
    const written: unknown[] = [];
    const reported: UnreadableRow[] = [];
    const spooling = new Spooling({
      spool,
      clock: new SimClock(),
      logger: silentLogger,
      onUnreadable: (rows) => void reported.push(...rows),
      inOrder: async (one) => {
        const error = fails(one);
        if (error !== undefined) throw error;
        written.push(one.given[0]);
      },
    });
    await spooling.drainNow();
    return { written, reported };
  }

  it('reports a damaged line, keeps a copy of it, and writes the others in order', async () => {
    const before = open();
    for (const id of ['a', 'b', 'c']) await before.add(removal(id));
    await before.close();
    const file = join(folder, 'units');
    const lines = readFileSync(file, 'utf8').split('\n');
    lines[1] = 'AAAA';
    writeFileSync(file, lines.join('\n'));
    const spool = open();
    const { written, reported } = await drain(spool);
    expect(written).toEqual(['a', 'c']);
    expect(reported).toMatchObject([{ table: 'spool', original: '{"sealed":"AAAA"}' }]);
    expect(readFileSync(`${file}.damaged`, 'utf8')).toBe('AAAA\n');
    expect(spool.size).toBe(0);
  });

  it('reports a unit that the database refuses forever, without its content', async () => {
    const spool = open();
    await spool.add(removal('a'));
    await spool.add(removal('b'));
    const { written, reported } = await drain(spool, ({ given }) =>
      given[0] === 'a' ? new Error('CHECK constraint failed') : undefined,
    );
    expect(written).toEqual(['b']);
    expect(reported).toMatchObject([{ table: 'spool', reason: 'CHECK constraint failed' }]);
    expect(JSON.stringify(reported)).not.toContain('notifications');
  });

  it('lets the service work while a unit is still being written to the disk', async () => {
    const written: unknown[] = [];
    let second: Promise<unknown> | undefined;
    const unavailable = async (): Promise<never> => {
      throw new ServiceError('STORE_BUSY', 'no connection');
    };
    const spool = new LimitedSpool(folder, new Vault(KEY), LIMIT);
    const spooling = new Spooling({
      spool,
      clock: new SimClock(),
      logger: silentLogger,
      onUnreadable: () => undefined,
      inOrder: async (one) => {
        // The first unit is complete before the second is on the disk.
        second ??= spooling.submit(removal('b'), 'write', unavailable);
        written.push(one.given[0]);
      },
    });
    await spooling.submit(removal('a'), 'write', unavailable);
    await until(() => spool.size === 0, 'an empty spool');
    await second;
    expect(written).toEqual(['a', 'b']);
    await spooling.stop();
  });

  it('says whether the database accepted the settlement of a call, once it is no longer on the disk', async () => {
    const settlementOf = (callUuid: string): Unit => ({
      ...removal(callUuid),
      repository: 'calls',
      operation: 'settle',
      given: [{ cdr: aCdr({ callUuid: asCallUuid(callUuid) }), entries: [] }],
    });
    const [ours, taken, direct] = ['c-ours', 'c-taken', 'c-direct'].map((id) => asCallUuid(id));
    if (!ours || !taken || !direct) throw new Error('no calls');
    const database = Promise.withResolvers<void>();
    const spool = open();
    const spooling = new Spooling({
      spool,
      clock: new SimClock(),
      logger: silentLogger,
      onUnreadable: () => undefined,
      inOrder: async (one) => {
        await database.promise;
        return JSON.stringify(one.given).includes(ours);
      },
    });
    const unavailable = async (): Promise<never> => {
      throw new ServiceError('STORE_BUSY', 'no connection');
    };
    for (const id of [ours, taken])
      expect(await spooling.submit(settlementOf(id), 'write', unavailable)).toBe(true);
    const said = new Map<string, boolean>();
    const asked = [ours, taken, direct].map(async (id) => {
      said.set(id, await spooling.inDatabase(id));
    });
    await asked[2];
    expect([...said]).toEqual([[direct, true]]);
    database.resolve();
    await Promise.all(asked);
    expect([said.get(ours), said.get(taken)]).toEqual([true, false]);
    expect(await spooling.inDatabase(taken)).toBe(true);
    await spooling.stop();
  });

  it('keeps all units while the database is unavailable', async () => {
    const spool = open();
    await spool.add(removal('a'));
    const unavailable = new ServiceError('STORE_BUSY', 'no connection');
    await expect(drain(spool, () => unavailable)).rejects.toBe(unavailable);
    expect(spool.size).toBe(1);
    await spool.close();
  });
});

describe('a damaged spool', () => {
  /** Distance of the damaged bytes within lines; all line ends are damaged. */
  const STEP = 41;

  /** Writes all units, completes three of them, and returns the others as they are read after a restart. */
  async function filled(): Promise<readonly string[]> {
    const spool = open();
    for (const one of UNITS) await spool.add(one);
    spool.done(3);
    await spool.close();
    const pending = open().next(100);
    expect(pending).toHaveLength(UNITS.length - 3);
    return pending.map((one) => JSON.stringify(one));
  }

  it.each(['units', 'done'])('loses no unit without a report: %s', async (file) => {
    const pending = await filled();
    const path = join(folder, file);
    const intact = readFileSync(path);
    const units = readFileSync(join(folder, 'units'));
    for (let at = 0; at < intact.length; at += 1) {
      const isLineEnd = intact[at] === 0x0a;
      if (!isLineEnd && at % STEP !== 0 && file === 'units') continue;
      const damaged = Buffer.from(intact);
      damaged[at] = (damaged[at] ?? 0) ^ (1 << (at % 8));
      writeFileSync(join(folder, 'units'), units);
      writeFileSync(path, damaged);
      const spool = open();
      const found = spool.next(100).map((one) => JSON.stringify(one));
      const isReported = found.some((one) => one.includes('"table":"spool"'));
      const missing = pending.filter((one) => !found.includes(one));
      // The position after the completed units has a checksum: without it, all units are repeated.
      if (missing.length > 0 && (!isReported || file === 'done'))
        expect.fail(`${file} at ${at}: ${missing.length} units are missing`);
      await spool.close();
    }
  });

  it('repeats all units if the position is behind the end of the file', async () => {
    await filled();
    const path = join(folder, 'units');
    const [first, second] = readFileSync(path, 'utf8').split('\n');
    writeFileSync(path, `${first}\n${second}\n`);
    expect(open().next(100)).toEqual(UNITS.slice(0, 2));
  });
});
