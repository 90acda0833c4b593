import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/base/errors.ts';
import { asCallUuid } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { micros } from '../../../src/base/money.ts';
import { OpenRecords } from '../../../src/domain/cdr/cdr.ts';
import type { CallStore } from '../../../src/domain/cdr/needs.ts';
import { openInMemory } from '../../edge/store/open.ts';
import { aCdr, anAccount, anOpenCall, START_US } from '../../edge/store/records.ts';

const ringing = anOpenCall({ reserved: micros(0), cdr: aCdr({ answerUs: undefined }) });
const answered = anOpenCall({ reserved: micros(0) });
const bridged = anOpenCall({ reserved: micros(0), cdr: aCdr({ bridgeUuid: asCallUuid('b') }) });
const { callUuid } = answered.cdr;

async function disk() {
  const { store } = await openInMemory();
  await store.accounts.create(anAccount(), 't');
  const state = { full: false };
  const guarded = (operation: 'update' | 'extendReservation' | 'heartbeat') =>
    (async (...given: never[]) => {
      if (state.full) throw new ServiceError('STORE_FULL', 'full');
      return (store.calls[operation] as (...given: never[]) => unknown)(...given);
    }) as never;
  const calls: CallStore = {
    ...store.calls,
    update: guarded('update'),
    extendReservation: guarded('extendReservation'),
    heartbeat: guarded('heartbeat'),
  };
  const records = new OpenRecords(calls, silentLogger);
  await records.open(ringing, undefined);
  return { store, state, records };
}

describe('calls while the store refuses writes', () => {
  it('refuses an answer that cannot be recorded', async () => {
    const { state, records } = await disk();
    state.full = true;
    await expect(records.update(answered)).rejects.toMatchObject({ code: 'STORE_FULL' });
  });

  it('continues a running call and writes its record with a later heartbeat', async () => {
    const { store, state, records } = await disk();
    await records.update(answered);
    state.full = true;
    await records.update(bridged);
    expect(await records.extendReservation(callUuid, micros(5))).toEqual({
      ok: true,
      value: undefined,
    });
    await expect(records.heartbeat([{ callUuid, atUs: START_US + 1 }])).rejects.toThrow('full');
    expect((await store.calls.listOpen())[0]?.cdr.bridgeUuid).toBeUndefined();
    state.full = false;
    await records.heartbeat([{ callUuid, atUs: START_US + 2 }]);
    const [open] = await store.calls.listOpen();
    expect([open?.cdr.bridgeUuid, open?.heartbeatUs]).toEqual(['b', START_US + 2]);
  });

  it('does not replace a newer record by one that could not be written before', async () => {
    const { store, state, records } = await disk();
    await records.update(answered);
    state.full = true;
    await records.update(bridged);
    state.full = false;
    const later = anOpenCall({ reserved: micros(0), cdr: aCdr({ bridgeUuid: asCallUuid('c') }) });
    await records.update(later);
    await records.heartbeat([{ callUuid, atUs: START_US + 2 }]);
    expect((await store.calls.listOpen())[0]?.cdr.bridgeUuid).toBe('c');
  });

  it('refuses the answer of a call although an earlier record of it was written', async () => {
    const { state, records } = await disk();
    await records.update(ringing);
    state.full = true;
    await expect(records.update(answered)).rejects.toMatchObject({ code: 'STORE_FULL' });
  });

  it('does not hide a programming error', async () => {
    const { store } = await disk();
    const bug = () => Promise.reject(new TypeError('bug'));
    const records = new OpenRecords({ ...store.calls, extendReservation: bug }, silentLogger);
    await expect(records.extendReservation(callUuid, micros(5))).rejects.toThrow('bug');
  });

  it('still reports insufficient funds', async () => {
    const { records } = await disk();
    expect(await records.extendReservation(callUuid, micros(5))).toEqual({
      ok: false,
      error: 'insufficientFunds',
    });
  });
});

/** A store whose updates wait. */
function slowStore() {
  const updates: PromiseWithResolvers<void>[] = [];
  const calls = {
    settle: async () => true,
    heartbeat: async () => undefined,
    update: () => {
      const update = Promise.withResolvers<void>();
      updates.push(update);
      return update.promise;
    },
  } as unknown as CallStore;
  return { updates, records: new OpenRecords(calls, silentLogger) };
}

describe('a settled call', () => {
  const settle = (records: OpenRecords) => records.settle({ cdr: answered.cdr } as never);
  const beat = (records: OpenRecords) => records.heartbeat([{ callUuid, atUs: START_US }]);
  const full = new ServiceError('STORE_FULL', 'full');

  it('keeps nothing of updates that fail after its settlement', async () => {
    const { updates, records } = slowStore();
    const updating = [records.update(answered), records.update(bridged)];
    await settle(records);
    for (const [at, { reject }] of updates.entries()) {
      reject(full);
      await expect(updating[at]).rejects.toMatchObject({ code: 'STORE_FULL' });
    }
    await beat(records);
    expect(updates).toHaveLength(2);
  });

  it('keeps nothing of an update that failed before its settlement', async () => {
    const { updates, records } = slowStore();
    const updating = records.update(answered);
    updates[0]?.reject(full);
    await expect(updating).rejects.toMatchObject({ code: 'STORE_FULL' });
    await settle(records);
    await beat(records);
    expect(updates).toHaveLength(1);
  });
});

describe('an update that fails after a newer one has begun', () => {
  const full = new ServiceError('STORE_FULL', 'full');

  it.each(['before', 'after'])('does not replace its record, %s it is written', async (when) => {
    const { updates, records } = slowStore();
    const [older, newer] = [records.update(ringing), records.update(answered)];
    const fails = async (): Promise<void> => {
      updates[0]?.reject(full);
      await older.catch((error: unknown) => expect(error).toBe(full));
    };
    if (when === 'before') await fails();
    updates[1]?.resolve();
    await newer;
    if (when === 'after') await fails();
    await records.heartbeat([{ callUuid, atUs: START_US }]);
    expect(updates).toHaveLength(2);
  });

  it('is not written by a heartbeat during the newer one', async () => {
    const { updates, records } = slowStore();
    const older = records.update(ringing);
    updates[0]?.reject(full);
    await expect(older).rejects.toBe(full);
    const newer = records.update(answered);
    await records.heartbeat([{ callUuid, atUs: START_US }]);
    expect(updates).toHaveLength(2);
    updates[1]?.resolve();
    await newer;
  });
});
