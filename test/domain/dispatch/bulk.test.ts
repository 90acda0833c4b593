import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { asAccountId, asCallUuid } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { micros } from '../../../src/base/money.ts';
import { recoverOpenCalls } from '../../../src/domain/cdr/cdr.ts';
import { BulkQueue } from '../../../src/domain/dispatch/bulk-queue.ts';
import { settle } from '../../sim/clock.ts';
import { openStage, type Stage } from './stage.ts';

let stage: Stage;
afterEach(() => stage.close());

const numbers = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => String(14155550200 + index));

describe('POST Call: several destinations (decisions: 429)', () => {
  beforeEach(async () => {
    stage = await openStage({ cpsLimit: 2, concurrentCallsLimit: 5 });
  });

  it("have separate UUIDs, different from the request's", async () => {
    const { requestUuid, callUuids } = await stage.placed({ to: numbers(3) });
    expect(new Set([requestUuid, ...callUuids]).size).toBe(4);
    expect(stage.live(callUuids[0] ?? asCallUuid('')).facts).toMatchObject({ requestUuid });
    stage.outbound.withdraw(stage.account.authId, requestUuid);
    await stage.finish();
  });

  it('are dialled in order, within the calls per second', async () => {
    await stage.placed({ to: numbers(5) });
    expect(stage.signalling.invites).toHaveLength(2);
    await stage.clock.advance(999);
    expect(stage.signalling.invites).toHaveLength(2);
    await stage.clock.advance(1001);
    expect(stage.signalling.invites.map(({ atMs }) => atMs)).toEqual([0, 0, 1000, 1000, 2000]);
    expect(
      stage.signalling.invites.map(({ target }) => 'number' in target && target.number),
    ).toEqual(numbers(5));
    await stage.finish();
  });

  it('wait while all concurrent calls are in use; each end releases the next', async () => {
    await stage.placed({ to: numbers(7) });
    await stage.clock.advance(10_000);
    expect(stage.signalling.invites).toHaveLength(5);
    expect(stage.outbound.queued(stage.account.authId)).toHaveLength(2);
    await stage.signalling.invites[0]?.ends('refused', 486);
    expect(stage.signalling.invites).toHaveLength(6);
    await stage.signalling.invites[1]?.ends('refused', 486);
    await stage.clock.advance(1000);
    expect(stage.signalling.invites).toHaveLength(7);
    await stage.finish();
  });

  it('follow raised limits immediately', async () => {
    await stage.placed({ to: numbers(5) });
    await stage.accounts.patch(stage.account.authId, { cpsLimit: 50 });
    await stage.clock.advance(1000);
    expect(stage.signalling.invites).toHaveLength(5);
    await stage.finish();
  });

  it('are refused with 429 if the first does not fit', async () => {
    await stage.placed();
    await stage.placed();
    expect(await stage.place({ to: numbers(3) })).toMatchObject({
      ok: false,
      error: { kind: 'cps', limit: 2 },
    });
    expect(stage.outbound.queued(stage.account.authId)).toEqual([]);
    await stage.finish();
  });

  it('dial duplicates twice (dialect §6)', async () => {
    await stage.placed({ to: ['14155550101', '14155550101'] });
    expect(stage.signalling.invites).toHaveLength(2);
    await stage.finish();
  });

  it('end individually when barred or out of credit', async () => {
    const { callUuids } = await stage.placed({ to: ['14155550101', '911', '14155550102'] });
    await stage.clock.advance(3000);
    expect(await stage.cdr(callUuids[1] ?? asCallUuid(''))).toMatchObject({
      hangupCauseCode: 2040,
    });
    expect(stage.signalling.invites).toHaveLength(2);
    await stage.finish();
  });

  it('are listed as queued; a withdrawn one ends as 1020 with a hangup callback', async () => {
    const { callUuids, requestUuid } = await stage.placed({ to: numbers(4) });
    const { authId } = stage.account;
    const [, , third = '', fourth = asCallUuid('')] = callUuids;
    expect(await stage.control.liveCalls(authId, 'queued')).toMatchObject([
      { callUuid: third, requestUuid, status: 'queued', to: numbers(4)[2] },
      { callUuid: fourth },
    ]);
    expect(await stage.control.liveCall(authId, fourth)).toMatchObject({ status: 'queued' });
    expect(await stage.control.hangup(authId, fourth)).toMatchObject({ ok: true });
    expect(await stage.cdr(fourth)).toMatchObject({
      hangupCauseCode: 1020,
      hangupSource: 'API Request',
      cost: 0,
    });
    expect(stage.customer.reported).toMatchObject([
      { parameters: { Event: 'Hangup', CallUUID: fourth, HangupCauseCode: '1020' } },
    ]);
    await stage.clock.advance(5000);
    expect(stage.signalling.invites).toHaveLength(3);
    await stage.finish();
  });

  it('are withdrawn by the request UUID, without affecting other requests', async () => {
    await stage.placed({ to: numbers(2) });
    await stage.clock.advance(1000);
    const second = await stage.placed({ to: numbers(1) });
    const third = await stage.place({ to: numbers(3) });
    if (!third.ok) throw new Error(third.error.kind);
    const { authId } = stage.account;
    expect(
      await stage.control.hangup(asAccountId('MA_SOMEBODYELSE00000'), third.value.requestUuid),
    ).toEqual({
      ok: false,
      error: { kind: 'notFound', what: 'call' },
    });
    expect(await stage.control.hangup(authId, third.value.requestUuid)).toMatchObject({ ok: true });
    expect(stage.outbound.queued(authId)).toEqual([]);
    expect(await stage.control.hangup(authId, third.value.requestUuid)).toMatchObject({
      ok: false,
    });
    expect(stage.live(second.callUuid).isEnded).toBe(false);
    await stage.finish();
  });

  it('end as 1020 if still queued when the service stops', async () => {
    const { callUuids } = await stage.placed({ to: numbers(6) });
    stage.admission.drain();
    expect(await stage.cdr(callUuids[5] ?? asCallUuid(''))).toMatchObject({
      hangupCauseCode: 1020,
      hangupSource: 'Carillon',
    });
    await stage.clock.advance(5000);
    expect(stage.signalling.invites).toHaveLength(2);
    expect(stage.outbound.queued(stage.account.authId)).toEqual([]);
    await stage.finish();
  });
});

