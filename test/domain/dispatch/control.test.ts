import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AccountId, asAccountId } from '../../../src/base/ids.ts';
import { ok, type Result } from '../../../src/base/result.ts';
import type { Call } from '../../../src/domain/call/call.ts';
import { settle } from '../../sim/clock.ts';
import { ANSWER_URL, OWN_NUMBER, openStage, type Stage } from './stage.ts';

const STRANGER = asAccountId('MA_SOMEBODYELSE00000');
const NOT_FOUND = { ok: false, error: { kind: 'notFound', what: 'call' } };

let stage: Stage;
let account: AccountId;
beforeEach(async () => {
  stage = await openStage();
  account = stage.account.authId;
});
afterEach(() => stage.close());

async function answered(xml = '<Wait length="3600"/>'): Promise<Call> {
  stage.customer.documents.set(ANSWER_URL, `<Response>${xml}</Response>`);
  const { callUuid } = await stage.placed();
  await stage.signalling.last.answers();
  return stage.live(callUuid);
}

/** An A leg that is connected with the B leg of its Dial. */
async function talking(): Promise<{ a: Call; b: Call }> {
  const a = await answered(
    `<Dial callerId="${OWN_NUMBER}" action="https://app.test/action" redirect="false">
      <Number>14155550199</Number></Dial><Wait length="3600"/>`,
  );
  await stage.signalling.last.answers();
  const b = stage.callBilling.live().find(({ identity }) => identity.parentCallUuid === a.uuid);
  if (b === undefined) throw new Error('no B leg');
  return { a, b };
}

describe('live calls (dialect §3.4)', () => {
  it('are listed only for their account, from the INVITE to the end', async () => {
    const { callUuid } = await stage.placed({ callerName: 'Ada' });
    expect(await stage.control.liveCalls(account, 'live')).toMatchObject([
      { callUuid, status: 'ringing', direction: 'outbound', callerName: 'Ada' },
    ]);
    expect(await stage.control.runningCalls(account)).toBe(1);
    expect(await stage.control.liveCalls(STRANGER, 'live')).toEqual([]);
    expect(await stage.control.liveCall(STRANGER, callUuid)).toBeUndefined();
    await stage.signalling.last.answers();
    expect(await stage.control.liveCall(account, callUuid)).toMatchObject({
      status: 'in-progress',
    });
    await stage.finish();
    expect(await stage.control.liveCall(account, callUuid)).toBeUndefined();
    expect(await stage.control.runningCalls(account)).toBe(0);
  });

  it('hang up as normal after and as canceled before the answer, source API Request, and then disappear', async () => {
    const first = await answered();
    expect(await stage.control.hangup(STRANGER, first.uuid)).toEqual(NOT_FOUND);
    expect(await stage.control.hangup(account, first.uuid)).toMatchObject({ ok: true });
    expect(await stage.control.hangup(account, first.uuid)).toEqual(NOT_FOUND);
    expect(await stage.cdr(first.uuid)).toMatchObject({
      hangupCauseCode: 4000,
      hangupSource: 'API Request',
      hangupDisposition: 'send_bye',
    });
    const { callUuid } = await stage.placed();
    await stage.control.hangup(account, callUuid);
    expect(await stage.cdr(callUuid)).toMatchObject({
      hangupCauseCode: 1000,
      hangupDisposition: 'send_cancel',
    });
    await stage.finish();
  });

  it('end once on two simultaneous hangups', async () => {
    const call = await answered();
    const outcomes = await Promise.all([
      stage.control.hangup(account, call.uuid),
      stage.control.hangup(account, call.uuid),
    ]);
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
    await settle();
    expect(stage.settled).toHaveLength(1);
    await stage.finish();
  });

  it('send digits to the named leg', async () => {
    const { a, b } = await talking();
    const digits = { digits: '12', toneMs: 100 };
    await stage.control.sendDigits(account, a.uuid, digits, 'both');
    await stage.control.sendDigits(account, a.uuid, digits, 'bleg');
    const sent = (call: Call) => (call.media as unknown as { digits: string[] }).digits;
    expect([sent(a), sent(b)]).toEqual([['12'], ['12', '12']]);
    await stage.finish();
  });

  it('report a wrong state for a missing B leg and an unanswered call', async () => {
    const digits = { digits: '1', toneMs: 100 };
    const call = await answered();
    expect(await stage.control.sendDigits(account, call.uuid, digits, 'bleg')).toEqual({
      ok: false,
      error: { kind: 'wrongState', detail: 'the call has no B leg' },
    });
    const { callUuid } = await stage.placed();
    expect(await stage.control.sendDigits(account, callUuid, digits, 'aleg')).toMatchObject({
      error: { kind: 'wrongState' },
    });
    await stage.finish();
  });

  it('have their timeline in memory first, and in the store afterwards', async () => {
    const call = await answered();
    const live = await stage.control.callLog(account, call.uuid);
    expect(live.ok && live.value.map(({ text }) => text)).toContain('INVITE');
    expect(await stage.control.callLog(STRANGER, call.uuid)).toEqual(NOT_FOUND);
    await stage.finish();
    await stage.clock.advance(2 * 86_400_000);
    const { callUuid } = await stage.placed();
    expect(stage.logs.get(call.uuid)).toBeUndefined();
    const stored = await stage.control.callLog(account, call.uuid);
    expect(stored.ok && stored.value.map(({ text }) => text)).toContain('INVITE');
    expect(await stage.control.callLog(STRANGER, call.uuid)).toEqual(NOT_FOUND);
    stage.callBilling.get(callUuid)?.hangup('normal', 'API Request');
    await stage.finish();
  });
});

