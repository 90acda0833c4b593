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

describe('early media', () => {
  it('of a later early dialog replaces that of the first, each once (a proxy forks the INVITE)', async () => {
    await stage.placed();
    const [leg] = stage.media.legs;
    if (leg === undefined) throw new Error('no leg');
    const configured = vi.spyOn(leg, 'configure');
    const second = SDP.replaceAll('192.0.2.1', '192.0.2.2');
    for (const sdp of [SDP, second, SDP, second]) await stage.signalling.last.rings(sdp);
    const addresses = configured.mock.calls.map(([session]) => session?.address);
    expect(addresses).toEqual(['192.0.2.1', '192.0.2.2']);
    await stage.signalling.last.answers();
    await stage.finish();
  });
});

describe('POST Call: one destination', () => {
  it('request_uuid equals call_uuid (spec: Call request)', async () => {
    const { requestUuid, callUuids } = await stage.placed();
    expect(callUuids).toEqual([requestUuid]);
    await stage.finish();
  });

  it('sends the INVITE to the carrier immediately, with caller ID, caller name and X-VH headers', async () => {
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

  it('notifies ring_url at the first 18x, requests answer_url after the answer, notifies hangup_url at the end', async () => {
    const { callUuid, requestUuid } = await stage.placed();
    await stage.signalling.last.rings();
    await stage.signalling.last.rings();
    expect(stage.customer.reported).toMatchObject([
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
    expect(stage.customer.requested).toEqual([]);
    await stage.signalling.last.answers();
    expect(stage.customer.requested).toMatchObject([
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

  it('reserves the price of the first pulse at acceptance, and releases it without an answer', async () => {
    const { callUuid } = await stage.placed();
    const held = await stage.ledger.balance(stage.account.authId, 'USD');
    expect(held).toMatchObject({ value: { reservedFunds: 60_000 } });
    await stage.signalling.last.ends('refused', 486);
    expect(await stage.cdr(callUuid)).toMatchObject({ cost: 0, hangupCauseCode: 3010 });
    expect(await stage.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('ends as 5030 with the reason if no audio port is free', async () => {
    stage.media.failure = new ServiceError('MEDIA_NO_PORTS', 'no RTP ports are left');
    const { callUuid } = await stage.placed();
    expect(await stage.cdr(callUuid)).toMatchObject({
      hangupCauseCode: 5030,
      failureReason: 'no RTP ports are left',
    });
    expect(await stage.leftovers()).toEqual(NOTHING_LEFT);
  });
});

describe('POST Call: immediate refusals', () => {
  it('402 when the balance does not cover the first pulse; no record is created', async () => {
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

  it('402 before the caller ID check, so that an account without funds cannot probe number ownership', async () => {
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

  it("402 beyond the account's daily spend limit, without a callback", async () => {
    await stage.accounts.patch(stage.account.authId, { dailySpendLimit: micros(100_000) });
    await stage.placed();
    expect(await stage.place()).toEqual({ ok: false, error: { kind: 'dailySpendLimit' } });
    await settle();
    expect(stage.settled).toMatchObject([{ hangupCauseCode: 1010 }]);
    expect(stage.customer.reported).toEqual([]);
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

  it('429 while all concurrent calls are in use; the end of one frees a slot', async () => {
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

  it('a suspended account', async () => {
    await stage.accounts.patch(stage.account.authId, { status: 'suspended' });
    expect(await stage.place()).toEqual({ ok: false, error: { kind: 'accountInactive' } });
  });

  it('while the service drains', async () => {
    stage.admission.drain();
    expect(await stage.place()).toMatchObject({ ok: false, error: { kind: 'unavailable' } });
  });

  it('while the store rejects writes', async () => {
    stage.admission.pause('the disk is full');
    expect(await stage.place()).toMatchObject({ ok: false, error: { kind: 'unavailable' } });
    stage.admission.pause(undefined);
    expect(await stage.place()).toMatchObject({ ok: true });
  });

  it('refuses the request without a record if the store refuses the call', async () => {
    const { store } = stage;
    const refusing = vi
      .spyOn(store.calls, 'open')
      .mockRejectedValueOnce(new ServiceError('STORE_FULL', 'the disk is full'));
    expect(await stage.place()).toMatchObject({ ok: false, error: { kind: 'unavailable' } });
    refusing.mockRestore();
    await stage.callBilling.idle();
    const { authId: accountId } = stage.account;
    expect(await store.cdrs.walk({ accountId }, undefined, 1)).toEqual([]);
    expect(await store.calls.listOpen()).toEqual([]);
  });

  it('while the node is overloaded', async () => {
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
  it('ring_timeout: 6010 without an answer in time', async () => {
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

  it('ring_timeout and hangup_on_ring do not end a call answered in time', async () => {
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

  it('send_digits are sent after the answer, with the requested tone length', async () => {
    await stage.placed({ sendDigits: { digits: '1w2W3', toneMs: 200 } });
    await stage.signalling.last.rings(SDP);
    expect(stage.media.last.digits).toEqual([]);
    await stage.signalling.last.answers();
    expect(stage.media.last).toMatchObject({ digits: ['1w2W3'], toneMs: [200] });
    await stage.finish();
  });

  it('send_on_preanswer sends the digits once, at early media', async () => {
    await stage.placed({ sendDigits: { digits: '12', toneMs: 160 }, sendOnPreanswer: true });
    await stage.signalling.last.rings(SDP);
    expect(stage.media.last.digits).toEqual(['12']);
    await stage.signalling.last.answers();
    expect(stage.media.last.digits).toEqual(['12']);
    await stage.finish();
  });
});

describe('POST Call: Idempotency-Key', () => {
  it('returns the first result for a repeated request, without another call', async () => {
    const first = await stage.placed({ idempotencyKey: 'k1' });
    expect(await stage.placed({ idempotencyKey: 'k1' })).toEqual(first);
    expect(stage.signalling.invites).toHaveLength(1);
    await stage.finish();
  });

  it('also while the first request is in progress', async () => {
    const [first, second] = await Promise.all([
      stage.place({ idempotencyKey: 'k1' }),
      stage.place({ idempotencyKey: 'k1' }),
    ]);
    await settle();
    expect(second).toEqual(first);
    expect(stage.signalling.invites).toHaveLength(1);
    await stage.finish();
  });

  it('refuses another request with the same key', async () => {
    await stage.placed({ idempotencyKey: 'k1' });
    expect(await stage.place({ idempotencyKey: 'k1', to: ['14155550155'] })).toEqual({
      ok: false,
      error: { kind: 'idempotencyConflict' },
    });
    await stage.finish();
  });

  it('a refusal releases the key', async () => {
    await stage.accounts.patch(stage.account.authId, { concurrentCallsLimit: 1 });
    await stage.placed();
    expect(await stage.place({ idempotencyKey: 'k1' })).toMatchObject({ ok: false });
    await stage.signalling.last.ends('refused', 486);
    expect(await stage.place({ idempotencyKey: 'k1' })).toMatchObject({ ok: true });
    await settle();
    await stage.finish();
  });
});

describe('port quarantine after an unanswered call', () => {
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
    ['refused by all carriers', 'refused', 'refused'],
    ['without a response from one carrier', 'timeout', 'offered'],
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