describe('POST Call: several destinations and a crash', () => {
  const recover = () => recoverOpenCalls(stage.store.calls, silentLogger);

  beforeEach(async () => {
    stage = await openStage({ cpsLimit: 2, concurrentCallsLimit: 5 });
  });

  it('records accepted, undialled destinations and sends their hangup callback: 1020', async () => {
    const { callUuids, requestUuid } = await stage.placed({ to: numbers(5) });
    expect(stage.signalling.invites).toHaveLength(2);
    const recovered = await recover();
    expect(recovered).toHaveLength(5);
    const cdr = await stage.cdr(callUuids[4] ?? asCallUuid(''));
    expect(cdr).toMatchObject({
      requestUuid,
      to: numbers(5)[4],
      hangupCauseCode: 1020,
      hangupSource: 'Error',
      failureReason: 'the service stopped before the call was dialled',
      answerUs: undefined,
      cost: 0,
    });
    const pending = await stage.store.notifications.listPending(10);
    expect(new Set(pending.map(({ subject }) => subject))).toEqual(new Set(callUuids));
    const causes = recovered.map(({ hangupCauseCode }) => hangupCauseCode).sort();
    expect(causes).toEqual([1020, 1020, 1020, 5010, 5010]);
    expect((await stage.store.ledger.balance(stage.account.authId, 'USD'))?.reservedFunds).toBe(0);
  });

  it('recovers a dialled destination as its call', async () => {
    const { callUuids } = await stage.placed({ to: numbers(3) });
    await stage.clock.advance(1000);
    await stage.signalling.last.answers();
    await stage.clock.advance(10_000);
    await recover();
    expect(await stage.cdr(callUuids[2] ?? asCallUuid(''))).toMatchObject({
      hangupCauseCode: 5010,
      billedMs: 60_000,
    });
  });

  it('recovers no destinations that ended, were withdrawn or were not paid', async () => {
    const { callUuids, requestUuid } = await stage.placed({ to: numbers(4) });
    stage.outbound.withdraw(stage.account.authId, callUuids[3] ?? asCallUuid(''));
    await stage.clock.advance(1000);
    for (const invite of stage.signalling.invites) await invite.ends('refused', 486);
    await settle();
    expect(await recover()).toEqual([]);
    expect(stage.outbound.withdraw(stage.account.authId, requestUuid)).toBe(false);
    await stage.accounts.patch(stage.account.authId, { dailySpendLimit: micros(1) });
    await stage.clock.advance(2000);
    expect(await stage.place({ to: numbers(4) })).toMatchObject({
      ok: false,
      error: { kind: 'dailySpendLimit' },
    });
    await settle();
    expect(await recover()).toEqual([]);
  });

  it('records none of the others if the request is refused after they were stored', async () => {
    const { open } = stage.store.calls;
    Object.assign(stage.store.calls, {
      open: async (...given: Parameters<typeof open>) => {
        const opened = await open(...given);
        stage.admission.pause('Redis is unavailable');
        return opened;
      },
    });
    expect(await stage.place({ to: numbers(4) })).toMatchObject({
      ok: false,
      error: { kind: 'unavailable' },
    });
    await settle();
    expect(await recover()).toEqual([]);
  });

  it('leaves no destination queued if draining begins while a request is accepted', async () => {
    const placing = stage.placed({ to: numbers(4) });
    while ((await stage.admission.running(stage.account.authId)) === 0) await Promise.resolve();
    stage.admission.drain();
    const { callUuids } = await placing;
    expect(stage.outbound.queued(stage.account.authId)).toEqual([]);
    expect(await stage.cdr(callUuids[3] ?? asCallUuid(''))).toMatchObject({
      hangupCauseCode: 1020,
    });
    await stage.finish();
  });
});

