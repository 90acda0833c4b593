import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, vi } from 'vitest';
import { asCallUuid } from '../../../src/base/ids.ts';
import { micros } from '../../../src/base/money.ts';
import type { OpenCall } from '../../../src/domain/cdr/needs.ts';
import { Engine } from '../../../src/edge/store/engine.ts';
import { listMigrations } from '../../../src/edge/store/migrate.ts';
import { SqliteConnection } from '../../../src/edge/store/sqlite.ts';
import type { Unit } from '../../../src/edge/store/unit.ts';
import { ephemeralKey } from '../../../src/edge/store/vault.ts';
import { openAt, openInMemory, seededRandom, withFolder } from './open.ts';
import { aCdr, anAccount, anEntry, anOpenCall, START_US } from './records.ts';

const ACCOUNT = anAccount().authId;

const unit = (repository: string, operation: string, ...given: unknown[]): Unit => ({
  repository,
  operation,
  given,
  nowUs: START_US,
});
const createAccount = unit('accounts', 'create', anAccount(), 'token');
const balance = unit('ledger', 'balance', ACCOUNT, 'USD');
const endpoint = {
  accountId: ACCOUNT,
  subAccount: undefined,
  username: 'ada',
  requestedUsername: 'ada',
  alias: 'Ada',
  appId: undefined,
  callerId: undefined,
  allowVoice: true,
  allowMessage: true,
  allowVideo: true,
  allowSameDomain: true,
  allowOtherDomains: true,
  allowPhones: true,
  allowApps: true,
  createdUs: START_US,
  updatedUs: START_US,
};
const other = aCdr({ callUuid: asCallUuid('another') });
const credit = unit('ledger', 'post', [anEntry()], { checked: false });

const engineAt = (file: string, key = ephemeralKey()): Engine =>
  new Engine({
    file,
    role: 'writer',
    synchronous: 'normal',
    checkpoints: 'here',
    key,
    random: seededRandom(),
  });

describe('group commit', () => {
  it('answers each unit of a batch separately, in order', () => {
    const engine = engineAt(':memory:');
    const outcomes = engine.run([createAccount, credit, balance, credit, balance]);
    expect(outcomes.map((outcome) => outcome.ok)).toEqual([true, true, true, true, true]);
    expect(outcomes[2]).toMatchObject({ value: { balance: 10_000_000 } });
    expect(outcomes[4]).toMatchObject({ value: { balance: 20_000_000 } });
    engine.close();
  });

  it('rolls back only the writes of a unit that throws', () => {
    const engine = engineAt(':memory:');
    engine.run([createAccount]);
    const broken = unit('ledger', 'post', [anEntry(), { ...anEntry(), amount: -1 }], {
      checked: false,
    });
    const [first, second, third] = engine.run([credit, broken, balance]);
    expect(first?.ok).toBe(true);
    expect(second).toMatchObject({ ok: false });
    expect(third).toMatchObject({ value: { balance: 10_000_000 } });
    engine.close();
  });

  it('fails only the unit with an unknown operation', () => {
    const engine = engineAt(':memory:');
    const outcomes = engine.run([unit('ledger', 'steal'), createAccount]);
    expect(outcomes.map((outcome) => outcome.ok)).toEqual([false, true]);
    engine.close();
  });
});

describe('cached answers', () => {
  it('stay cached during call writes and are cleared by any other write', () => {
    const engine = engineAt(':memory:');
    const tokens = unit('signingTokens', 'tokensOf', ACCOUNT);
    engine.run([createAccount]);
    const first = engine.read(tokens);
    expect(first).toMatchObject({ value: { own: 'token' } });
    engine.run([credit]);
    expect(engine.read(tokens)).toBe(first);
    engine.run([unit('accounts', 'addToken', ACCOUNT, 'newer', START_US)]);
    expect(engine.read(tokens)).toMatchObject({ value: { own: 'newer' } });
    engine.close();
  });

  it.each(['trunks', 'originationUris'])('include those of %s', (repository) => {
    const engine = engineAt(':memory:');
    const requested = unit(repository, 'get', ACCOUNT, 'of-a-call-to-a-trunk');
    engine.run([createAccount]);
    const first = engine.read(requested);
    engine.run([credit]);
    expect(engine.read(requested)).toBe(first);
    engine.run([unit(repository, 'remove', ACCOUNT, 'another')]);
    expect(engine.read(requested)).not.toBe(first);
    engine.close();
  });
});

