/** Opens databases of earlier versions with this version's store, on SQLite and copied to PostgreSQL. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asAccountId } from '../../src/base/ids.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { systemRandom } from '../../src/base/system-random.ts';
import { recoverOpenCalls } from '../../src/domain/cdr/recovery.ts';
import { copyToPostgres } from '../../src/edge/store/postgres/copy.ts';
import type { Store } from '../../src/edge/store/store.ts';
import { openAt } from '../edge/store/open.ts';
import { openNode } from '../edge/store/postgres/shared.ts';
import { postgresMissing, sharedCluster } from '../postgres.ts';
import { someOf } from '../thorough.ts';
import { chosenNames, type RecordedFacts, RecordedFolder, recordedNames } from './recorded.ts';

const SLICE = { limit: 100, offset: 0 };

/** Returns all data of the account that the store can list. */
async function everything(store: Store, authId: string) {
  const accountId = asAccountId(authId);
  const owner = { accountId, subAccount: undefined };
  const cdrs = await store.cdrs.walk({ accountId }, undefined, 1000);
  const logs = await Promise.all(cdrs.map(({ cdr }) => store.callLogs.read(cdr.callUuid)));
  const { items: campaigns } = await store.campaigns.page({ ...owner, archived: false }, SLICE);
  return {
    account: await store.accounts.get(accountId),
    tokens: await store.signingTokens.tokensOf(accountId),
    applications: (await store.applications.list({ accountId }, SLICE)).items,
    endpoints: (await store.endpoints.list({ accountId }, SLICE)).items,
    carriers: await store.carriers.listAll(),
    bindings: await store.bindings.listAll(),
    cdrs,
    logs,
    recordings: await store.recordings.walk({ accountId }, undefined, 1000),
    exports: (await store.exports.page({ accountId }, SLICE)).items,
    entries: (await store.ledger.page({ accountId }, 1, 100)).entries,
    agents: (await store.campaigns.agents(owner, SLICE)).items,
    campaigns,
    results: await Promise.all(campaigns.map(({ id }) => store.campaigns.results(id, 0, 100))),
  };
}

async function check(store: Store, facts: RecordedFacts, authId: string): Promise<void> {
  // Adopts calls of an earlier epoch of the node, as at a start.
  await store.nodes.begin('a', true);
  const recovered = await recoverOpenCalls(store.calls, silentLogger);
  expect(recovered.map(({ callUuid }) => String(callUuid)).sort()).toEqual(
    facts.open.map(({ callUuid }) => callUuid).sort(),
  );
  for (const call of facts.open) {
    const cdr = recovered.find(({ callUuid }) => callUuid === call.callUuid);
    expect(cdr, call.callUuid).toMatchObject({
      billedMs: call.isAnswered ? 60_000 : 0,
      cost: call.isAnswered ? call.perMinute : 0,
      streamingCost: call.streams.reduce((sum, stream) => sum + stream.perMinute, 0),
    });
    expect(cdr?.endUs).toBe(call.heartbeatUs);
    expect(cdr?.streams.map(({ streamId, endUs }) => [streamId, endUs])).toEqual(
      call.streams.map(({ streamId }) => [streamId, call.heartbeatUs]),
    );
  }
  const all = await everything(store, authId);
  expect(all.cdrs).toHaveLength(facts.cdrs + facts.open.length);
  expect(all.recordings.length).toBeGreaterThan(0);
  const streams = all.cdrs.flatMap(({ cdr }) => cdr.streams);
  const charged = Object.fromEntries(
    streams.map(({ streamId, billedAmount }) => [streamId, billedAmount]),
  );
  expect(charged).toMatchObject(facts.streamCharges);
  for (const stream of streams) {
    expect(stream.billedMs).toBe(60_000);
    expect(stream.connectedUs).toBeGreaterThan(0);
    expect(stream.connectedUs).toBeLessThanOrEqual(stream.endUs - stream.startUs);
  }
  const { total } = await store.cdrs.page({ accountId: asAccountId(authId) }, SLICE);
  expect(total).toBe(all.cdrs.length);
  expect(await store.verify()).toEqual([]);
  expect((await store.unreadableRows.page(SLICE)).items).toEqual([]);
}

/** Number of pending notifications. The node adopts those of its earlier epoch. */
async function pending(store: Store): Promise<number> {
  const epoch = await store.nodes.begin('a', true);
  const node = store.as({ id: 'a', epoch });
  await node.notifications.adopt();
  return (await node.notifications.listPending(1000)).length;
}

describe.each(someOf(recordedNames, 5))('the database of %s', (name) => {
  let folder: RecordedFolder;
  let facts: RecordedFacts;
  beforeAll(() => {
    folder = new RecordedFolder(name);
    facts = folder.facts();
  });
  afterAll(() => folder.remove());

  it('is read completely, its open calls are billed up to their last heartbeat, and a backup contains all data', async () => {
    const { store } = await openAt(folder.dataDir);
    await check(store, facts, folder.account.authId);
    const before = await everything(store, folder.account.authId);
    const hangups = facts.open.length;
    expect(await pending(store)).toBeGreaterThanOrEqual(Math.min(1, facts.notifications + hangups));
    const copy = join(folder.dataDir, 'copy.db');
    await store.backup(copy);
    await store.close();
    const again = await openAt(folder.dataDir);
    expect(await everything(again.store, folder.account.authId)).toEqual(before);
    await again.store.close();
  });

  if (!chosenNames.includes(name)) return;
  describe.skipIf(postgresMissing !== undefined)(`on PostgreSQL ${postgresMissing ?? ''}`, () => {
    it('is identical after copying', async () => {
      const cluster = await sharedCluster();
      const fresh = new RecordedFolder(name);
      try {
        const { store } = await openAt(fresh.dataDir);
        const before = await everything(store, fresh.account.authId);
        await store.close();
        const url = cluster.database(`recorded_${name.replaceAll(/\W/g, '_')}`);
        copyToPostgres({ dataDir: fresh.dataDir, url, random: systemRandom });
        const copied = await openNode(url, fresh.dataDir);
        expect(await everything(copied, fresh.account.authId)).toEqual(before);
        await check(copied, facts, fresh.account.authId);
        await copied.close();
      } finally {
        fresh.remove();
      }
    });
  });
});