describe('the queue of an account', () => {
  const slot = { release: () => undefined, undo: () => undefined };
  const anywhere = { ...slot, target: { kind: 'uri', uri: '' }, waitedMs: 0 } as const;

  it('starts all items that are added after it was cleared', async () => {
    stage = await openStage({ cpsLimit: 1 });
    const { authId } = stage.account;
    const started: string[] = [];
    const queue = new BulkQueue<string>({
      ...stage,
      logger: silentLogger,
      limit: 10,
      prepare: async (item) => ({
        targetSlot: async () => anywhere,
        start: async () => void started.push(item),
      }),
    });
    queue.add(authId, ['withdrawn']);
    // The queue is still reading the account.
    expect(queue.clear()).toEqual(['withdrawn']);
    queue.add(authId, ['first', 'second']);
    await stage.clock.advance(2000);
    expect(started).toEqual(['first', 'second']);
  });

  it('is processed again after the store failed', async () => {
    stage = await openStage();
    const started: string[] = [];
    let failures = 1;
    const queue = new BulkQueue<string>({
      ...stage,
      accounts: {
        get: async (authId) => {
          failures -= 1;
          if (failures >= 0) throw new Error('the store failed');
          return stage.accounts.get(authId);
        },
      },
      logger: silentLogger,
      limit: 10,
      prepare: async (item) => ({
        targetSlot: async () => anywhere,
        start: async () => void started.push(item),
      }),
    });
    queue.add(stage.account.authId, ['first', 'second']);
    await stage.clock.advance(1000);
    expect(started).toEqual(['first', 'second']);
  });

  it('releases the slots of an item that is withdrawn while it waits for its target', async () => {
    stage = await openStage();
    const { authId } = stage.account;
    const started: string[] = [];
    const undone: string[] = [];
    const target = { ...anywhere, undo: () => void undone.push('target') };
    const queue = new BulkQueue<string>({
      ...stage,
      logger: silentLogger,
      limit: 10,
      prepare: async (item) => ({
        targetSlot: async () => {
          queue.remove(authId, (queued) => queued === 'withdrawn');
          return target;
        },
        start: async () => void started.push(item),
      }),
    });
    queue.add(authId, ['withdrawn', 'next']);
    await settle();
    expect([started, undone]).toEqual([['next'], ['target']]);
    expect(await stage.admission.running(authId)).toBe(1);
  });
});

describe('POST Call: several destinations of a node whose calls another node has ended', () => {
  beforeEach(async () => {
    stage = await openStage({ cpsLimit: 2, concurrentCallsLimit: 50 });
  });

  it('are forgotten, without a further record or callback', async () => {
    const { callUuids } = await stage.placed({ to: numbers(5) });
    const reported = stage.customer.reported.length;
    stage.outbound.forget();
    await stage.clock.advance(5000);
    expect(stage.signalling.invites).toHaveLength(2);
    expect(stage.outbound.queued(stage.account.authId)).toEqual([]);
    expect(await stage.store.cdrs.get(callUuids[4] ?? asCallUuid(''))).toBeUndefined();
    expect(stage.customer.reported).toHaveLength(reported);
    await stage.finish();
  });

  it('are forgotten if their request is just being accepted', async () => {
    const placing = stage.placed({ to: numbers(4) });
    while (stage.callBilling.liveCount === 0) await Promise.resolve();
    stage.outbound.forget();
    await placing;
    await stage.clock.advance(5000);
    expect(stage.signalling.invites).toHaveLength(1);
    await stage.finish();
  });

  it('are dialled if their request had not been stored yet', async () => {
    const placing = stage.placed({ to: numbers(4) });
    stage.outbound.forget();
    await placing;
    await stage.clock.advance(5000);
    expect(stage.signalling.invites).toHaveLength(4);
    await stage.finish();
  });

  it('do not stop those of later requests', async () => {
    await stage.provisioning.carriers.patch('north', { cpsLimit: 1 });
    await stage.placed({ to: numbers(5) });
    // The queue waits for the carrier.
    await stage.clock.advance(10);
    stage.outbound.forget();
    const dialled = stage.signalling.invites.length;
    await stage.clock.advance(990);
    await stage.placed({ to: numbers(6) });
    await stage.clock.advance(20_000);
    expect(stage.signalling.invites).toHaveLength(dialled + 6);
    await stage.finish();
  });
});