describe('timelines stored line by line', () => {
  it('become one row per call, in order', async () => {
    await withFolder(async (folder) => {
      const file = join(folder, 'old.db');
      const raw = new Database(file);
      const before = listMigrations().filter(({ file: name }) => name < '011');
      for (const { file: name } of before) {
        raw.exec(
          readFileSync(
            new URL(`../../../src/edge/store/migrations/${name}`, import.meta.url),
            'utf8',
          ),
        );
      }
      raw.pragma(`user_version = ${before.length}`);
      raw.exec(`INSERT INTO cdr (call_uuid, account_id, direction, context, from_number, to_number, caller_name,
          start_us, end_us, billed_seconds, per_minute, cost, streaming_cost, currency, hangup_cause,
          hangup_cause_code, hangup_cause_name, hangup_source, hangup_disposition, streams, created_us)
        VALUES ('c', '${ACCOUNT}', 'inbound', '', '', '', '', 1, 2, 0, 0, 0, 0, 'USD', '', 0, '', '', '', '[]', 3);
        INSERT INTO call_log (call_uuid, account_id, at_us, kind, text, detail) VALUES
          ('c', '${ACCOUNT}', 2, 'sip', 'BYE', '{"code":200}'), ('c', '${ACCOUNT}', 1, 'sip', 'INVITE', '{}')`);
      raw.close();
      const engine = engineAt(file);
      expect(engine.read(unit('callLogs', 'read', 'c'))).toEqual({
        ok: true,
        value: {
          accountId: ACCOUNT,
          lines: [
            { atUs: 1, kind: 'sip', text: 'INVITE', facts: {} },
            { atUs: 2, kind: 'sip', text: 'BYE', facts: { code: 200 } },
          ],
        },
      });
      engine.close();
    });
  });
});

describe('a full disk', () => {
  it('refuses the whole batch with STORE_FULL, keeps committed data, and recovers when there is space', async () => {
    await withFolder((folder) => {
      const file = join(folder, 'full.db');
      const engine = engineAt(file);
      engine.run([createAccount, credit]);
      const limit = new Limits(engine);
      limit.freeze();
      const notes = Array.from({ length: 50 }, (_, index) =>
        unit('settings', 'set', `note-${index}`, 'x'.repeat(4000)),
      );
      const refused = engine.run([credit, ...notes]);
      expect(new Set(refused.map((outcome) => outcome.ok))).toEqual(new Set([false]));
      expect(refused[0]).toMatchObject({ failure: { code: 'STORE_FULL' } });
      limit.lift();
      const [again, after] = engine.run([credit, balance]);
      expect(again?.ok).toBe(true);
      expect(after).toMatchObject({ value: { balance: 20_000_000 } });
      engine.close();
      return Promise.resolve();
    });
  });
});

