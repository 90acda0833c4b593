/** Stops and restarts the database: calls end during the outage, and each end is written once. */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asCallUuid } from '../../../../src/base/ids.ts';
import { micros } from '../../../../src/base/money.ts';
import { PostgresConnection } from '../../../../src/edge/store/postgres/connection.ts';
import { inspectPostgres } from '../../../../src/edge/store/postgres/inspect.ts';
import type { Store } from '../../../../src/edge/store/store.ts';
import { ephemeralKey, Vault } from '../../../../src/edge/store/vault.ts';
import { eventually } from '../../../eventually.ts';
import { Cluster, postgresMissing } from '../../../postgres.ts';
import { seededRandom } from '../open.ts';
import { aCdr, aNotification, anAccount, anEntry, anOpenCall } from '../records.ts';
import { Folders, openNode } from './shared.ts';

describe.skipIf(postgresMissing !== undefined)(
  `PostgreSQL unavailable ${postgresMissing ?? ''}`,
  () => {
    const folders = new Folders();
    let dataDir: string;
    let cluster: Cluster;
    const account = anAccount();
    let url: string;
    let store: Store;

    beforeAll(async () => {
      dataDir = folders.next();
      cluster = new Cluster(mkdtempSync(join(tmpdir(), 'carillon-pg-')));
      cluster.create();
      url = cluster.database('away');
      store = await openNode(url, dataDir);
      await store.accounts.create(account, 'token');
      await store.ledger.post([anEntry()], { checked: false });
    });
    afterAll(async () => {
      await store.close();
      cluster.stop();
      rmSync(cluster.folder, { recursive: true, force: true });
      folders.remove();
    });

    const callOf = (name: string) =>
      anOpenCall({ cdr: aCdr({ callUuid: asCallUuid(name) }), reserved: micros(6500) });
    const settle = (name: string, at = store) =>
      at.calls.settle({
        cdr: callOf(name).cdr,
        entries: [
          anEntry({
            type: 'debit',
            amount: micros(6500),
            reference: `cdr:${name}`,
            referenceType: 'cdr',
          }),
        ],
        notification: aNotification({ id: `n-${name}` }),
      });
    const balance = async () => (await store.ledger.balance(account.authId, 'USD'))?.balance;
    const untilBack = () =>
      eventually('the database is available', () =>
        store.check().then(
          () => true,
          () => undefined,
        ),
      );

    it('queues ends of calls on the disk and writes them in order when it returns', async () => {
      await store.calls.open(callOf('a'), undefined);
      await store.calls.open(callOf('b'), undefined);
      cluster.stop();
      await expect(store.check()).rejects.toMatchObject({ code: 'STORE_BUSY' });
      await expect(store.calls.open(callOf('new'), undefined)).rejects.toMatchObject({
        code: 'STORE_BUSY',
      });
      await expect(store.accounts.get(account.authId)).rejects.toMatchObject({
        code: 'STORE_BUSY',
      });
      expect(await settle('a')).toBe(true);
      await store.callLogs.put(asCallUuid('a'), []);
      await settle('b');
      await store.notifications.remove('n-a');
      expect(readFileSync(join(dataDir, 'spool', 'units'), 'utf8')).not.toContain('MA_');
      expect(store.spooled()).toBe(4);
      cluster.start();
      await untilBack();
      await eventually('b is written', () => store.cdrs.get(asCallUuid('b')));
      await eventually('the queued units are written', async () => {
        const pending = await store.notifications.listPending(10);
        return (pending.length === 1 && pending[0]?.id === 'n-b') || undefined;
      });
      expect(await balance()).toBe(10_000_000 - 2 * 6500);
      expect(await store.callLogs.read(asCallUuid('a'))).toMatchObject({ lines: [] });
      expect(await store.verify()).toEqual([]);
    });

    it('keeps the queue after a restart and writes it before other requests', async () => {
      await store.calls.open(callOf('c'), undefined);
      const before = await balance();
      cluster.stop();
      expect(await settle('c')).toBe(true);
      await store.close();
      await expect(openNode(url, dataDir)).rejects.toMatchObject({ code: 'STORE_BUSY' });
      cluster.start();
      store = await openNode(url, dataDir);
      expect(await store.calls.listOpen()).toEqual([]);
      expect((await store.cdrs.get(asCallUuid('c')))?.cdr).toEqual(callOf('c').cdr);
      expect(await balance()).toBe((before ?? 0) - 6500);
      // Settles the same call again, as a node would that adopted it.
      expect(await settle('c')).toBe(false);
      expect(await store.verify()).toEqual([]);
    });

    it('connects to the second host of the URL if the first does not respond', async () => {
      const silent = createServer().listen(0, '127.0.0.1');
      await once(silent, 'listening');
      const { port } = silent.address() as AddressInfo;
      const hosts = `host=127.0.0.1,${encodeURIComponent(cluster.folder)}&port=${port},5432`;
      const two = `postgres://carillon@/away?${hosts}&connect_timeout=2`;
      try {
        expect(inspectPostgres(two).version).toMatch(/^\d/);
      } finally {
        silent.close();
      }
    });

    it('keeps callbacks in the queue if the node fails and is declared dead', async () => {
      const begin = async () => ({ id: 'n1', epoch: await store.nodes.begin('n1', false) });
      const before = await begin();
      cluster.stop();
      await store.as(before).notifications.put(aNotification({ id: 'n-queued' }));
      await store.close();
      cluster.start();
      const other = await openNode(url, folders.next());
      const [silent] = await other.nodes.list();
      expect(silent && (await other.nodes.fence(silent))).toBe(true);
      await other.close();
      store = await openNode(url, dataDir);
      const { notifications } = store.as(await begin());
      await notifications.adopt();
      const pending = await notifications.listPending(10);
      expect(pending.map(({ id }) => id)).toContain('n-queued');
    });

    it('abandons a connection whose first statement is not answered, as behind a full PgBouncer', async () => {
      // Accepts a login (AuthenticationOk, ReadyForQuery) and never answers again.
      const server = new Worker(
        `const { createServer } = require('node:net');
        createServer((socket) => socket.once('data', () =>
          socket.write(Buffer.from('5200000008000000005a0000000549', 'hex'))))
          .listen(0, '127.0.0.1', function () {
            require('node:worker_threads').parentPort.postMessage(this.address().port);
          });`,
        { eval: true },
      );
      const [port] = await once(server, 'message');
      const connection = new PostgresConnection({
        url: `postgres://carillon@127.0.0.1:${port}/away?sslmode=disable&gssencmode=disable`,
        readonly: true,
        timeoutMs: 60_000,
        vault: new Vault(ephemeralKey()),
        random: seededRandom(),
      });
      const startMs = performance.now();
      try {
        expect(() => connection.get('SELECT 1')).toThrow('did not respond in time');
        expect(performance.now() - startMs).toBeLessThan(30_000);
      } finally {
        await server.terminate();
      }
    });

    it('limits the queue; a refused end leaves its call open', async () => {
      await store.close();
      store = await openNode(url, dataDir, 4000);
      for (const name of ['d', 'e', 'f']) await store.calls.open(callOf(name), undefined);
      cluster.stop();
      const ends = await Promise.allSettled(['d', 'e', 'f'].map((name) => settle(name)));
      const retained = ends.filter(({ status }) => status === 'fulfilled').length;
      expect(retained).toBeGreaterThan(0);
      expect(retained).toBeLessThan(3);
      expect(ends.find(({ status }) => status === 'rejected')).toMatchObject({
        reason: { code: 'STORE_FULL' },
      });
      cluster.start();
      await untilBack();
      const left = await eventually('the units in the queue are written', async () => {
        const open = await store.calls.listOpen();
        return open.length === 3 - retained ? open : undefined;
      });
      // A connection that is not back yet sends an end to the queue, which is full.
      for (const call of left)
        await eventually('a settled call', () =>
          settle(call.cdr.callUuid).then(
            () => true,
            () => undefined,
          ),
        );
      expect(await store.verify()).toEqual([]);
    });
  },
);
