import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/base/errors.ts';
import { asCallUuid } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { answeredTimeMs, micros } from '../../../src/base/money.ts';
import { err } from '../../../src/base/result.ts';
import { recoverOpenCalls } from '../../../src/domain/cdr/cdr.ts';
import type { Cdr } from '../../../src/domain/cdr/types.ts';
import { settle } from '../../sim/clock.ts';
import { ANSWER_URL, openStage, type Stage } from './stage.ts';

const PULSE = 60_000;
const HOUR_MS = 3_600_000;
const LATE_MS = 700;

let stage: Stage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(() => stage.close());

const answeredMs = (cdr: Cdr): number => answeredTimeMs(cdr.answerUs, cdr.endUs);

async function answeredCall(over: Parameters<Stage['placed']>[0] = {}) {
  const { callUuid } = await stage.placed(over);
  await stage.signalling.last.answers();
  return { callUuid, invite: stage.signalling.last };
}

/** Sets the remaining balance of the account. */
async function credit(left: number): Promise<void> {
  await stage.ledger.adjust({
    accountId: stage.account.authId,
    currency: 'USD',
    amount: micros(left - 10_000_000),
    description: 'test',
  });
}

async function balance() {
  const found = await stage.ledger.balance(stage.account.authId, 'USD');
  return found.ok ? found.value : undefined;
}

describe('durations come from the monotonic clock', () => {
  it.each([
    ['an hour forwards', HOUR_MS],
    ['thirty days forwards', 30 * 24 * HOUR_MS],
    ['two hours back', -2 * HOUR_MS],
  ])('bills a call of 6 s correctly when the wall clock is set %s', async (_, ms) => {
    const { callUuid, invite } = await answeredCall();
    await stage.clock.advance(3000);
    stage.clock.stepWall(ms);
    await stage.clock.advance(3000);
    await invite.ends('bye');
    const cdr = await stage.cdr(callUuid);
    expect(cdr).toMatchObject({ billedMs: 60_000, cost: PULSE });
    expect(cdr.endUs - (cdr.answerUs ?? 0)).toBe(6_000_000);
    expect(stage.customer.reported.at(-1)?.parameters).toMatchObject({ Duration: '6' });
    await stage.finish();
  });

  it('reserves each further pulse, and ends the call without credit, by monotonic time', async () => {
    await credit(2 * PULSE);
    const { callUuid } = await answeredCall();
    stage.clock.stepWall(30 * 24 * HOUR_MS);
    await stage.clock.advance(59_000);
    expect((await balance())?.reservedFunds).toBe(2 * PULSE);
    stage.clock.stepWall(-60 * 24 * HOUR_MS);
    await stage.clock.advance(61_000);
    expect(await stage.cdr(callUuid)).toMatchObject({ billedMs: 120_000, hangupCauseCode: 1010 });
    expect((await balance())?.balance).toBe(0);
  });

  it('after a crash, bills a call up to its last heartbeat regardless of clock changes', async () => {
    stage.customer.documents.set(ANSWER_URL, '<Response><Wait length="7200"/></Response>');
    const { callUuid } = await answeredCall();
    await stage.clock.advance(30_000);
    stage.clock.stepWall(30 * 24 * HOUR_MS);
    await stage.clock.advance(HOUR_MS - 30_000);
    const [open] = await stage.store.calls.listOpen();
    expect(open?.heartbeatUs).toBe((open?.cdr.answerUs ?? 0) + HOUR_MS * 1000);
    const [cdr] = await recoverOpenCalls(stage.store.calls, silentLogger);
    expect(cdr).toMatchObject({ callUuid, billedMs: 3_600_000, cost: 60 * PULSE });
    expect(cdr && answeredMs(cdr)).toBe(3_600_000);
  });
});

it('stores the bridged call within 2 s, or immediately with a billed change', async () => {
  stage.customer.documents.set(ANSWER_URL, '<Response><Wait length="7200"/></Response>');
  const calls = [await answeredCall(), await answeredCall()].map(({ callUuid }) =>
    stage.callBilling.get(callUuid),
  );
  const [a, b] = calls;
  if (a === undefined || b === undefined) throw new Error('no calls');
  const stored = async () =>
    (await stage.store.calls.listOpen()).map(({ cdr }) => cdr.bridgeUuid ?? '').sort();
  a.bridgedWith(b);
  stage.callBilling.noted(a);
  stage.callBilling.noted(b);
  await stage.clock.advance(1000);
  expect(await stored()).toEqual(['', '']);
  await stage.callBilling.changed(a);
  expect(await stored()).toEqual(['', b.uuid]);
  await stage.clock.advance(1000);
  expect(await stored()).toEqual([a.uuid, b.uuid].sort());
  stage.callBilling.noted(a);
  for (const call of [a, b]) call.hangup('normal', 'Platform');
  await stage.clock.advance(5000);
  expect(await stored()).toEqual([]);
});