describe('a call whose ACK is pending', () => {
  const digits = { digits: '1', toneMs: 100 };

  /** A caller who has our 200; `acknowledges` settles its ACK. */
  async function offTheHook() {
    let acknowledges: (outcome: Result<void, 'timeout'>) => void = () => undefined;
    const { call } = await stage.arrives(OWN_NUMBER, {
      answer: () =>
        new Promise((resolve) => {
          acknowledges = resolve as typeof acknowledges;
        }),
    });
    const requested = stage.control.sendDigits(account, call.uuid, digits, 'aleg');
    expect(await requested).toMatchObject({ error: { kind: 'wrongState' } });
    void call.answer(() => stage.callBilling.changed(call));
    await settle();
    return { call, acknowledges: (outcome: Result<void, 'timeout'>) => acknowledges(outcome) };
  }

  it('is controlled after the ACK', async () => {
    const { call, acknowledges } = await offTheHook();
    const requested = stage.control.sendDigits(account, call.uuid, digits, 'aleg');
    await stage.clock.advance(1500);
    acknowledges(ok(undefined));
    expect(await requested).toMatchObject({ ok: true });
    expect(stage.media.last.digits).toEqual(['1']);
    await stage.finish();
  });

  it('is hung up as an answered call', async () => {
    const { call, acknowledges } = await offTheHook();
    const requested = [1, 2].map(() => stage.control.hangup(account, call.uuid));
    await settle();
    expect(call.isEnded).toBe(false);
    acknowledges(ok(undefined));
    expect(await Promise.all(requested)).toEqual([{ ok: true, value: undefined }, NOT_FOUND]);
    expect(await stage.cdr(call.uuid)).toMatchObject({
      hangupCauseCode: 4000,
      answerUs: expect.any(Number),
    });
    await stage.finish();
  });

  it('is waited for during a few retransmissions of the 200 only', async () => {
    const { call } = await offTheHook();
    const requested = stage.control.sendDigits(account, call.uuid, digits, 'aleg');
    await stage.clock.advance(4000);
    expect(await requested).toMatchObject({ error: { kind: 'wrongState' } });
    expect(call.isEnded).toBe(false);
    await stage.finish();
  });
});

