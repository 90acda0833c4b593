import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ServiceError } from '../../../src/base/errors.ts';
import { micros } from '../../../src/base/money.ts';
import type { LegEnd, PeerAtEnd } from '../../../src/domain/call/needs.ts';
import type { NewEntry } from '../../../src/domain/ledger/types.ts';
import { settle } from '../../sim/clock.ts';
import { SDP } from '../interpreter/scene.ts';
import type { Invite } from './fakes.ts';
import { ANSWER_URL, CALLED, NOTHING_LEFT, OWN_NUMBER, openStage, type Stage } from './stage.ts';

let stage: Stage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(() => stage.close());

describe('POST Call: one destination', () => {
  it('request_uuid equals call_uuid (spec: Call request)', async () => {
    const { requestUuid, callUuids } = await stage.placed();
    expect(callUuids).toEqual([requestUuid]);
    await stage.finish();
  });

  it('sends the INVITE to the carrier at once, with the caller id, caller name and X-VH headers', async () => {
    await stage.placed({
      callerName: 'Ada',
      sipHeaders: [
        ['Tenant', '7'],
        ['Plivo-X', '1'],
      ],
    });
    expect(stage.signalling.last).toMatchObject({
      target: { kind: 'carrier', carrier: 'north', number: CALLED },
      options: { from: { user: OWN_NUMBER, displayName: 'Ada' }, headers: [['X-VH-Tenant', '7']] },
    });
    await stage.finish();
  });

  it('tells ring_url at the first 18x, asks answer_url after the answer, tells hangup_url at the end', async () => {
    const { callUuid, requestUuid } = await stage.placed();
    await stage.signalling.last.rings();
    await stage.signalling.last.rings();
    expect(stage.customer.told).toMatchObject([
      {
        url: 'https://app.test/ring',
        parameters: {
          Event: 'Ring',
          From: OWN_NUMBER,
          To: CALLED,
          CallUUID: callUuid,
          RequestUUID: requestUuid,
          ALegRequestUUID: requestUuid,
          Direction: 'outbound',
          CallStatus: 'ringing',
        },
      },
    ]);
    expect(stage.customer.asked).toEqual([]);
    await stage.signalling.last.answers();
    expect(stage.customer.asked).toMatchObject([
      { url: ANSWER_URL, parameters: { Event: 'StartApp', CallStatus: 'in-progress' } },
    ]);
    await stage.clock.advance(5000);
    await stage.signalling.last.ends('bye');
    expect(stage.customer.events()).toEqual(['Ring', 'Hangup']);
    expect(await stage.cdr(callUuid)).toMatchObject({
      direction: 'outbound',
      context: 'voice-api',
      hangupCauseName: 'Normal Hangup',
      hangupSource: 'Callee',
      hangupDisposition: 'recv_bye',
      carrier: 'north',
      billedMs: 60_000,
      cost: 60_000,
    });
    await stage.finish();
  });

  it('holds the price of the first pulse from acceptance on, and gives it back when nobody answers', async () => {
    const { callUuid } = await stage.placed();
    const held = await stage.ledger.balance(stage.account.authId, 'USD');
    expect(held).toMatchObject({ value: { reservedFunds: 60_000 } });
    await stage.signalling.last.ends('refused', 486);
    expect(await stage.cdr(callUuid)).toMatchObject({ cost: 0, hangupCauseCode: 3010 });
    expect(await stage.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('without audio ports the call ends as 5030, and says why', async () => {
    stage.media.failure = new ServiceError('MEDIA_NO_PORTS', 'no RTP ports are left');
    const { callUuid } = await stage.placed();
    expect(await stage.cdr(callUuid)).toMatchObject({
      hangupCauseCode: 5030,
      failureReason: 'no RTP ports are left',
    });
    expect(await stage.leftovers()).toEqual(NOTHING_LEFT);
  });
});

describe('POST Call: what is refused at once', () => {
  it('402 when the balance does not cover the first pulse; nothing is recorded', async () => {
    await stage.close();
    stage = await openStage();
    stage.ledger.rateBook.put({
      direction: 'outbound',
      prefix: '1415',
      perMinute: micros(10_000_001),
      pulseMs: 60_000,
      currency: 'USD',
      accountId: undefined,
    });
    expect(await stage.place()).toEqual({ ok: false, error: { kind: 'insufficientFunds' } });
    expect(stage.settled).toEqual([]);
    expect(await stage.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('402 comes before the caller ID: an account without funds is not told whose the number is', async () => {
    const { authId } = stage.account;
    const taken = { accountId: authId, currency: 'USD', type: 'debit', amount: micros(10_000_000) };
    const entry = { ...taken, description: 'Spent', reference: undefined, referenceType: 'x' };
    await stage.store.ledger.post([entry as NewEntry], { checked: false });
    await stage.store.ledger.patchBalance(authId, 'USD', { creditLimit: micros(5_000_000) });
    const refused = { ok: false, error: { kind: 'insufficientFunds' } };
    expect(await stage.place({ from: '14155550999' })).toEqual(refused);
    await stage.store.ledger.patchBalance(authId, 'USD', { isPostpaid: true });
    const { callUuid } = await stage.placed({ from: '14155550999' });
    expect(await stage.cdr(callUuid)).toMatchObject({ hangupCauseCode: 3030 });
    expect(await stage.leftovers()).toEqual(NOTHING_LEFT);
  });

  it("402 beyond the account's daily spend limit; its customer hears of no call", async () => {
    await stage.accounts.patch(stage.account.authId, { dailySpendLimit: micros(100_000) });
    await stage.placed();
    expect(await stage.place()).toEqual({ ok: false, error: { kind: 'dailySpendLimit' } });
    await settle();
    expect(stage.settled).toMatchObject([{ hangupCauseCode: 1010 }]);
    expect(stage.customer.told).toEqual([]);
    await stage.finish();
  });

  it('429 with Retry-After while the calls per second are used up (decisions: 429)', async () => {
    await stage.accounts.patch(stage.account.authId, { cpsLimit: 2 });
    await stage.placed();
    await stage.clock.advance(400);
    await stage.placed();
    expect(await stage.place()).toEqual({
      ok: false,
      error: { kind: 'cps', limit: 2, retryAfterMs: 600 },
    });
    await stage.clock.advance(600);
    expect(await stage.place()).toMatchObject({ ok: true });
    await settle();
    await stage.finish();
  });

  it('429 while all concurrent calls are in use; the end of one makes way', async () => {
    await stage.accounts.patch(stage.account.authId, { concurrentCallsLimit: 1 });
    await stage.placed();
    expect(await stage.place()).toMatchObject({
      ok: false,
      error: { kind: 'concurrency', limit: 1 },
    });
    await stage.signalling.last.ends('refused', 486);
    expect(await stage.place()).toMatchObject({ ok: true });
    await settle();
    await stage.finish();
  });

  it('an account that is suspended places nothing', async () => {
    await stage.accounts.patch(stage.account.authId, { status: 'suspended' });
    expect(await stage.place()).toEqual({ ok: false, error: { kind: 'accountInactive' } });
  });

  it('while the service drains nothing is accepted', async () => {
    stage.admission.drain();
    expect(await stage.place()).toMatchObject({ ok: false, error: { kind: 'unavailable' } });
  });

  it('while the store takes no writes nothing is accepted, and afterwards it is', async () => {
    stage.admission.pause('the disk is full');
    expect(await stage.place()).toMatchObject({ ok: false, error: { kind: 'unavailable' } });
    stage.admission.pause(undefined);
    expect(await stage.place()).toMatchObject({ ok: true });
  });

  it('a store that refuses the call refuses the request, and leaves no record', async () => {
    const { store } = stage;
    const refusing = vi
      .spyOn(store.calls, 'open')
      .mockRejectedValueOnce(new ServiceError('STORE_FULL', 'the disk is full'));
    expect(await stage.place()).toMatchObject({ ok: false, error: { kind: 'unavailable' } });
    refusing.mockRestore();
    await stage.keeper.idle();
    const { authId: accountId } = stage.account;
    expect(await store.cdrs.walk({ accountId }, undefined, 1)).toEqual([]);
    expect(await store.calls.listOpen()).toEqual([]);
  });

  it('while the node is overloaded nothing is accepted; afterwards it is again', async () => {
    stage.newCalls.limit(0);
    expect(await stage.place()).toEqual({
      ok: false,
      error: { kind: 'unavailable', retryAfterMs: 5000 },
    });
    stage.newCalls.limit(undefined);
    expect(await stage.place()).toMatchObject({ ok: true });
    await settle();
    await stage.finish();
  });
});

describe('POST Call: times and digits', () => {
  it('ring_timeout: 6010 when nobody has answered by then', async () => {
    const { callUuid } = await stage.placed({ ringTimeoutMs: 20_000 });
    await stage.signalling.last.rings();
    await stage.clock.advance(19_999);
    expect(stage.signalling.last.hungUpWith).toBeUndefined();
    await stage.clock.advance(1);
    expect(stage.signalling.last.hungUpWith).toBe('ringTimeout');
    expect(await stage.cdr(callUuid)).toMatchObject({
      hangupCauseCode: 6010,
      hangupSource: 'Carillon',
      hangupDisposition: 'send_cancel',
    });
    await stage.finish();
  });

  it('hangup_on_ring counts from the first 18x, not from the INVITE', async () => {
    const { callUuid } = await stage.placed({ hangupOnRingMs: 10_000 });
    await stage.clock.advance(30_000);
    await stage.signalling.last.rings();
    await stage.clock.advance(5000);
    await stage.signalling.last.rings();
    await stage.clock.advance(4999);
    expect(stage.signalling.last.hungUpWith).toBeUndefined();
    await stage.clock.advance(1);
    expect(await stage.cdr(callUuid)).toMatchObject({ hangupCauseCode: 6010 });
    await stage.finish();
  });

  it('neither ends a call that was answered in time', async () => {
    await stage.placed({ hangupOnRingMs: 10_000, ringTimeoutMs: 10_000 });
    await stage.signalling.last.rings();
    await stage.clock.advance(5000);
    await stage.signalling.last.answers();
    await stage.clock.advance(20_000);
    expect(stage.signalling.last.hungUpWith).toBeUndefined();
    await stage.finish();
  });

  it('time_limit counts from the answer: 6000 Scheduled Hangup', async () => {
    const { callUuid } = await stage.placed({ timeLimitMs: 30_000 });
    await stage.clock.advance(10_000);
    await stage.signalling.last.answers();
    await stage.clock.advance(29_999);
    expect(stage.signalling.last.hungUpWith).toBeUndefined();
    await stage.clock.advance(1);
    expect(await stage.cdr(callUuid)).toMatchObject({
      hangupCauseCode: 6000,
      hangupDisposition: 'send_bye',
    });
    await stage.finish();
  });

  it('send_digits go out after connect, with the tone length asked for', async () => {
    await stage.placed({ sendDigits: { digits: '1w2W3', toneMs: 200 } });
    await stage.signalling.last.rings(SDP);
    expect(stage.media.last.digits).toEqual([]);
    await stage.signalling.last.answers();
    expect(stage.media.last).toMatchObject({ digits: ['1w2W3'], toneMs: [200] });
    await stage.finish();
  });

  it('send_on_preanswer: once, at early media', async () => {
    await stage.placed({ sendDigits: { digits: '12', toneMs: 160 }, sendOnPreanswer: true });
    await stage.signalling.last.rings(SDP);
    expect(stage.media.last.digits).toEqual(['12']);
    await stage.signalling.last.answers();
    expect(stage.media.last.digits).toEqual(['12']);
    await stage.finish();
  });
});

describe('POST Call: Idempotency-Key', () => {
  it('the same request again answers the first one, and calls nobody twice', async () => {
    const first = await stage.placed({ idempotencyKey: 'k1' });
    expect(await stage.placed({ idempotencyKey: 'k1' })).toEqual(first);
    expect(stage.signalling.invites).toHaveLength(1);
    await stage.finish();
  });

  it('also while the first one is being worked on', async () => {
    const [first, second] = await Promise.all([
      stage.place({ idempotencyKey: 'k1' }),
      stage.place({ idempotencyKey: 'k1' }),
    ]);
    await settle();
    expect(second).toEqual(first);
    expect(stage.signalling.invites).toHaveLength(1);
    await stage.finish();
  });

  it('another request under the same key is refused', async () => {
    await stage.placed({ idempotencyKey: 'k1' });
    expect(await stage.place({ idempotencyKey: 'k1', to: ['14155550155'] })).toEqual({
      ok: false,
      error: { kind: 'idempotencyConflict' },
    });
    await stage.finish();
  });

  it('a refusal frees the key', async () => {
    await stage.accounts.patch(stage.account.authId, { concurrentCallsLimit: 1 });
    await stage.placed();
    expect(await stage.place({ idempotencyKey: 'k1' })).toMatchObject({ ok: false });
    await stage.signalling.last.ends('refused', 486);
    expect(await stage.place({ idempotencyKey: 'k1' })).toMatchObject({ ok: true });
    await settle();
    await stage.finish();
  });
});

describe('the ports of a call that was not answered', () => {
  const atEnd = async (end: (invite: Invite) => Promise<void>, carriers = 1) => {
    if (carriers > 1)
      await stage.provisioning.carriers.create({ name: 'two', host: 'two.test', priority: 2 });
    await stage.placed();
    await end(stage.signalling.last);
    await stage.finish();
    return stage.media.last.peerAtEnd;
  };

  it.each<[string, (invite: Invite) => Promise<void>, PeerAtEnd]>([
    ['refused', (invite) => invite.ends('refused', 486), 'refused'],
    ['declined by a carrier', (invite) => invite.ends('refused', 603), 'refused'],
    ['never sent', (invite) => invite.ends('unreachable'), 'refused'],
    ['without a response', (invite) => invite.ends('timeout'), 'offered'],
    ['withdrawn', (invite) => invite.rings(), 'offered'],
    ['with early media', (invite) => early(invite), 'known'],
    ['answered without audio', (invite) => invite.answersWithoutSdp(), 'known'],
    ['answered', (invite) => invite.answers(), 'known'],
  ])('%s', async (_, end, peer) => {
    expect(await atEnd(end)).toBe(peer);
  });

  it.each<[string, LegEnd['how'], PeerAtEnd]>([
    ['all of whose carriers refused', 'refused', 'refused'],
    ['one of whose carriers said nothing', 'timeout', 'offered'],
  ])('%s', async (_, how, peer) => {
    const end = async (invite: Invite) => {
      await invite.ends(how, how === 'refused' ? 503 : undefined);
      await stage.signalling.last.ends('refused', 486);
    };
    expect(await atEnd(end, 2)).toBe(peer);
  });

  async function early(invite: Invite): Promise<void> {
    await invite.rings(SDP);
    await invite.ends('refused', 486);
  }
});