describe('units answered before their commit', () => {
  const call = anOpenCall();
  const open = unit('calls', 'openAhead', call, undefined);
  const update = unit('calls', 'update', { ...call, heartbeatUs: START_US + 1 });
  const heartbeats = (engine: Engine): unknown => {
    const outcome = engine.read(unit('calls', 'listOpen'));
    return outcome.ok && (outcome.value as OpenCall[]).map(({ heartbeatUs }) => heartbeatUs);
  };
  /** Reads the setting through another connection. */
  const stored = (file: string): unknown => {
    const db = new Database(file, { readonly: true });
    const count = db.prepare('SELECT count(*) FROM open_call').pluck().get();
    db.close();
    return count;
  };
  const withEngine = (work: (engine: Engine, file: string) => void): Promise<void> =>
    withFolder((folder) => {
      const file = join(folder, 'ahead.db');
      const engine = engineAt(file);
      engine.run([createAccount, credit]);
      work(engine, file);
      engine.close();
      return Promise.resolve();
    });

  it('are in the transaction of the next units', () =>
    withEngine((engine, file) => {
      expect(engine.runAhead(open)).toMatchObject({ ok: true, value: { ok: true } });
      expect([engine.uncommitted, stored(file)]).toEqual([1, 0]);
      expect(engine.run([update])).toMatchObject([{ ok: true }]);
      expect([engine.uncommitted, stored(file)]).toEqual([0, 1]);
      expect(heartbeats(engine)).toEqual([START_US + 1]);
      engine.runAhead(unit('calls', 'openAhead', anOpenCall({ cdr: other }), undefined));
      engine.run([]);
      expect(stored(file)).toBe(2);
    }));

  it('survive the failure of another unit in the transaction', () =>
    withEngine((engine, file) => {
      engine.runAhead(open);
      const outcomes = engine.run([unit('ledger', 'steal'), update]);
      expect(outcomes.map(({ ok }) => ok)).toEqual([false, true]);
      expect([engine.uncommitted, stored(file)]).toEqual([0, 1]);
      expect(heartbeats(engine)).toEqual([START_US + 1]);
    }));

  it('are retried first when a commit fails, and block all others until it succeeds', () =>
    withEngine((engine, file) => {
      const limit = new Limits(engine);
      engine.runAhead(open);
      limit.freeze();
      const notes = Array.from({ length: 50 }, (_, index) =>
        unit('settings', 'set', `note-${index}`, 'x'.repeat(4000)),
      );
      expect(new Set(engine.run(notes).map(({ ok }) => ok))).toEqual(new Set([false]));
      expect([engine.uncommitted, stored(file)]).toEqual([1, 0]);
      expect(
        engine.runAhead(unit('calls', 'openAhead', anOpenCall({ cdr: other }), undefined)),
      ).toBe(undefined);
      engine.renew();
      limit.lift();
      expect(engine.run([update])).toMatchObject([{ ok: true }]);
      expect([engine.uncommitted, heartbeats(engine)]).toEqual([0, [START_US + 1]]);
    }));

  it('fail alone, and are then run with others', () =>
    withEngine((engine, file) => {
      engine.runAhead(open);
      expect(engine.runAhead(unit('calls', 'steal'))).toBe(undefined);
      engine.run([update]);
      expect([engine.uncommitted, stored(file)]).toEqual([0, 1]);
    }));
});

/** Simulates a full disk: SQLite cannot grow the file. */
class Limits {
  readonly #pragma: (text: string) => unknown;

  constructor(engine: Engine) {
    this.#pragma = (text) => engine.pragma(text);
  }

  freeze(): void {
    this.#pragma('max_page_count = 1');
  }

  lift(): void {
    this.#pragma('max_page_count = 1000000');
  }
}

