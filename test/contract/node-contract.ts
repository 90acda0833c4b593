/** Several nodes on one store: ownership of rows, and adoption of rows of ended epochs. */
import { describe, expect, it } from 'vitest';
import { asCallUuid } from '../../src/base/ids.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { recoverOpenCalls } from '../../src/domain/cdr/cdr.ts';
import { SelfNode } from '../../src/domain/cluster/cluster.ts';
import type { Store } from '../../src/edge/store/store.ts';
import { aCdr, aNotification, anOpenCall } from '../edge/store/records.ts';
import { expectOneFirstStart, expectResumedFirstStart } from '../first-starts.ts';

export function nodeContract(opened: () => { readonly store: Store }): void {
  const join = async (id: string, alone = false) => {
    const self = new SelfNode(id);
    await self.begin(opened().store.nodes, alone);
    return { self, store: opened().store.as(self) };
  };
  const call = (name: string) => {
    const callUuid = asCallUuid(name);
    return anOpenCall({ cdr: aCdr({ callUuid }), hangupNotification: aNotification({ id: name }) });
  };

  describe('nodes', () => {
    it('assigns a higher epoch to each start of a node', async () => {
      expect((await join('a')).self.epoch).toBe(1);
      expect((await join('a')).self.epoch).toBe(2);
      expect((await join('b')).self.epoch).toBe(1);
    });

    it("closes only the calls of the node's own earlier epochs at its start", async () => {
      const a = await join('a');
      const b = await join('b');
      await a.store.calls.open(call('of-a'), undefined);
      await b.store.calls.open(call('of-b'), undefined);
      expect(await recoverOpenCalls(a.store.calls, silentLogger)).toEqual([]);
      const again = await join('a');
      const closed = await recoverOpenCalls(again.store.calls, silentLogger);
      expect(closed.map(({ callUuid }) => callUuid)).toEqual(['of-a']);
      expect(await again.store.calls.listOpen()).toHaveLength(1);
    });

    it('lets a node that is alone adopt the work of all others', async () => {
      const a = await join('a');
      await a.store.calls.open(call('of-a'), undefined);
      const b = await join('b', true);
      expect(await recoverOpenCalls(b.store.calls, silentLogger)).toHaveLength(1);
      expect(await b.store.nodes.list()).toMatchObject([{ id: 'b' }]);
    });

    it("declares only a silent node dead, once, and reports it with the node's next beat", async () => {
      const a = await join('a');
      await join('b');
      const [seen] = await opened().store.nodes.list();
      if (seen === undefined) throw new Error('no node');
      expect(await a.store.nodes.beat(a.self, true)).toBe(true);
      expect(await opened().store.nodes.fence(seen)).toBe(false);
      const [later] = await opened().store.nodes.list();
      if (later === undefined) throw new Error('no node');
      expect(await opened().store.nodes.fence(later)).toBe(true);
      expect(await opened().store.nodes.fence(later)).toBe(false);
      expect(await a.store.nodes.beat(a.self, true)).toBe(false);
      expect((await opened().store.nodes.list()).map(({ id }) => id)).toEqual(['b']);
    });

    it('refuses new calls and reservations of a node that was declared dead', async () => {
      const a = await join('a');
      const [seen] = await opened().store.nodes.list();
      if (seen === undefined) throw new Error('no node');
      expect(await opened().store.nodes.fence(seen)).toBe(true);
      const late = { code: 'STORE_BUSY' };
      await expect(a.store.calls.open(call('late'), undefined)).rejects.toMatchObject(late);
      expect(await a.store.calls.listOpen()).toEqual([]);
      expect(await a.store.ledger.verify()).toEqual([]);
    });

    it('does not settle a call again that another node has settled', async () => {
      const a = await join('a');
      await a.store.calls.open(call('of-a'), undefined);
      await a.store.nodes.leave(a.self);
      const b = await join('b');
      expect(await recoverOpenCalls(b.store.calls, silentLogger)).toHaveLength(1);
      const late = { cdr: aCdr({ callUuid: asCallUuid('of-a') }), entries: [] };
      expect(await a.store.calls.settle({ ...late, notification: undefined })).toBe(false);
      expect((await b.store.cdrs.get(asCallUuid('of-a')))?.cdr.failureReason).toContain('stopped');
      expect((await b.store.notifications.listPending(10)).map(({ id }) => id)).toEqual(['of-a']);
    });

    it('lists notifications only for their node and lets others adopt those of ended epochs', async () => {
      const a = await join('a');
      const b = await join('b');
      for (const id of ['1', '2']) await a.store.notifications.put(aNotification({ id }));
      const ids = async () => (await b.store.notifications.listPending(10)).map(({ id }) => id);
      expect(await b.store.notifications.adopt()).toBe(0);
      expect(await ids()).toEqual([]);
      await a.store.nodes.leave(a.self);
      expect(await b.store.notifications.adopt()).toBe(2);
      expect(await ids()).toEqual(['1', '2']);
      expect(await a.store.notifications.listPending(10)).toEqual([]);
    });

    it('assigns shared work to one node until its epoch ends', async () => {
      const a = await join('a');
      const b = await join('b');
      expect(await a.store.nodes.claim('campaigns')).toBe(true);
      expect(await a.store.nodes.claim('campaigns')).toBe(true);
      expect(await b.store.nodes.claim('campaigns')).toBe(false);
      expect(await b.store.nodes.holder('campaigns')).toEqual({ id: 'a', epoch: 1 });
      await a.store.nodes.leave(a.self);
      expect(await b.store.nodes.holder('campaigns')).toBeUndefined();
      expect(await b.store.nodes.claim('campaigns')).toBe(true);
    });

    it('assigns no shared work to a node that does not know yet that it was declared dead', async () => {
      const a = await join('a');
      const b = await join('b');
      expect(await a.store.nodes.claim('campaigns')).toBe(true);
      const seen = (await b.store.nodes.list()).find(({ id }) => id === 'a');
      if (seen === undefined) throw new Error('no node');
      expect(await b.store.nodes.fence(seen)).toBe(true);
      expect(await a.store.nodes.claim('campaigns')).toBe(false);
      expect(await a.store.nodes.claim('housekeeping')).toBe(false);
      expect(await b.store.nodes.claim('campaigns')).toBe(true);
    });

    it('creates one account when several nodes start for the first time, known to all', () =>
      expectOneFirstStart(() => opened().store));

    it('completes an interrupted first start without duplicates', () =>
      expectResumedFirstStart(opened().store));

    it('keeps the first value of a secret and encrypts it in the row', async () => {
      const { settings } = opened().store;
      expect(await settings.secret('kept')).toBeUndefined();
      const both = ['a-word', 'b-word'].map((word) => settings.keepSecret('kept', word));
      const [retained, same] = await Promise.all(both);
      expect(same).toBe(retained);
      expect(await settings.secret('kept')).toBe(retained);
      expect(await settings.get('kept')).not.toContain('word');
    });

    it('runs an export on one node, and on another when that node is dead', async () => {
      const a = await join('a');
      const b = await join('b');
      const job = {
        exportId: 'e',
        accountId: aCdr().accountId,
        recipients: [],
        status: 'queued' as const,
        filter: { accountId: aCdr().accountId },
        attempts: 0,
        file: undefined,
        recordings: 0,
        error: undefined,
        createdUs: 1,
        updatedUs: 1,
      };
      await a.store.exports.enqueue(job);
      expect(await b.store.exports.take()).toMatchObject({ exportId: 'e', status: 'running' });
      expect(await a.store.exports.take()).toBeUndefined();
      await b.store.nodes.leave(b.self);
      expect(await a.store.exports.take()).toMatchObject({ exportId: 'e' });
    });
  });
}
