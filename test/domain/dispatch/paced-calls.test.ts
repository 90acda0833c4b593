import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/base/errors.ts';
import { newCallUuid } from '../../../src/base/ids.ts';
import { micros } from '../../../src/base/money.ts';
import type { PacedEnd } from '../../../src/domain/dispatch/paced-calls.ts';
import type { PlaceCallsRequest } from '../../../src/domain/dispatch/types.ts';
import { settle } from '../../sim/clock.ts';
import { request } from './participants.ts';
import { ANSWER_URL, CALLED, openStage, type Stage } from './stage.ts';

const STREAM =
  '<Response><Stream keepCallAlive="true" bidirectional="true">wss://bot.test/</Stream></Response>';
const HANGUP = '<Response><Hangup/></Response>';
const CONNECTED_MS = 2000;

let stage: Stage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(async () => {
  await stage.finish();
  await stage.close();
});

const ask = (over: Partial<PlaceCallsRequest> = {}, begin = async () => true) =>
  stage.paced.place(
    {
      callUuid: newCallUuid(stage.random, 0),
      campaignId: 'k1',
      request: { ...request(stage.account, [CALLED]), ...over },
      record: undefined,
    },
    begin,
  );

/** A paced call that was started. */
async function begun(over: Partial<PlaceCallsRequest> = {}): Promise<Promise<PacedEnd>[]> {
  const placed = await ask(over);
  if (!placed.ok) throw new Error(placed.error.kind);
  await settle();
  return [placed.value.ended];
}

/** Starts a paced call that lasts. */
async function started(): Promise<void> {
  const calls = await begun();
  expect(calls).toHaveLength(1);
}

/** Running calls of the account and of the carrier. */
const running = async (): Promise<readonly number[]> => [
  await stage.admission.running(stage.account.authId),
  stage.shares.running('carrier:north'),
];

describe('a campaign call that is not started', () => {
  const NOT_STARTED = async (): Promise<boolean> => false;

  it('counts for no limit of the account and the carrier if its contact has changed', async () => {
    await stage.accounts.patch(stage.account.authId, { cpsLimit: 1 });
    await stage.provisioning.carriers.patch('north', { cpsLimit: 1 });
    expect(await ask({}, NOT_STARTED)).toMatchObject({ error: { kind: 'stale' } });
    expect(await running()).toEqual([0, 0]);
    const failing = () => Promise.reject(new Error('the store failed'));
    await expect(ask({}, failing)).rejects.toThrow('the store failed');
    expect(await running()).toEqual([0, 0]);
    expect(await ask()).toMatchObject({ ok: true });
  });

  it('leaves no slot if the account is suspended between its start and its INVITE', async () => {
    const placed = await ask({}, async () => {
      await stage.accounts.patch(stage.account.authId, { status: 'suspended' });
      return true;
    });
    if (!placed.ok) throw new Error(placed.error.kind);
    expect(await placed.value.ended).toMatchObject({ refused: 'accountInactive' });
    expect(await running()).toEqual([0, 0]);
    expect(stage.signalling.invites).toEqual([]);
  });

  it('uses no slot of the account while the carrier is full', async () => {
    await stage.provisioning.carriers.patch('north', { concurrentCallsLimit: 1 });
    await started();
    const placed = ask();
    await stage.clock.advance(10_000);
    expect(await placed).toEqual({
      ok: false,
      error: { kind: 'full', of: 'carrier', retryAfterMs: 100 },
    });
    expect(await running()).toEqual([1, 1]);
  });

  it('is refused for lack of funds before its start', async () => {
    const { authId: accountId } = stage.account;
    const all = { accountId, currency: 'USD', amount: micros(-9_990_000), description: 'spent' };
    await stage.ledger.adjust(all);
    let isStarted = false;
    const placed = await ask({}, async () => {
      isStarted = true;
      return true;
    });
    expect(placed).toEqual({ ok: false, error: { kind: 'insufficientFunds' } });
    expect(isStarted).toBe(false);
  });

  it('leaves a reserve of the account for other calls', async () => {
    const { authId } = stage.account;
    await stage.accounts.patch(authId, { concurrentCallsLimit: 10, cpsLimit: 100 });
    for (let call = 0; call < 9; call += 1) await started();
    const full = { kind: 'full', of: 'account', retryAfterMs: undefined };
    expect(await ask()).toEqual({ ok: false, error: full });
    expect(await stage.place()).toMatchObject({ ok: true });
    await settle();
  });

  it('leaves a reserve of the calls per second, of which at least one remains', async () => {
    const { authId } = stage.account;
    for (const [cpsLimit, calls] of [
      [10, 9],
      [1, 1],
    ] as const) {
      await stage.accounts.patch(authId, { cpsLimit, concurrentCallsLimit: 100 });
      for (let call = 0; call < calls; call += 1) await started();
      expect(await ask()).toEqual({
        ok: false,
        error: { kind: 'full', of: 'account', retryAfterMs: 1000 },
      });
      await stage.clock.advance(1000);
    }
  });

  it('waits for an overloaded node and for destinations of REST requests', async () => {
    stage.newCalls.limit(0);
    expect(await ask()).toMatchObject({ error: { kind: 'full', retryAfterMs: 1000 } });
    stage.newCalls.limit(undefined);
    await stage.accounts.patch(stage.account.authId, { cpsLimit: 1 });
    const { requestUuid } = await stage.placed({ to: [CALLED, CALLED] });
    await stage.accounts.patch(stage.account.authId, { cpsLimit: 10 });
    expect(await ask()).toEqual({
      ok: false,
      error: { kind: 'full', of: 'account', retryAfterMs: undefined },
    });
    stage.outbound.withdraw(stage.account.authId, requestUuid);
    expect(await ask()).toMatchObject({ ok: true });
  });
});