describe('transfer (dialect §2.2)', () => {
  const to = (name: string) => ({ url: `https://app.test/${name}`, method: 'POST' }) as const;
  const requestedFor = (name: string) =>
    stage.customer.requested.find(({ url }) => url === `https://app.test/${name}`)?.parameters;

  it('of the A leg aborts its element and runs the other document', async () => {
    const a = await answered();
    const request = { legs: 'aleg', aleg: to('next'), bleg: undefined } as const;
    expect(await stage.control.transfer(account, a.uuid, request)).toMatchObject({ ok: true });
    await settle();
    expect(requestedFor('next')).toMatchObject({ Event: 'Redirect', CallUUID: a.uuid });
    expect(a.isEnded).toBe(false);
    await stage.finish();
  });

  it('of only the A leg hangs up the B leg', async () => {
    const { a, b } = await talking();
    const request = { legs: 'aleg', aleg: to('next'), bleg: undefined } as const;
    await stage.control.transfer(account, a.uuid, request);
    await settle();
    expect(a.isEnded).toBe(false);
    expect(b.isEnded).toBe(true);
    expect(stage.media.bridges).toMatchObject([{ isOpen: false }]);
    await stage.finish();
  });

  it('of the B leg runs a separate document on it; the A leg continues its document', async () => {
    const { a, b } = await talking();
    const request = { legs: 'bleg', aleg: undefined, bleg: to('agent') } as const;
    expect(await stage.control.transfer(account, a.uuid, request)).toMatchObject({ ok: true });
    await settle();
    expect(requestedFor('agent')).toMatchObject({ Event: 'Redirect', CallUUID: b.uuid });
    expect([a.isEnded, b.isEnded]).toEqual([false, false]);
    expect(stage.media.bridges).toMatchObject([{ isOpen: false }]);
    const again = { legs: 'aleg', aleg: to('later'), bleg: undefined } as const;
    expect(await stage.control.transfer(account, b.uuid, again)).toMatchObject({ ok: true });
    await settle();
    expect(requestedFor('later')).toMatchObject({ CallUUID: b.uuid });
    await stage.finish();
  });

  it('of the B leg by its UUID has the same effect', async () => {
    const { a, b } = await talking();
    const request = { legs: 'aleg', aleg: to('agent'), bleg: undefined } as const;
    expect(await stage.control.transfer(account, b.uuid, request)).toMatchObject({ ok: true });
    await settle();
    expect(requestedFor('agent')).toMatchObject({ CallUUID: b.uuid });
    expect([a.isEnded, b.isEnded]).toEqual([false, false]);
    await stage.finish();
  });

  it('of both legs runs the respective document on each', async () => {
    const { a, b } = await talking();
    const request = { legs: 'both', aleg: to('one'), bleg: to('two') } as const;
    expect(await stage.control.transfer(account, a.uuid, request)).toMatchObject({ ok: true });
    await settle();
    expect(requestedFor('one')).toMatchObject({ CallUUID: a.uuid });
    expect(requestedFor('two')).toMatchObject({ CallUUID: b.uuid });
    expect([a.isEnded, b.isEnded]).toEqual([false, false]);
    await stage.finish();
  });

  it('of a missing B leg, or without its URL, is refused', async () => {
    const a = await answered();
    const bleg = { legs: 'bleg', aleg: undefined, bleg: to('agent') } as const;
    expect(await stage.control.transfer(account, a.uuid, bleg)).toMatchObject({
      error: { kind: 'wrongState', detail: 'the call has no B leg' },
    });
    const bare = { legs: 'aleg', aleg: undefined, bleg: undefined } as const;
    expect(await stage.control.transfer(account, a.uuid, bare)).toMatchObject({
      error: { kind: 'wrongState' },
    });
    expect(await stage.control.transfer(STRANGER, a.uuid, bare)).toEqual(NOT_FOUND);
    await stage.finish();
  });
});