describe('POST Call: overload', () => {
  it('keeps destinations queued until the overload ends', async () => {
    stage = await openStage({ cpsLimit: 1 });
    await stage.placed({ to: numbers(2) });
    stage.newCalls.limit(0);
    await stage.clock.advance(5000);
    expect(stage.outbound.queued(stage.account.authId)).toHaveLength(1);
    stage.newCalls.limit(undefined);
    await stage.clock.advance(5000);
    expect(stage.outbound.queued(stage.account.authId)).toHaveLength(0);
    await stage.finish();
  });
});

describe('POST Call: limits of the queue', () => {
  it('refuses a request that does not fit into the queue as a whole: 429', async () => {
    stage = await openStage({ cpsLimit: 1 }, { queuePerAccount: 3 });
    await stage.placed({ to: numbers(3) });
    expect(await stage.place({ to: numbers(3) })).toMatchObject({
      ok: false,
      error: { kind: 'queueFull' },
    });
    expect(stage.outbound.queued(stage.account.authId)).toHaveLength(2);
    await stage.finish();
  });

  it('holds for simultaneous requests, and counts a refused one only until its refusal', async () => {
    stage = await openStage({ cpsLimit: 2 }, { queuePerAccount: 3 });
    const both = await Promise.all([
      stage.place({ to: numbers(3) }),
      stage.place({ to: numbers(3) }),
    ]);
    expect(both.map((placed) => placed.ok || placed.error.kind)).toEqual([true, 'queueFull']);
    await stage.clock.advance(5000);
    expect(stage.outbound.queued(stage.account.authId)).toHaveLength(0);
    const { requestUuid } = await stage.placed({ to: numbers(4) });
    stage.outbound.withdraw(stage.account.authId, requestUuid);
    await stage.finish();
  });

  it('does not delay other accounts when one account waits', async () => {
    stage = await openStage({ cpsLimit: 1 });
    await stage.placed({ to: numbers(3) });
    const other = await stage.accounts.create({ name: 'Bob', cpsLimit: 5 });
    if (!other.ok) throw new Error(other.error.kind);
    const { authId } = other.value.account;
    await stage.provisioning.callerIds.verify(authId, '14155550177');
    expect(
      await stage.place({ accountId: authId, from: '14155550177', to: ['sip:a@192.0.2.9'] }),
    ).toMatchObject({ ok: true });
    await settle();
    expect(stage.signalling.invites).toHaveLength(2);
    await stage.finish();
  });

  it('accepts 1000 destinations in one request, and dials all of them', async () => {
    stage = await openStage({ cpsLimit: 500, concurrentCallsLimit: 1000 });
    await stage.provisioning.carriers.patch('north', { cpsLimit: 1000 });
    await stage.ledger.patchBalance(stage.account.authId, 'USD', { creditLimitType: 'soft' });
    const { callUuids } = await stage.placed({ to: numbers(1000) });
    expect(new Set(callUuids).size).toBe(1000);
    await stage.clock.advance(1000);
    expect(stage.signalling.invites).toHaveLength(1000);
    await stage.finish();
  });

  it('waits for a carrier with a free slot instead of failing', async () => {
    stage = await openStage({ cpsLimit: 100, concurrentCallsLimit: 100 });
    await stage.provisioning.carriers.patch('north', { cpsLimit: 2 });
    await stage.placed({ to: numbers(5) });
    expect(stage.signalling.invites).toHaveLength(2);
    await stage.clock.advance(2000);
    expect(stage.signalling.invites.map(({ atMs }) => atMs)).toEqual([0, 0, 1000, 1000, 2000]);
    expect(stage.settled).toEqual([]);
    await stage.finish();
    expect(stage.shares.running('carrier:north')).toBe(0);
  });
});