describe('a campaign call without a free RTP port', () => {
  it('is not started while no port is free', async () => {
    stage.media.portsFree = 0;
    let requested = false;
    const placed = await ask({}, async () => {
      requested = true;
      return true;
    });
    expect(placed).toMatchObject({ ok: false, error: { kind: 'full', of: 'account' } });
    expect(requested).toBe(false);
    expect(stage.signalling.invites).toEqual([]);
  });

  it('is reported as full, without an INVITE, if no port is left after its start', async () => {
    stage.media.failure = new ServiceError('MEDIA_UNAVAILABLE', 'no free RTP port');
    const [ended] = await begun();
    expect(await ended).toMatchObject({ refused: 'full', cdr: { hangupCauseCode: 5030 } });
    expect(stage.signalling.invites).toEqual([]);
    expect(await running()).toEqual([0, 0]);
  });
});

describe('an answered call counts as abandoned', () => {
  const later = async (ms: number, act: () => Promise<void>): Promise<void> => {
    await stage.clock.advance(ms);
    await act();
  };
  const hangsUp = () => stage.signalling.last.ends('bye');
  const answers = () => stage.signalling.last.answers();

  it('without a stream or another party after 2 s', async () => {
    const [ended] = await begun();
    await answers();
    await later(CONNECTED_MS, hangsUp);
    expect(await ended).toMatchObject({ abandoned: true });
  });

  it('but not with a stream that connected in time, even if it has already ended', async () => {
    stage.customer.documents.set(ANSWER_URL, STREAM);
    for (const talksMs of [500, CONNECTED_MS + 1]) {
      const [ended] = await begun();
      await answers();
      stage.sockets.at(-1)?.started();
      await later(talksMs, hangsUp);
      expect(await ended).toMatchObject({ abandoned: false });
    }
  });

  it('with a stream that no bot accepted', async () => {
    stage.customer.documents.set(ANSWER_URL, STREAM);
    const [ended] = await begun();
    await answers();
    await later(CONNECTED_MS, hangsUp);
    expect(await ended).toMatchObject({ abandoned: true });
  });

  it('when the platform hangs up before a connection, but not when the called party does', async () => {
    const [left] = await begun();
    await answers();
    await later(CONNECTED_MS - 1, hangsUp);
    expect((await left)?.abandoned).toBeUndefined();
    stage.customer.documents.set(ANSWER_URL, HANGUP);
    const [dropped] = await begun();
    await answers();
    expect(await dropped).toMatchObject({ abandoned: true });
  });

  it('never after an answering machine or without an answer', async () => {
    const machineDetection = {
      mode: 'hangup',
      callback: undefined,
      totalMs: 5000,
      maximumSpeechMs: 4000,
      initialSilenceMs: 3000,
      maximumWords: 4,
      initialGreetingMs: 1500,
    } as const;
    const [machine] = await begun({ machineDetection });
    await answers();
    await later(CONNECTED_MS + 1, () =>
      stage.media.last.detected({ machine: true, reason: 'words' }),
    );
    const detected = await machine;
    expect(detected?.cdr.machine).toBe(true);
    expect(detected?.abandoned).toBeUndefined();
    const [busy] = await begun();
    await stage.signalling.last.ends('refused', 486);
    expect((await busy)?.abandoned).toBeUndefined();
  });
});
