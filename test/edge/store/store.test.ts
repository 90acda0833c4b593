import { describe, expect, it } from 'vitest';
import type { EntryFilter } from '../../../src/domain/ledger/types.ts';
import { campaignContract } from '../../contract/campaign-contract.ts';
import { entryListContract } from '../../contract/entry-list-contract.ts';
import { mentionContract } from '../../contract/mention-contract.ts';
import { privacyContract } from '../../contract/privacy-contract.ts';
import { statementsContract } from '../../contract/statements-contract.ts';
import { type Opened, storeContract } from '../../contract/store-contract.ts';
import { newestSchema, noteStatements, type Plan, plansOf } from './noted-statements.ts';
import { openAt, openInMemory, withFolder } from './open.ts';
import { anAccount, anEntry, START_US } from './records.ts';

const noted = noteStatements();

const inMemory = async (): Promise<Opened> => {
  const { store, clock } = await openInMemory();
  return { store, clock, dispose: () => store.close() };
};

storeContract('SQLite in memory', inMemory);
entryListContract('SQLite in memory', inMemory, 25);
campaignContract('SQLite in memory', inMemory);
statementsContract('SQLite in memory', inMemory);
privacyContract('SQLite in memory', inMemory);
mentionContract('SQLite in memory', inMemory);

storeContract('SQLite on disk, on its threads', async () => {
  let removeFolder = (): void => undefined;
  const folderIsGone = new Promise<void>((resolve) => {
    removeFolder = resolve;
  });
  let folder = '';
  const removed = withFolder(async (path) => {
    folder = path;
    await folderIsGone;
  });
  const { store, clock } = await openAt(folder);
  return {
    store,
    clock,
    dispose: async () => {
      await store.close();
      removeFolder();
      await removed;
    },
  };
});

it('reports include writes made immediately before', async () => {
  await withFolder(async (folder) => {
    const { store } = await openAt(folder);
    const request = { method: 'POST', path: '/console/api/session', status: 200 };
    const entry = { atUs: START_US, who: 'ada', accountId: undefined, what: 'sign in', ...request };
    void store.users.addAudit(entry);
    const { items } = await store.users.audit({ accountId: 'all' }, { limit: 10, offset: 0 });
    expect(items).toMatchObject([{ who: 'ada', what: 'sign in' }]);
    await store.close();
  });
});

describe('query plans of all statements run above', () => {
  const accountId = anAccount().authId;
  /** Tables that every call writes. Each row adds a page write per index. */
  const OF_CALLS = ['cdr', 'call_timeline', 'entry', 'open_call', 'reservation', 'notification'];
  const GROWING = [
    ...['cdr', 'entry', 'call_timeline', 'recording', 'campaign_contact', 'endpoint'],
    ...['do_not_call', 'audit'],
  ];
  /** Statements that may scan a table: rare ones outside the main thread, or ones with a row limit at startup. */
  const READ_WHOLE = [
    /username FROM endpoint LIMIT/,
    /status = 'recording' AND/,
    /ORDER BY number LIMIT/,
    /audit ORDER BY id LIMIT/,
    /FROM audit WHERE TRUE/,
  ];
  const UNUSUAL = /sign = 1|type NOT IN|reference_type <> 'cdr'|status <> 'completed'/;
  const db = newestSchema();

  async function plans(): Promise<readonly Plan[]> {
    const { store } = await openInMemory();
    await store.accounts.create(anAccount(), 't');
    await store.ledger.post([{ ...anEntry(), reference: 'a', key: 'k' }], { checked: true });
    const each: readonly Partial<EntryFilter>[] = [
      ...[{}, { type: 'credit' }, { type: 'debit' }, { type: 'did_rental' }, { currency: 'USD' }],
      ...[{ status: 'pending' as const }, { status: 'completed' as const }],
      ...[{ referenceType: 'cdr' }, { referenceType: 'payment' }, { id: 'x' }],
    ];
    for (const filter of each)
      for (const window of [{}, { fromUs: 1, toUs: 2_000_000_000_000_000 }]) {
        await store.ledger.page({ accountId, ...window, ...filter }, 1, 50);
        await store.ledger.summary({ accountId, ...window, ...filter });
        await store.ledger.walk({ accountId, ...window, ...filter }, undefined, 50);
      }
    await store.close();
    return plansOf(db, noted());
  }

  it('scan no table that grows with calls', async () => {
    const whole = (await plans()).flatMap(({ sql, steps }) =>
      steps
        .filter((step) => GROWING.includes(scannedBy(step, sql)))
        .filter(() => !READ_WHOLE.some((known) => known.test(sql)))
        .map((step) => `${step}: ${sql}`),
    );
    expect(whole).toEqual([]);
  });

  it('find unusual entries among millions with a partial index', async () => {
    const requested = (await plans()).filter(({ sql }) => / entry /.test(sql) && UNUSUAL.test(sql));
    expect(requested.length).toBeGreaterThan(10);
    const wrong = requested.filter(({ steps }) => steps.some((step) => /PRIMARY KEY/.test(step)));
    expect(wrong).toEqual([]);
  });

  it('use every index that call writes maintain', async () => {
    const steps = (await plans()).flatMap((plan) => plan.steps);
    const indexes = db
      .prepare<[], { readonly name: string; readonly tbl_name: string }>(
        "SELECT name, tbl_name FROM sqlite_master WHERE type = 'index'",
      )
      .all();
    const unused = indexes
      .filter(({ tbl_name: table }) => OF_CALLS.includes(table))
      .filter(({ name }) => !steps.some((step) => new RegExp(`INDEX ${name}\\b`).test(step)));
    expect(unused).toEqual([]);
  });
});

/** Returns the table of a `SCAN x` step, which may name an alias. Empty if the step is not a scan. */
function scannedBy(step: string, sql: string): string {
  const name = /^SCAN (\w+)/.exec(step)?.[1];
  if (name === undefined) return '';
  return new RegExp(`(?:FROM|JOIN) (\\w+) ${name}\\b`).exec(sql)?.[1] ?? name;
}
