import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/base/errors.ts';
import { asCallUuid } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { Settler } from '../../../src/domain/cdr/cdr.ts';
import type { CallStore, Settlement } from '../../../src/domain/cdr/needs.ts';
import { openInMemory } from '../../edge/store/open.ts';
import { aCdr, anAccount, anOpenCall } from '../../edge/store/records.ts';

const settlement: Settlement = { cdr: aCdr(), entries: [], notification: undefined };

/** Opens a store whose disk can be full. */
async function fullDisk() {
  const { store, clock } = await openInMemory();
  await store.accounts.create(anAccount(), 't');
  await store.calls.open(anOpenCall({ reserved: anOpenCall().cdr.cost }), undefined);
  const disk = { full: true };
  const calls: CallStore = {
    ...store.calls,
    settle: (one) =>
      disk.full ? Promise.reject(new ServiceError('STORE_FULL', 'full')) : store.calls.settle(one),
  };
  return { store, clock, disk, settler: new Settler(calls, clock, silentLogger) };
}

describe('settling while the disk is full', () => {
  it('keeps the settlement and writes it once there is space', async () => {
    const { store, clock, disk, settler } = await fullDisk();
    const settled = settler.settle(asCallUuid('call'), async () => settlement);
    await clock.advance(5000);
    expect(settler.waiting).toBe(1);
    expect(await store.cdrs.get(aCdr().callUuid)).toBeUndefined();
    disk.full = false;
    await clock.advance(1000);
    expect(await settled).toBe('written');
    expect(settler.waiting).toBe(0);
    expect(await store.cdrs.get(aCdr().callUuid)).toBeDefined();
  });

  it('abandons it when aborted; the call stays open in the store for the next start', async () => {
    const { store, clock, settler } = await fullDisk();
    const stop = new AbortController();
    const settled = settler.settle(asCallUuid('call'), async () => settlement, stop.signal);
    await clock.advance(1500);
    stop.abort();
    expect(await settled).toBe('givenUp');
    expect(await store.calls.listOpen()).toHaveLength(1);
  });

  it('does not retry after a programming error', async () => {
    const { clock, store } = await fullDisk();
    const calls = { ...store.calls, settle: () => Promise.reject(new TypeError('bug')) };
    const settler = new Settler(calls, clock, silentLogger);
    await expect(settler.settle(asCallUuid('call'), async () => settlement)).rejects.toThrow('bug');
  });
});