describe('opening a data folder', () => {
  it('restricts database and key to the owner', async () => {
    await withFolder(async (folder) => {
      const { store } = await openAt(folder);
      for (const name of ['carillon.db', 'keys/store.key']) {
        expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
      }
      await store.close();
    });
  });

  it('finds all data after a stop', async () => {
    await withFolder(async (folder) => {
      const first = await openAt(folder);
      await first.store.accounts.create(anAccount(), 'token');
      await first.store.close();
      const second = await openAt(folder);
      expect(await second.store.accounts.credentials(ACCOUNT)).toMatchObject({
        tokens: [{ token: 'token', expiresUs: undefined }],
      });
      await second.store.close();
    });
  });

  it('stores no readable token, HA1 or password in the file', async () => {
    await withFolder(async (folder) => {
      const { store } = await openAt(folder);
      await store.accounts.create(anAccount(), 'a-token-in-clear');
      await store.close();
      const bytes = readFileSync(join(folder, 'carillon.db'));
      expect(bytes.includes('Ada')).toBe(true);
      expect(bytes.includes('a-token-in-clear')).toBe(false);
    });
  });

  it('numbers each migration once', () => {
    const versions = listMigrations().map(({ version }) => version);
    expect(new Set(versions).size).toBe(versions.length);
  });

  it('refuses a database written by a newer version (STORE_VERSION), and names the backup to go back to', async () => {
    await withFolder(async (folder) => {
      const newest = listMigrations().at(-1)?.version ?? 0;
      const { store } = await openAt(folder);
      await store.close();
      const backups = join(folder, 'backups');
      mkdirSync(backups);
      for (const [name, version] of [
        ['before.db', newest],
        ['after.db', newest + 1],
      ] as const) {
        writeFileSync(join(backups, name), '');
        writeFileSync(join(backups, `${name}.json`), JSON.stringify({ schema_version: version }));
      }
      const raw = new Database(join(folder, 'carillon.db'));
      raw.pragma(`user_version = ${newest + 1}`);
      raw.close();
      await expect(openAt(folder)).rejects.toMatchObject({
        code: 'STORE_VERSION',
        message: expect.stringContaining(
          `carillon --data-dir ${folder} restore --replace ${join(backups, 'before.db')}`,
        ),
      });
    });
  });

  it('refuses a key file that does not belong to the database (STORE_CORRUPT)', async () => {
    await withFolder(async (folder) => {
      const { store } = await openAt(folder);
      await store.close();
      writeFileSync(join(folder, 'keys/store.key'), ephemeralKey());
      await expect(openAt(folder)).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
    });
  });

  it('refuses a file that is not a database (STORE_CORRUPT)', async () => {
    await withFolder(async (folder) => {
      writeFileSync(join(folder, 'carillon.db'), 'x'.repeat(10_000));
      await expect(openAt(folder)).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
    });
  });

  it('refuses a folder that another service uses (STORE_BUSY)', async () => {
    await withFolder(async (folder) => {
      const { store } = await openAt(folder);
      await expect(openAt(folder)).rejects.toMatchObject({ code: 'STORE_BUSY' });
      await store.close();
    });
  });

  it('refuses units after close (STORE_CLOSED)', async () => {
    const { store } = await openInMemory();
    await store.close();
    await expect(store.settings.get('x')).rejects.toMatchObject({ code: 'STORE_CLOSED' });
  });

  it('finishes pending units before it closes', async () => {
    await withFolder(async (folder) => {
      const first = await openAt(folder);
      const requested = first.store.settings.set('realm', 'carillon.test');
      await first.store.close();
      await requested;
      const second = await openAt(folder);
      expect(await second.store.settings.getOrSet('realm', 'other')).toBe('carillon.test');
      await second.store.close();
    });
  });
});

describe('backup', () => {
  it('is a separate consistent database, written while the store is open', async () => {
    await withFolder(async (folder) => {
      const { store } = await openAt(folder);
      await store.accounts.create(anAccount(), 'token');
      await store.ledger.post([anEntry({ amount: micros(42) })], { checked: false });
      const copy = join(folder, 'backup.db');
      await store.backup(copy);
      await expect(store.backup(copy)).rejects.toMatchObject({ code: 'CONFLICT' });
      await store.close();
      expect(statSync(copy).mode & 0o777).toBe(0o600);
      const raw = new Database(copy, { readonly: true });
      expect(raw.prepare('SELECT balance FROM balance').get()).toEqual({ balance: 42 });
      raw.close();
    });
  });
});

describe('the username cache', () => {
  const insert = unit('endpoints', 'insert', endpoint, { md5: 'a', sha256: 'b', sha512256: 'c' });
  const lookup = (username: string): Unit => unit('endpointDirectory', 'byUsername', username);

  it('finds a new username immediately, also after a failed lookup and after a restart', () =>
    withFolder(async (folder) => {
      const file = join(folder, 'carillon.db');
      const key = ephemeralKey();
      const first = engineAt(file, key);
      expect(first.read(lookup('ada'))).toEqual({ ok: true, value: undefined });
      expect(first.run([createAccount, insert]).map(({ ok }) => ok)).toEqual([true, true]);
      expect(first.read(lookup('ada'))).toMatchObject({ value: { secrets: { md5: 'a' } } });
      expect(first.read(lookup('Ada'))).toEqual({ ok: true, value: undefined });
      first.close();
      const second = engineAt(file, key);
      expect(second.read(lookup('ada'))).toMatchObject({ value: { username: 'ada' } });
      second.close();
    }));

  it('answers unknown usernames without a statement', () => {
    const engine = engineAt(':memory:');
    engine.run([createAccount, insert]);
    const requested = vi.spyOn(SqliteConnection.prototype, 'get');
    expect(engine.read(lookup('14155550100'))).toEqual({ ok: true, value: undefined });
    expect(requested).not.toHaveBeenCalled();
    engine.read(lookup('ada'));
    expect(requested).toHaveBeenCalledOnce();
    requested.mockRestore();
    engine.close();
  });
});
