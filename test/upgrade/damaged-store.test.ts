/** Damages one value of every kind, opens the store, and reads every table, on SQLite and copied to PostgreSQL. */
import Database from 'better-sqlite3';
import { afterEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../src/base/errors.ts';
import { asAccountId, asCallUuid, asRecordingId } from '../../src/base/ids.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { systemRandom } from '../../src/base/system-random.ts';
import { recoverOpenCalls } from '../../src/domain/cdr/recovery.ts';
import { copyToPostgres } from '../../src/edge/store/postgres/copy.ts';
import type { Store } from '../../src/edge/store/store.ts';
import { openAt } from '../edge/store/open.ts';
import { openNode } from '../edge/store/postgres/shared.ts';
import { eventually } from '../eventually.ts';
import { postgresMissing, sharedCluster } from '../postgres.ts';
import { type Damaged, damage, ROUNDS } from './damage.ts';
import { RecordedFolder } from './recorded.ts';

const NAME = 'schema-25-killed';
const SLICE = { limit: 100, offset: 0 };

let folder: RecordedFolder;
afterEach(() => folder.remove());

interface Reading {
  readonly store: Store;
  readonly accountId: ReturnType<typeof asAccountId>;
  readonly key: string;
  readonly by: string;
}

/** Returns all rows of a table, as the service lists them. */
const LISTS: Readonly<Record<string, (given: Reading) => Promise<readonly unknown[]>>> = {
  open_call: ({ store }) => store.calls.listOpen(),
  cdr: ({ store, accountId }) => store.cdrs.walk({ accountId }, undefined, 1000),
  notification: async ({ store }) => {
    const epoch = await store.nodes.begin('a', true);
    const node = store.as({ id: 'a', epoch });
    await node.notifications.adopt();
    return node.notifications.listPending(1000);
  },
  campaign_agent: async ({ store, accountId }) =>
    (await store.campaigns.agents({ accountId, subAccount: undefined }, SLICE)).items,
  campaign: async ({ store, accountId }) =>
    (await store.campaigns.page({ accountId, subAccount: undefined, archived: false }, SLICE))
      .items,
  export_job: async ({ store, accountId }) =>
    (await store.exports.page({ accountId }, SLICE)).items,
  binding: ({ store }) => store.bindings.listAll(),
  carrier: ({ store }) => store.carriers.listAll(),
  trunk: async ({ store, accountId }) => (await store.trunks.list(accountId, SLICE)).items,
  webhook_delivery: async ({ store, accountId }) =>
    (await store.deliveries.page(accountId, {}, SLICE)).items,
  console_user: ({ store }) => store.users.list('all'),
};

/** Reads a single row by its key. A new table in `STORED_KINDS` needs a reader in this or the other list. */
const READERS: Readonly<Record<string, (given: Reading) => Promise<unknown>>> = {
  call_timeline: ({ store, by }) => store.callLogs.read(asCallUuid(by)),
  recording: ({ store, key }) => store.recordings.get(asRecordingId(key)),
  transcription: ({ store, by }) => store.transcriptions.ofRecording(asRecordingId(by)),
  campaign_contact: ({ store, key }) => store.campaigns.contact(Number(key)),
  account: ({ store, key }) => store.accounts.get(asAccountId(key)),
  endpoint_secret: ({ store, by }) => store.endpointDirectory.byUsername(by),
  account_token: ({ store, by }) => store.accounts.credentials(asAccountId(by)),
  trunk_credential_secret: ({ store, key }) => store.credentials.passwordOf(key),
  idempotency_key: ({ store, accountId, key }) =>
    store.idempotency.begin(accountId, key, 'damaged'),
  setting: async ({ store, key }) =>
    key.startsWith('first-start') ? store.settings.secret(key) : store.settings.get(key),
};

/** Returns a data folder with the current schema in which `places` are damaged. */
async function damagedFolder(places: readonly string[]): Promise<readonly Damaged[]> {
  folder = new RecordedFolder(NAME);
  const { store } = await openAt(folder.dataDir);
  await store.close();
  return damage(folder, places);
}

function rowsOf(table: string): number {
  const db = new Database(folder.file, { readonly: true });
  const count = Number(db.prepare(`SELECT COUNT(*) FROM ${table}`).pluck().get());
  db.close();
  return count;
}

const isRefused = (error: unknown): boolean =>
  error instanceof ServiceError && error.code === 'STORE_UNREADABLE';

async function expectReported(store: Store, damaged: readonly Damaged[]): Promise<void> {
  const accountId = asAccountId(folder.account.authId);
  await store.nodes.begin('a', true);
  for (const { table, key, by } of damaged) {
    const given = { store, accountId, key, by };
    const list = LISTS[table];
    if (list !== undefined)
      expect([table, await list(given)]).toEqual([
        table,
        expect.objectContaining({ length: rowsOf(table) - 1 }),
      ]);
    else {
      const read = READERS[table];
      expect(read, `a reader of ${table}`).toBeDefined();
      await read?.(given).catch((error: unknown) => {
        if (!isRefused(error)) throw error;
      });
    }
  }
  const keys = damaged.map(({ table, key }) => `${table}/${key}`).sort();
  const reported = async (): Promise<readonly string[]> => {
    const { items } = await store.unreadableRows.page(SLICE);
    return items.map(({ table, key }) => `${table}/${key}`).sort();
  };
  await eventually('the reports', async () =>
    (await reported()).length >= keys.length ? true : undefined,
  ).catch(() => undefined);
  expect(await reported()).toEqual(keys);
  expect(await store.verify()).toEqual([]);
  const open = rowsOf('open_call') - damaged.filter(({ table }) => table === 'open_call').length;
  expect(await recoverOpenCalls(store.calls, silentLogger)).toHaveLength(open);
}

describe('a store with one damaged value per table', () => {
  it.each(ROUNDS.map((places, index) => [index + 1, places] as const))(
    'opens, lists all other rows, and reports the damaged ones (part %i)',
    async (_, places) => {
      const damaged = await damagedFolder(places);
      const { store } = await openAt(folder.dataDir);
      await expectReported(store, damaged);
      await store.close();
    },
  );

  it
    .skipIf(postgresMissing !== undefined)
    .each(ROUNDS.map((places, index) => [index + 1, places] as const))(
    `does so on PostgreSQL after a copy (part %i) ${postgresMissing ?? ''}`,
    async (part, places) => {
      const damaged = await damagedFolder(places);
      const cluster = await sharedCluster();
      const url = cluster.database(`damaged_${part}`);
      copyToPostgres({ dataDir: folder.dataDir, url, random: systemRandom });
      const store = await openNode(url, folder.dataDir);
      await expectReported(store, damaged);
      await store.close();
    },
  );
});