describe('an end at a platform limit is booked at that limit', () => {
  beforeEach(() => {
    stage.clock.lateMs = LATE_MS;
  });

  it('time_limit', async () => {
    const { callUuid } = await answeredCall({ timeLimitMs: 60_000 });
    await stage.clock.advance(61_000);
    const cdr = await stage.cdr(callUuid);
    expect(cdr).toMatchObject({ billedMs: 60_000, cost: PULSE, hangupCauseCode: 6000 });
    expect(cdr.endUs - (cdr.answerUs ?? 0)).toBe(60_000_000);
  });

  it('time_limit, when the called party hangs up after it and before a late timer', async () => {
    stage.clock.lateMs = 5700;
    const { callUuid, invite } = await answeredCall({ timeLimitMs: 60_000 });
    // Timers due at 55 s run at 60.7 s, after all other work.
    await stage.clock.advance(56_000);
    await invite.ends('bye');
    expect(await stage.cdr(callUuid)).toMatchObject({ billedMs: 60_000, hangupCauseCode: 4000 });
  });

  it('timeLimit of Dial: the B leg, its callbacks and its record agree', async () => {
    const dial = `<Dial timeLimit="60" callbackUrl="https://app.test/dial"><Number>14155550102</Number></Dial>`;
    stage.customer.documents.set(ANSWER_URL, `<Response>${dial}<Hangup/></Response>`);
    await answeredCall();
    await stage.signalling.last.answers();
    const b = stage.callBilling.live().find(({ identity }) => identity.context === 'dial');
    await stage.clock.advance(61_000);
    expect(await stage.cdr(b?.uuid ?? asCallUuid(''))).toMatchObject({
      billedMs: 60_000,
      cost: PULSE,
    });
    const reported = stage.customer.reported.find(
      ({ parameters }) => 'DialBLegDuration' in parameters,
    );
    expect(reported?.parameters).toMatchObject({
      DialBLegDuration: '60',
      DialBLegBillDuration: '60',
    });
  });

  it('the limit of the A leg also ends the B leg', async () => {
    const dial = '<Dial><Number>14155550102</Number></Dial>';
    stage.customer.documents.set(ANSWER_URL, `<Response>${dial}</Response>`);
    const { callUuid } = await answeredCall({ timeLimitMs: 60_000 });
    await stage.signalling.last.answers();
    const b = stage.callBilling.live().find(({ identity }) => identity.context === 'dial');
    await stage.clock.advance(61_000);
    expect(await stage.cdr(callUuid)).toMatchObject({ billedMs: 60_000 });
    expect(await stage.cdr(b?.uuid ?? asCallUuid(''))).toMatchObject({ billedMs: 60_000 });
  });

  it('silence of the peer', async () => {
    const { callUuid } = await answeredCall();
    await stage.clock.advance(60_000 + LATE_MS);
    stage.media.last.events.silent(LATE_MS);
    expect(await stage.cdr(callUuid)).toMatchObject({ billedMs: 60_000, hangupCauseCode: 6020 });
  });

  it('DTLS failure: no media', async () => {
    const { callUuid } = await answeredCall();
    await stage.clock.advance(15_000);
    stage.media.last.events.secured?.('no way to the peer was found');
    expect(await stage.cdr(callUuid)).toMatchObject({
      billedMs: 0,
      hangupCauseCode: 2070,
      failureReason: 'no way to the peer was found',
    });
  });

  it('streamTimeout, even if the stream ends later for another reason', async () => {
    const stream = '<Stream keepCallAlive="true" streamTimeout="60">wss://bot.test/</Stream>';
    const xml = `<Response>${stream}${stream}<Wait length="3600"/></Response>`;
    stage.customer.documents.set(ANSWER_URL, xml);
    const { callUuid, invite } = await answeredCall();
    stage.sockets[0]?.started();
    await stage.clock.advance(60_000 + LATE_MS);
    // The timer of the second stream is so late that the caller hangs up first.
    stage.sockets[1]?.started();
    stage.clock.lateMs = 5700;
    await stage.clock.advance(56_000);
    await invite.ends('bye');
    const { streams } = await stage.cdr(callUuid);
    expect(streams).toMatchObject([
      { billedMs: 60_000, terminationReason: 'Stream timeout' },
      { billedMs: 60_000, terminationReason: 'Call hangup' },
    ]);
    for (const { startUs, endUs } of streams) expect(endUs - startUs).toBe(60_000_000);
  });

  it('a session that is not refreshed (RFC 4028)', async () => {
    const { callUuid, invite } = await answeredCall();
    const dueMs = stage.clock.monotonicMs() + 60_000;
    await stage.clock.advance(60_000 + LATE_MS);
    await invite.ends('sessionExpired', undefined, dueMs);
    expect(await stage.cdr(callUuid)).toMatchObject({ billedMs: 60_000, hangupCauseCode: 5000 });
  });

  it('Hangup schedule', async () => {
    const document = '<Response><Hangup schedule="60"/><Wait length="3600"/></Response>';
    stage.customer.documents.set(ANSWER_URL, document);
    const { callUuid } = await answeredCall();
    await stage.clock.advance(62_000);
    expect(await stage.cdr(callUuid)).toMatchObject({ billedMs: 60_000 });
  });

  it('credit for exactly two pulses ends at balance 0, not below', async () => {
    await credit(2 * PULSE);
    const { callUuid } = await answeredCall();
    await stage.clock.advance(130_000);
    const cdr = await stage.cdr(callUuid);
    expect(cdr).toMatchObject({ billedMs: 120_000, cost: 2 * PULSE, hangupCauseCode: 1010 });
    expect(answeredMs(cdr)).toBe(120_000);
    expect((await balance())?.balance).toBe(0);
    await stage.finish();
  });
});

