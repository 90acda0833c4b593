/**
 * Isolation of accounts at a shared carrier: one account's load does not block others. Virtual time, real accounts and
 * store.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { micros } from '../../../src/base/money.ts';
import type { Account } from '../../../src/domain/account/types.ts';
import { settle } from '../../sim/clock.ts';
import type { Invite } from './fakes.ts';
import { request } from './participants.ts';
import { ANSWER_URL, OWN_NUMBER, openStage, type Stage } from './stage.ts';

const CARRIER_CPS = 10;
const LOOP_MS = 40;

let stage: Stage;
beforeEach(async () => {
  stage = await openStage({ cpsLimit: 50, concurrentCallsLimit: 200 }, { callerIdPolicy: 'any' });
  await stage.provisioning.carriers.patch('north', { cpsLimit: CARRIER_CPS });
});
afterEach(() => stage.close());

async function another(name: string): Promise<Account> {
  const made = await stage.accounts.create({ name, cpsLimit: 50, concurrentCallsLimit: 200 });
  if (!made.ok) throw new Error(made.error.kind);
  const { account } = made.value;
  const credit = {
    accountId: account.authId,
    currency: 'USD',
    type: 'credit' as const,
    amount: micros(10_000_000),
    description: 'Top-up',
    reference: undefined,
    referenceType: 'manual_adjustment',
  } as const;
  await stage.store.ledger.post([credit], { checked: false });
  return account;
}

const place = (account: Account, to: readonly string[]) =>
  stage.outbound.placeCalls(request(account, to));

/** Answers every INVITE with busy immediately. */
async function everybodyIsBusy(): Promise<void> {
  for (const invite of stage.signalling.invites.filter((sent) => !busy.has(sent))) {
    busy.add(invite);
    await invite.ends('refused', 486);
  }
}
const busy = new WeakSet<Invite>();

/** Places calls every LOOP_MS for `ms`; runs `onStep` at each step. */
async function redial(account: Account, ms: number, onStep: (step: number) => Promise<void>) {
  for (let step = 0; step * LOOP_MS < ms; step += 1) {
    await place(account, ['14155550111']);
    await onStep(step);
    await everybodyIsBusy();
    await stage.clock.advance(LOOP_MS);
  }
}

const causesOf = ({ authId }: Account): number[] =>
  stage.settled.filter((cdr) => cdr.accountId === authId).map((cdr) => cdr.hangupCauseCode);

describe('a carrier at its limit (calls per second)', () => {
  it("does not fail other accounts' single or bulk calls during one account's redial loop", async () => {
    const single = await another('single');
    const bulk = await another('bulk');
    const numbers = Array.from({ length: 12 }, (_, index) => String(14155550300 + index));
    await redial(stage.account, 8000, async (step) => {
      if (step === 50) expect(await place(bulk, numbers)).toMatchObject({ ok: true });
      if (step >= 50 && step % 10 === 0) await place(single, ['14155550122']);
    });
    for (let step = 0; step < 100; step += 1) {
      await everybodyIsBusy();
      await stage.clock.advance(LOOP_MS);
    }
    expect(causesOf(single)).toEqual(Array.from({ length: 15 }, () => 3010));
    expect(causesOf(bulk)).toEqual(Array.from({ length: 12 }, () => 3010));
    // The loop gets the remaining capacity, and the exhausted limit as refusal otherwise.
    const refused = stage.settled.filter((cdr) => cdr.hangupCauseCode === 5030);
    expect(refused.length).toBeGreaterThan(0);
    expect(new Set(refused.map(({ failureReason }) => failureReason))).toEqual(
      new Set([`carrier north is full: ${CARRIER_CPS} calls per second (waited 2000 ms)`]),
    );
    await stage.finish();
  });

  it('is skipped for the next; if all are full, the first with a free slot is used', async () => {
    await stage.provisioning.carriers.create({
      name: 'south',
      host: '192.0.2.11',
      priority: 2,
      cpsLimit: 1,
    });
    for (let call = 0; call < CARRIER_CPS + 2; call += 1)
      await place(stage.account, ['14155550111']);
    await settle();
    const carriers = () =>
      stage.signalling.invites.map(({ target }) => ('carrier' in target ? target.carrier : ''));
    expect(carriers().filter((name) => name === 'north')).toHaveLength(CARRIER_CPS);
    expect(carriers().filter((name) => name === 'south')).toHaveLength(1);
    await stage.clock.advance(1000);
    expect(stage.signalling.invites).toHaveLength(CARRIER_CPS + 2);
    expect(stage.signalling.last.atMs).toBe(1000);
    await stage.finish();
  });
});

describe('a document with repeated failed Dials', () => {
  it("gets half of its account's calls per second, so that other calls can begin", async () => {
    await stage.accounts.patch(stage.account.authId, { cpsLimit: 4 });
    const number = '<Number>14155550199</Number>';
    const xml = `<Response><Dial callerId="${OWN_NUMBER}">${number.repeat(6)}</Dial></Response>`;
    stage.customer.documents.set(ANSWER_URL, xml);
    const { callUuid } = await stage.placed();
    await stage.signalling.last.answers();
    const dialled = () => stage.signalling.invites.length;
    let accepted = 0;
    for (let second = 0; second < 20; second += 1) {
      for (let part = 0; part < 10; part += 1) {
        for (const invite of stage.signalling.invites.slice(1)) {
          if (busy.has(invite)) continue;
          busy.add(invite);
          await invite.ends('refused', 486);
        }
        await stage.clock.advance(100);
      }
      if (second >= 10) accepted += (await stage.place({ to: ['14155550122'] })).ok ? 1 : 0;
    }
    expect(stage.live(callUuid).isEnded).toBe(false);
    expect(dialled()).toBeGreaterThan(20);
    expect(accepted).toBe(10);
    await stage.finish();
  });
});
