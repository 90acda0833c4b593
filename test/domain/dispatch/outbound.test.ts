import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/base/errors.ts';
import { micros } from '../../../src/base/money.ts';
import { settle } from '../../sim/clock.ts';
import { SDP } from '../interpreter/scene.ts';
import { ANSWER_URL, CALLED, NOTHING_LEFT, OWN_NUMBER, openStage, type Stage } from './stage.ts';

let stage: Stage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(() => stage.close());

/** Ends what is left, so that everything held is seen to be given back. */
async function finish(): Promise<void> {
  for (const call of stage.keeper.live()) call.hangup('normal', 'API Request');
  await settle();
  expect(await stage.leftovers()).toEqual(NOTHING_LEFT);
}

describe('POST Call: one destination', () => {
  it('request_uuid equals call_uuid (spec: Call request)', async () => {
    const { requestUuid, callUuids } = await stage.placed();
    expect(callUuids).toEqual([requestUuid]);
    await finish();
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
    await finish();
  });

  it('tells ring_url at the first 18x, asks answer_url after the answer, tells hangup_url at the end', async () => {
    const { requestUuid } = await stage.placed();
    await stage.signalling.last.rings();
    await stage.signalling.last.rings();
    expect(stage.customer.told).toMatchObject([
      {
        url: 'https://app.test/ring',
        parameters: {
          Event: 'Ring',
          From: OWN_NUMBER,
          To: CALLED,
          CallUUID: requestUuid,
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
    expect(await stage.cdr(requestUuid)).toMatchObject({
      direction: 'outbound',
      context: 'voice-api',
      hangupCauseName: 'Normal Hangup',
      hangupSource: 'Callee',
      hangupDisposition: 'recv_bye',
      carrier: 'north',
      billedSeconds: 60,
      cost: 60_000,
    });
    await finish();
  });

  it('holds the price of the first pulse from acceptance on, and gives it back when nobody answers', async () => {
    const { requestUuid } = await stage.placed();
    const held = await stage.ledger.balance(stage.account.authId, 'USD');
    expect(held).toMatchObject({ value: { reservedFunds: 60_000 } });
    await stage.signalling.last.ends('refused', 486);
    expect(await stage.cdr(requestUuid)).toMatchObject({ cost: 0, hangupCauseCode: 3010 });
    expect(await stage.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('without audio ports the call ends as Internal Error, and says why', async () => {
    stage.media.failure = new ServiceError('MEDIA_NO_PORTS', 'no RTP ports are left');
    const { requestUuid } = await stage.placed();
    expect(await stage.cdr(requestUuid)).toMatchObject({
      hangupCauseCode: 5010,
      failureReason: 'no RTP ports are left',
    });
    expect(stage.errors).toHaveLength(1);
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
      pulseSeconds: 60,
      currency: 'USD',
      accountId: undefined,
    });
    expect(await stage.place()).toEqual({ ok: false, error: { kind: 'insufficientFunds' } });
    expect(stage.settled).toEqual([]);
    expect(await stage.leftovers()).toEqual(NOTHING_LEFT);
  });

  it("402 beyond the account's daily spend limit; its customer hears of no call", async () => {
    await stage.accounts.patch(stage.account.authId, { dailySpendLimit: micros(100_000) });
    await stage.placed();
    expect(await stage.place()).toEqual({ ok: false, error: { kind: 'dailySpendLimit' } });
    await settle();
    expect(stage.settled).toMatchObject([{ hangupCauseCode: 1010 }]);
    expect(stage.customer.told).toEqual([]);
    await finish();
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
    await finish();
  });

  it('429 while all concurrent calls are in use; the end of one makes room', async () => {
    await stage.accounts.patch(stage.account.authId, { concurrentCallsLimit: 1 });
    await stage.placed();
    expect(await stage.place()).toMatchObject({
      ok: false,
      error: { kind: 'concurrency', limit: 1 },
    });
    await stage.signalling.last.ends('refused', 486);
    expect(await stage.place()).toMatchObject({ ok: true });
    await settle();
    await finish();
  });

  it('an account that is suspended places nothing', async () => {
    await stage.accounts.patch(stage.account.authId, { status: 'suspended' });
    expect(await stage.place()).toEqual({ ok: false, error: { kind: 'accountInactive' } });
  });

  it('while the service drains nothing is accepted', async () => {
    stage.admission.drain();
    expect(await stage.place()).toMatchObject({ ok: false, error: { kind: 'unavailable' } });
  });
});

describe('POST Call: destinations that are not dialled end with a cause', () => {
  const failsWith = async (to: string, over: Parameters<Stage['placed']>[0] = {}) => {
    const { requestUuid } = await stage.placed({ to: [to], ...over });
    expect(stage.signalling.invites).toHaveLength(0);
    const cdr = await stage.cdr(requestUuid);
    expect(await stage.leftovers()).toEqual(NOTHING_LEFT);
    expect(stage.customer.events()).toEqual(['Hangup']);
    return cdr;
  };

  it('a foreign caller id: 3030 Unknown Caller ID (decisions: caller id ownership)', async () => {
    expect(await failsWith(CALLED, { from: '14155550177' })).toMatchObject({
      hangupCauseCode: 3030,
      hangupCauseName: 'Unknown Caller ID',
      hangupDisposition: 'send_refuse',
      failureReason: '14155550177 is no caller id of this account',
    });
  });

  it('a registered endpoint: 2020 Endpoint Not Registered, even while registered (spec rule 4)', async () => {
    stage.signalling.registered.add('alice');
    expect(await failsWith('sip:alice@voice.test:5060;transport=udp')).toMatchObject({
      hangupCauseCode: 2020,
    });
  });

  it('a barred prefix, number and country: 2050, 2040, 2030 (dialect §3.12)', async () => {
    const { authId } = stage.account;
    await stage.accounts.patch(authId, {
      barredPrefixes: ['1876', '14155550102'],
      barredCountries: ['GB'],
    });
    expect(await failsWith('18765550100')).toMatchObject({ hangupCauseCode: 2050 });
    stage.customer.told.length = 0;
    expect(await failsWith('14155550102')).toMatchObject({ hangupCauseCode: 2040 });
    stage.customer.told.length = 0;
    expect(await failsWith('442079460000')).toMatchObject({ hangupCauseCode: 2030 });
  });

  it('emergency, short and premium-rate numbers: 2040, whatever the account', async () => {
    expect(await failsWith('911')).toMatchObject({ hangupCauseCode: 2040 });
    stage.customer.told.length = 0;
    expect(await failsWith('19005550100')).toMatchObject({ hangupCauseCode: 2040 });
  });

  it('digits that are no number anywhere: 2000', async () => {
    expect(await failsWith('999123456789')).toMatchObject({ hangupCauseCode: 2000 });
  });

  it('no carrier for it, or no price: 5020, and which of the two', async () => {
    await stage.provisioning.carriers.patch('north', { prefixes: ['44'] });
    expect(await failsWith(CALLED)).toMatchObject({
      hangupCauseCode: 5020,
      failureReason: `no carrier takes calls to ${CALLED}`,
    });
    await stage.close();
    stage = await openStage({ currency: 'EUR' });
    expect(await failsWith(CALLED)).toMatchObject({
      hangupCauseCode: 5020,
      failureReason: `calls to ${CALLED} have no price in EUR`,
    });
  });
});

describe('POST Call: where it goes', () => {
  it('national numbers are completed by the country of the account', async () => {
    const { requestUuid } = await stage.placed({ to: ['4155550101'], from: '4155550100' });
    expect(stage.signalling.last.target).toMatchObject({ number: CALLED });
    expect(stage.live(requestUuid).facts).toMatchObject({ from: OWN_NUMBER, to: CALLED });
    await finish();
  });

  it('special numbers that the operator allows are dialled as they are', async () => {
    await stage.close();
    stage = await openStage({}, { allowSpecial: ['933'] });
    await stage.placed({ to: ['933'] });
    expect(stage.signalling.last.target).toMatchObject({ kind: 'carrier', number: '933' });
    await finish();
  });

  it('SIP addresses elsewhere are called as such', async () => {
    await stage.placed({ to: ['sip:bob@192.0.2.77:5070;transport=tcp'] });
    expect(stage.signalling.last.target).toEqual({
      kind: 'uri',
      uri: 'sip:bob@192.0.2.77:5070;transport=tcp',
    });
    await finish();
  });

  it('a 503 leads to the next carrier, a 486 to none', async () => {
    await stage.provisioning.carriers.create({ name: 'south', host: '192.0.2.11', priority: 2 });
    const first = await stage.placed();
    await stage.signalling.last.ends('refused', 503);
    expect(stage.signalling.invites.map(({ target }) => target)).toMatchObject([
      { carrier: 'north' },
      { carrier: 'south' },
    ]);
    await stage.signalling.last.ends('refused', 486);
    expect(stage.signalling.invites).toHaveLength(2);
    expect(await stage.cdr(first.requestUuid)).toMatchObject({
      hangupCauseCode: 3010,
      carrier: 'south',
    });
  });

  it('a carrier that is full is passed over; with none left the call ends as 5020', async () => {
    await stage.provisioning.carriers.patch('north', { concurrentCallsLimit: 1 });
    await stage.placed();
    const second = await stage.placed();
    expect(stage.signalling.invites).toHaveLength(1);
    expect(await stage.cdr(second.requestUuid)).toMatchObject({
      hangupCauseCode: 5020,
      failureReason: 'carrier north is at its limit: concurrency',
    });
    await stage.signalling.last.ends('refused', 486);
    await stage.placed();
    expect(stage.signalling.invites).toHaveLength(2);
    await finish();
  });
});

describe('POST Call: times and digits', () => {
  it('ring_timeout: 6010 when nobody has answered by then', async () => {
    const { requestUuid } = await stage.placed({ ringTimeoutS: 20 });
    await stage.signalling.last.rings();
    await stage.clock.advance(19_999);
    expect(stage.signalling.last.hungUpWith).toBeUndefined();
    await stage.clock.advance(1);
    expect(stage.signalling.last.hungUpWith).toBe('ringTimeout');
    expect(await stage.cdr(requestUuid)).toMatchObject({
      hangupCauseCode: 6010,
      hangupSource: 'Carillon',
      hangupDisposition: 'send_cancel',
    });
    await finish();
  });

  it('hangup_on_ring counts from the first 18x, not from the INVITE', async () => {
    const { requestUuid } = await stage.placed({ hangupOnRingS: 10 });
    await stage.clock.advance(30_000);
    await stage.signalling.last.rings();
    await stage.clock.advance(5000);
    await stage.signalling.last.rings();
    await stage.clock.advance(4999);
    expect(stage.signalling.last.hungUpWith).toBeUndefined();
    await stage.clock.advance(1);
    expect(await stage.cdr(requestUuid)).toMatchObject({ hangupCauseCode: 6010 });
    await finish();
  });

  it('neither ends a call that was answered in time', async () => {
    await stage.placed({ hangupOnRingS: 10, ringTimeoutS: 10 });
    await stage.signalling.last.rings();
    await stage.clock.advance(5000);
    await stage.signalling.last.answers();
    await stage.clock.advance(20_000);
    expect(stage.signalling.last.hungUpWith).toBeUndefined();
    await finish();
  });

  it('time_limit counts from the answer: 6000 Scheduled Hangup', async () => {
    const { requestUuid } = await stage.placed({ timeLimitS: 30 });
    await stage.clock.advance(10_000);
    await stage.signalling.last.answers();
    await stage.clock.advance(29_999);
    expect(stage.signalling.last.hungUpWith).toBeUndefined();
    await stage.clock.advance(1);
    expect(await stage.cdr(requestUuid)).toMatchObject({
      hangupCauseCode: 6000,
      hangupDisposition: 'send_bye',
    });
    await finish();
  });

  it('send_digits go out after connect, with the tone length asked for', async () => {
    await stage.placed({ sendDigits: { digits: '1w2W3', toneMs: 200 } });
    await stage.signalling.last.rings(SDP);
    expect(stage.media.last.digits).toEqual([]);
    await stage.signalling.last.answers();
    expect(stage.media.last).toMatchObject({ digits: ['1w2W3'], toneMs: [200] });
    await finish();
  });

  it('send_on_preanswer: once, at early media', async () => {
    await stage.placed({ sendDigits: { digits: '12', toneMs: 160 }, sendOnPreanswer: true });
    await stage.signalling.last.rings(SDP);
    expect(stage.media.last.digits).toEqual(['12']);
    await stage.signalling.last.answers();
    expect(stage.media.last.digits).toEqual(['12']);
    await finish();
  });
});

describe('POST Call: Idempotency-Key', () => {
  it('the same request again answers the first one, and calls nobody twice', async () => {
    const first = await stage.placed({ idempotencyKey: 'k1' });
    expect(await stage.placed({ idempotencyKey: 'k1' })).toEqual(first);
    expect(stage.signalling.invites).toHaveLength(1);
    await finish();
  });

  it('also while the first one is being worked on', async () => {
    const [first, second] = await Promise.all([
      stage.place({ idempotencyKey: 'k1' }),
      stage.place({ idempotencyKey: 'k1' }),
    ]);
    await settle();
    expect(second).toEqual(first);
    expect(stage.signalling.invites).toHaveLength(1);
    await finish();
  });

  it('another request under the same key is refused', async () => {
    await stage.placed({ idempotencyKey: 'k1' });
    expect(await stage.place({ idempotencyKey: 'k1', to: ['14155550155'] })).toEqual({
      ok: false,
      error: { kind: 'idempotencyConflict' },
    });
    await finish();
  });

  it('a refusal frees the key', async () => {
    await stage.accounts.patch(stage.account.authId, { concurrentCallsLimit: 1 });
    await stage.placed();
    expect(await stage.place({ idempotencyKey: 'k1' })).toMatchObject({ ok: false });
    await stage.signalling.last.ends('refused', 486);
    expect(await stage.place({ idempotencyKey: 'k1' })).toMatchObject({ ok: true });
    await settle();
    await finish();
  });
});