describe('exhausted credit', () => {
  it('ends the call before the next pulse begins', async () => {
    await credit(2 * PULSE);
    const { invite } = await answeredCall();
    await stage.clock.advance(119_900);
    expect(invite.hungUpWith).toBeUndefined();
    await stage.clock.advance(99);
    expect(invite.hungUpWith).toBe('outOfCredits');
  });

  it('does not end the call if the account is topped up in the last seconds', async () => {
    await credit(PULSE);
    const { invite } = await answeredCall();
    await stage.clock.advance(58_000);
    await credit(10_000_000 + PULSE);
    await stage.clock.advance(30_000);
    expect(invite.hungUpWith).toBeUndefined();
    await stage.finish();
  });

  it('does not charge an uncovered pulse, even if the call ends late', async () => {
    await credit(PULSE);
    const { callUuid, invite } = await answeredCall();
    // The process stalls across the end of the pulse, and then processes the peer's BYE first.
    stage.clock.lateMs = 70_000;
    await stage.clock.advance(90_000);
    await invite.ends('bye');
    expect(await stage.cdr(callUuid)).toMatchObject({ billedMs: 60_000, cost: PULSE });
    expect((await balance())?.balance).toBe(0);
  });

  it('reserves a pulse before charging it, if the store failed to reserve it in time', async () => {
    const { callUuid, invite } = await answeredCall();
    const full = new ServiceError('STORE_FULL', 'the disk is full');
    const extend = stage.store.calls.extendReservation;
    Object.assign(stage.store.calls, { extendReservation: () => Promise.reject(full) });
    await stage.clock.advance(70_000);
    Object.assign(stage.store.calls, { extendReservation: extend });
    await invite.ends('bye');
    expect(await stage.cdr(callUuid)).toMatchObject({ billedMs: 120_000, cost: 2 * PULSE });
  });
});

describe('an answered call without ACK', () => {
  it('is not billed: Network Error, billsec 0', async () => {
    const no = { by: 'local', how: 'timeout', status: undefined, reason: 'no ACK' } as const;
    let acknowledge: (answer: unknown) => void = () => undefined;
    const answer = () => new Promise((resolve) => (acknowledge = resolve));
    const arrived = await stage.arrives('14155550100', { answer: answer as never });
    const answered = arrived.call.answer(() => stage.callBilling.changed(arrived.call));
    await stage.clock.advance(32_000);
    const [open] = await stage.store.calls.listOpen();
    expect(open?.cdr.answerUs).toBeUndefined();
    acknowledge(err(no));
    await settle();
    await arrived.ends(no);
    expect(await answered).toBe(false);
    const cdr = await stage.cdr(arrived.call.uuid);
    expect(cdr).toMatchObject({
      billedMs: 0,
      cost: 0,
      hangupCauseCode: 5000,
      hangupCauseName: 'Network Error',
      hangupDisposition: 'send_bye',
    });
    expect(answeredMs(cdr)).toBe(0);
    await stage.finish();
  });

  it('counts as answered from its 200 on, once it is acknowledged', async () => {
    let acknowledge: (answer: unknown) => void = () => undefined;
    const answer = () => new Promise((resolve) => (acknowledge = resolve));
    const arrived = await stage.arrives('14155550100', { answer: answer as never });
    const answered = arrived.call.answer(() => stage.callBilling.changed(arrived.call));
    await stage.clock.advance(2000);
    acknowledge({ ok: true });
    expect(await answered).toBe(true);
    const [open] = await stage.store.calls.listOpen();
    expect(open?.cdr.answerUs).toBe(arrived.call.answerUs);
    await stage.clock.advance(4000);
    await arrived.hangsUp('bye');
    expect(answeredMs(await stage.cdr(arrived.call.uuid))).toBe(6000);
  });
});
