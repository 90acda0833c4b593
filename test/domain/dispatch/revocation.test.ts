import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AccountId, asCallUuid } from '../../../src/base/ids.ts';
import { inboundCall } from './participants.ts';
import { openStage, type Stage } from './stage.ts';

const LIMITS = { cpsLimit: 1, concurrentCallsLimit: 9 };
let stage: Stage;
beforeEach(async () => {
  stage = await openStage(LIMITS);
});
afterEach(() => stage.close());

const endpointOf = async (alias: string, subAccount?: AccountId) => {
  const { authId: accountId } = stage.account;
  const made = await stage.provisioning.endpoints.create({
    accountId,
    subAccount,
    username: alias,
    alias,
    password: 'password-1',
  });
  if (!made.ok) throw new Error(made.error.kind);
  return made.value;
};

const TO = ['14155550201', '14155550202', '14155550203'];

describe('a suspended account', () => {
  it('has its live and queued calls ended as 3040, and places no more calls', async () => {
    const { callUuids } = await stage.placed({ to: TO });
    expect(stage.signalling.invites).toHaveLength(1);
    await stage.accounts.patch(stage.account.authId, { status: 'suspended' });
    for (const callUuid of callUuids) {
      expect(await stage.cdr(callUuid)).toMatchObject({
        hangupCauseCode: 3040,
        hangupSource: 'Carillon',
        failureReason: 'the account is suspended',
      });
    }
    await stage.clock.advance(5000);
    expect(stage.signalling.invites).toHaveLength(1);
    expect(await stage.place()).toMatchObject({ error: { kind: 'accountInactive' } });
    await stage.finish();
  });

  it('keeps its live calls with calls.endOnRevocation off, but not queued ones', async () => {
    await stage.close();
    stage = await openStage(LIMITS, { endOnRevocation: false });
    const { callUuids } = await stage.placed({ to: TO });
    await stage.accounts.patch(stage.account.authId, { status: 'closed' });
    expect(stage.live(callUuids[0] ?? asCallUuid('')).isEnded).toBe(false);
    expect(await stage.cdr(callUuids[2] ?? asCallUuid(''))).toMatchObject({
      hangupCauseCode: 3040,
    });
    await stage.finish();
  });

  it('loses the registrations of its phones only', async () => {
    const { username } = await endpointOf('desk');
    const other = await stage.accounts.create({ name: 'Other' });
    if (!other.ok) throw new Error('no account');
    await stage.accounts.patch(other.value.account.authId, { status: 'suspended' });
    expect(stage.signalling.forgotten).toEqual([]);
    await stage.accounts.patch(stage.account.authId, { status: 'suspended' });
    expect(stage.signalling.forgotten).toEqual([username]);
    await stage.finish();
  });
});

describe('a sub-account', () => {
  it('that is disabled or deleted loses only its calls and phones', async () => {
    const { authId } = stage.account;
    const made = await stage.accounts.createSubAccount(authId, { name: 'Sub' });
    if (!made.ok) throw new Error('no sub-account');
    const sub = made.value.account.authId;
    await endpointOf('mine');
    const theirs = await endpointOf('theirs', sub);
    const own = await stage.placed();
    await stage.clock.advance(1000);
    const placed = await stage.placed({ subAccount: sub });
    await stage.accounts.patch(sub, { status: 'suspended' });
    expect(await stage.cdr(placed.callUuid)).toMatchObject({ hangupCauseCode: 3040 });
    expect(stage.live(own.callUuid).isEnded).toBe(false);
    expect(stage.signalling.forgotten).toEqual([theirs.username]);
    stage.signalling.forgotten.length = 0;
    await stage.accounts.removeSubAccount(authId, sub);
    expect(stage.signalling.forgotten).toEqual([theirs.username]);
    expect(await stage.provisioning.endpoints.byUsername(theirs.username)).toBeUndefined();
    await stage.finish();
  });
});

describe('an endpoint', () => {
  it('must register again after a password change, and loses its registration on deletion', async () => {
    const { endpointId, username } = await endpointOf('desk');
    const { authId } = stage.account;
    await stage.provisioning.endpoints.patch(authId, endpointId, { alias: 'table' });
    expect(stage.signalling.forgotten).toEqual([]);
    await stage.provisioning.endpoints.patch(authId, endpointId, { password: 'password-2' });
    expect(stage.signalling.forgotten).toEqual([username]);
    await stage.provisioning.endpoints.remove(authId, endpointId);
    expect(stage.signalling.forgotten).toEqual([username, username]);
    await stage.finish();
  });

  it('gets its call refused if it is deleted or loses voice permission during call setup', async () => {
    const { authId } = stage.account;
    const { endpoints } = stage.provisioning;
    for (const gone of ['deleted', 'voice'] as const) {
      const { endpointId } = await endpointOf(gone);
      const call = inboundCall(stage, '1000', { endpointId });
      if (gone === 'deleted') await endpoints.remove(authId, endpointId);
      else await endpoints.patch(authId, endpointId, { allowVoice: false });
      const admitted = await stage.admission.admit(call, stage.account);
      expect(admitted).toMatchObject({ ok: false, error: { cause: 'forbidden' } });
      call.hangup('forbidden', 'Platform');
    }
    await stage.finish();
  });
});
