/** Runs two nodes on one database: balances stay correct under concurrency, and each node sees the other's changes. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AccountId, asAccountId, asAppId, asCallUuid } from '../../../../src/base/ids.ts';
import { micros } from '../../../../src/base/money.ts';
import type { Application } from '../../../../src/domain/provisioning/types.ts';
import type { Store } from '../../../../src/edge/store/store.ts';
import { eventually } from '../../../eventually.ts';
import { expectOneFirstStart } from '../../../first-starts.ts';
import { type Cluster, postgresMissing, sharedCluster } from '../../../postgres.ts';
import { SimClock } from '../../../sim/clock.ts';
import { aCdr, anAccount, anEntry, anOpenCall, START_US } from '../records.ts';
import { Folders, openNode } from './shared.ts';

describe.skipIf(postgresMissing !== undefined)(
  `nodes on PostgreSQL ${postgresMissing ?? ''}`,
  () => {
    const folders = new Folders();
    let cluster: Cluster;
    let url: string;
    let nodes: readonly Store[];

    beforeAll(async () => {
      cluster = await sharedCluster();
      url = cluster.database('nodes');
      const one = folders.next();
      // The first node creates the key file; then both find an empty database simultaneously.
      await openNode(cluster.database('nodes_key'), one).then((store) => store.close());
      nodes = await Promise.all([openNode(url, one), openNode(url, folders.next())]);
    });
    afterAll(async () => {
      for (const node of nodes) await node.close();
      folders.remove();
    });

    const node = (index: number): Store => nodes[index % nodes.length] as Store;
    const funded = async (name: string, amount: number): Promise<AccountId> => {
      const authId = asAccountId(name);
      await node(0).accounts.create(anAccount({ authId }), 'token');
      await node(0).ledger.post([anEntry({ accountId: authId, amount: micros(amount) })], {
        checked: false,
      });
      return authId;
    };
    const booksOf = async (accountId: AccountId) => {
      expect(await node(1).verify()).toEqual([]);
      return node(1).ledger.balance(accountId, 'USD');
    };

    it('create one first account when several start on an empty database simultaneously', () =>
      expectOneFirstStart(node));

    it('never reserve more than the balance, on any node', async () => {
      const accounts = await Promise.all([funded('MA_R1', 1000), funded('MA_R2', 1000)]);
      const requested = Array.from({ length: 400 }, (_, index) =>
        node(Math.floor(index / 2)).ledger.reserve({
          reservationId: `r${index}`,
          accountId: accounts[index % 2] as AccountId,
          currency: 'USD',
          amount: micros(10),
          dailySpendLimit: undefined,
        }),
      );
      const answers = await Promise.all(requested);
      expect(answers.filter(({ ok }) => ok)).toHaveLength(200);
      for (const account of accounts)
        expect(await booksOf(account)).toMatchObject({ balance: 1000, reservedFunds: 1000 });
    });

    it('settle concurrent calls once each, and number entries without gaps', async () => {
      const accountId = await funded('MA_S', 1_000_000);
      const calls = Array.from({ length: 60 }, (_, index) =>
        anOpenCall({
          cdr: aCdr({ callUuid: asCallUuid(`s${index}`), accountId }),
          reserved: micros(1000),
        }),
      );
      await Promise.all(calls.map((call, index) => node(index).calls.open(call, undefined)));
      const settle = (call: (typeof calls)[number], index: number) =>
        node(index).calls.settle({
          cdr: call.cdr,
          entries: [
            anEntry({
              accountId,
              type: 'debit',
              amount: micros(700),
              reference: `cdr:${call.cdr.callUuid}`,
              referenceType: 'cdr',
            }),
          ],
          notification: undefined,
        });
      // Settles each call on its own node and on the other, as if that had adopted it.
      const first = await Promise.all(
        calls.flatMap((call, index) => [settle(call, index), settle(call, index + 1)]),
      );
      expect(first.filter((isFirst) => isFirst)).toHaveLength(60);
      const after = { balance: 1_000_000 - 60 * 700, reservedFunds: 0 };
      expect(await booksOf(accountId)).toMatchObject(after);
      const entries = await node(0).ledger.walk({ accountId }, undefined, 100);
      expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 61 }, (_, i) => 61 - i));
    });

    it('sell each number once', async () => {
      const [a, b] = await Promise.all([funded('MA_N1', 20_000), funded('MA_N2', 20_000)]);
      const number = {
        e164: '+14155550100',
        id: 'n1',
        accountId: undefined,
        subAccount: undefined,
        country: 'US',
        region: '',
        status: 'available' as const,
        currency: 'USD',
        setupFeeMicros: micros(0),
        monthlyFeeMicros: micros(500),
        carrier: undefined,
        applicationId: undefined,
        trunkGroupId: undefined,
        purchasedUs: undefined,
        nextBillingUs: undefined,
        lastBilledUs: undefined,
        releasedUs: undefined,
        cooldownEndsUs: undefined,
        createdUs: START_US,
        updatedUs: START_US,
      };
      const numbers = Array.from({ length: 20 }, (_, index) => ({
        ...number,
        e164: `+1415555${index + 10}`,
      }));
      for (const one of numbers) await node(0).numbers.insert(one);
      const buy = (one: typeof number, accountId: AccountId, at: Store) =>
        at.numbers.purchase({ ...one, accountId, status: 'active' }, [
          anEntry({ accountId, type: 'debit', amount: micros(500), referenceType: 'number' }),
        ]);
      for (const one of numbers) {
        const both = [buy(one, a as AccountId, node(0)), buy(one, b as AccountId, node(1))];
        expect((await Promise.all(both)).map(({ ok }) => ok).sort()).toEqual([false, true]);
      }
      const left = [await booksOf(a as AccountId), await booksOf(b as AccountId)];
      expect((left[0]?.balance ?? 0) + (left[1]?.balance ?? 0)).toBe(2 * 20_000 - 20 * 500);
    });

    it("see each other's changes immediately", async () => {
      const accountId = await funded('MA_C', 1);
      const draft = anApplication(accountId);
      const { appId } = await node(0).applications.insert(draft);
      expect((await node(1).applications.get(appId))?.name).toBe('before');
      await node(0).applications.patch(accountId, appId, { name: 'after' });
      expect((await node(0).applications.get(appId))?.name).toBe('after');
      await eventually('the other node sees the change', async () => {
        const seen = await node(1).applications.get(appId);
        return seen?.name === 'after' || undefined;
      });
    });

    it('see changes without polling', async () => {
      const accountId = await funded('MA_W', 1);
      const { appId } = await node(0).applications.insert(anApplication(accountId));
      // The polling timer of this node does not run after the first poll.
      const still = await openNode(url, folders.next(), 10_000, new SimClock());
      await eventually('the answer is cached', async () => {
        const [one, other] = [
          await still.applications.get(appId),
          await still.applications.get(appId),
        ];
        return (one !== undefined && one === other) || undefined;
      });
      await node(0).applications.patch(accountId, appId, { name: 'after' });
      await eventually('the node sees the change', async () => {
        const seen = await still.applications.get(appId);
        return seen?.name === 'after' || undefined;
      });
      await still.close();
    });

    it('detect changes made while their connection was lost', async () => {
      const accountId = await funded('MA_L', 1);
      const { appId } = await node(0).applications.insert(anApplication(accountId));
      expect((await node(1).applications.get(appId))?.name).toBe('before');
      const db = cluster.connect('nodes');
      db.all(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = 'nodes' AND pid <> pg_backend_pid()`);
      db.run(`UPDATE application SET name = 'after' WHERE app_id = ?`, [appId]);
      db.close();
      await eventually('the change is visible', async () => {
        const seen = await node(1)
          .applications.get(appId)
          .catch(() => undefined);
        return seen?.name === 'after' || undefined;
      });
    });

    it('continue while a node of the next version adds columns', async () => {
      const accountId = await funded('MA_U', 1000);
      await node(0).accounts.get(accountId);
      await node(0).ledger.page({ accountId }, 1, 10);
      const db = cluster.connect('nodes');
      for (const table of ['account', 'balance', 'entry'])
        db.run(`ALTER TABLE ${table} ADD COLUMN of_next_version BIGINT NOT NULL DEFAULT 0`);
      db.close();
      expect(await node(0).accounts.get(accountId)).toMatchObject({ authId: accountId });
      expect((await node(0).ledger.page({ accountId }, 1, 10)).total).toBe(1);
      const credit = anEntry({ accountId, amount: micros(10), reference: 'pay:next' });
      const posted = await node(0).ledger.post([credit], { checked: false });
      expect(posted.ok).toBe(true);
      expect(await booksOf(accountId)).toMatchObject({ balance: 1010 });
    });

    it('are notified of changes of cached data', async () => {
      let reported = 0;
      node(1).onChange(() => {
        reported += 1;
      });
      const change = async (what: string, act: () => Promise<unknown>) => {
        const before = reported;
        await act();
        await eventually(`a notification of ${what}`, () => reported > before || undefined);
      };
      const rate = {
        direction: 'outbound' as const,
        prefix: '1',
        currency: 'USD',
        pulseMs: 60_000,
      };
      await change('rates', () =>
        node(0).rates.put({ ...rate, perMinute: micros(1), accountId: undefined }),
      );
      await change('settings', () => node(0).settings.set('media.policies', '[]'));
    });

    it('require the same key file', async () => {
      await expect(openNode(url, folders.next('others'))).rejects.toMatchObject({
        code: 'STORE_CORRUPT',
      });
    });
  },
);

const anApplication = (accountId: AccountId): Application => ({
  appId: asAppId(0),
  accountId,
  subAccount: undefined,
  name: 'before',
  answerUrl: 'http://a/',
  answerMethod: 'POST',
  hangupUrl: '',
  hangupMethod: 'POST',
  fallbackAnswerUrl: '',
  fallbackMethod: 'POST',
  messageUrl: '',
  messageMethod: 'POST',
  defaultApp: false,
  defaultEndpointApp: false,
  enabled: true,
  publicUri: false,
  logIncomingMessage: false,
  callerId: undefined,
  agent: undefined,
  createdUs: START_US,
  updatedUs: START_US,
});
