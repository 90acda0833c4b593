/** Resources that a refusal releases. Virtual time, real accounts and store. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Account } from '../../../src/domain/account/types.ts';
import { Admission } from '../../../src/domain/dispatch/admission.ts';
import { settle } from '../../sim/clock.ts';
import { inboundCall } from './participants.ts';
import { CALLED, OWN_NUMBER, openStage, type Stage } from './stage.ts';

const NEVER = new AbortController().signal;
const SECOND_MS = 1000;

let stage: Stage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(() => stage.close());

/** Limit of the node: concurrent calls, and call starts per second. */
const nodeOf = (nodeLimit: number): Admission =>
  new Admission({ ...stage, endpoints: stage.store.endpoints, nodeLimit, waitMs: 2 * SECOND_MS });

async function penniless(limits: { concurrentCallsLimit?: number } = {}): Promise<Account> {
  const made = await stage.accounts.create({ name: 'Bob', ...limits });
  if (!made.ok) throw new Error(made.error.kind);
  return made.value.account;
}

const refusedCall = async (admission: Admission, account: Account): Promise<void> => {
  const call = inboundCall({ ...stage, account }, OWN_NUMBER);
  const admitted = await admission.admit(call, account);
  if (admitted.ok) throw new Error('admitted');
  call.hangup(admitted.error.cause, 'Platform', admitted.error.detail);
  await settle();
};

describe('a refused call', () => {
  it('frees its node slot for another account within the same second, after insufficient funds', async () => {
    const admission = nodeOf(1);
    await refusedCall(admission, await penniless());
    expect(await admission.takeSlot(stage.account)).toMatchObject({ ok: true });
  });

  it("does not count against the account's calls per second", async () => {
    const admission = nodeOf(1000);
    const { account } = stage;
    await stage.accounts.patch(account.authId, { status: 'suspended' });
    for (let call = 0; call < account.cpsLimit; call += 1) await refusedCall(admission, account);
    expect(await admission.takeSlot(account)).toMatchObject({ ok: true });
  });

  it("is checked against the account's limit while it waits for the node", async () => {
    const admission = nodeOf(2);
    const held = [await admission.takeSlot(stage.account), await admission.takeSlot(stage.account)];
    const bob = await penniless({ concurrentCallsLimit: 1 });
    const waiting = [admission.slot(bob, NEVER), admission.slot(bob, NEVER)];
    await stage.clock.advance(SECOND_MS + 500);
    for (const slot of held) if (slot.ok) slot.value.release();
    const got = await Promise.all(waiting);
    expect(got).toMatchObject([{ ok: true }, { ok: false, error: { kind: 'concurrency' } }]);
    expect(await admission.takeSlot(stage.account)).toMatchObject({ ok: true });
  });
});

describe('an ended call', () => {
  it('still counts as a call start within its second', async () => {
    const admission = nodeOf(1);
    const slot = await admission.takeSlot(stage.account);
    if (slot.ok) slot.value.release();
    expect(await admission.takeSlot(stage.account)).toMatchObject({ error: { kind: 'node' } });
    await stage.clock.advance(SECOND_MS);
    expect(await admission.takeSlot(stage.account)).toMatchObject({ ok: true });
  });
});

it('does not count a B leg whose caller hung up before its creation', async () => {
  const { call: parent, hangsUp } = await stage.arrives(OWN_NUMBER);
  await stage.clock.advance(SECOND_MS);
  await stage.accounts.patch(stage.account.authId, { cpsLimit: 1 });
  const dialled = stage.dialer.dial({
    parent,
    destination: { kind: 'number', number: CALLED } as never,
    callerId: OWN_NUMBER,
    callerName: undefined,
    sipHeaders: [],
    isRepeated: false,
  });
  await hangsUp('cancel');
  expect(await dialled).toMatchObject({ ok: false, error: { cause: 'canceled' } });
  const account = await stage.accounts.get(stage.account.authId);
  expect(account && (await stage.admission.takeSlot(account))).toMatchObject({ ok: true });
});

it('refuses a call as unavailable, without a record, if shared capacity is unknown', async () => {
  const admission = new Admission({
    ...stage,
    endpoints: stage.store.endpoints,
    nodeLimit: 10,
    waitMs: 0,
    capacity: {
      isShared: true,
      take: async () => ({ ok: false, error: { kind: 'away', retryAfterMs: SECOND_MS } }),
      running: async () => 0,
    },
  });
  const call = inboundCall(stage, OWN_NUMBER);
  const admitted = await admission.admit(call, stage.account);
  expect(admitted).toMatchObject({ error: { cause: 'unavailable', unserviceable: true } });
  call.endUnrecorded();
  call.hangup('unavailable', 'Platform');
  await settle();
  expect(await stage.store.cdrs.get(call.uuid)).toBeUndefined();
  expect(await stage.store.calls.listOpen()).toEqual([]);
  expect(stage.callBilling.live()).toEqual([]);
});
