import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/base/errors.ts';
import type { PhoneNumber, Trunk } from '../../../src/domain/provisioning/types.ts';
import { settle } from '../../sim/clock.ts';
import { SDP } from '../interpreter/scene.ts';
import { NOTHING_LEFT, OWN_NUMBER, openStage, type Stage } from './stage.ts';

let stage: Stage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(() => stage.close());

async function makeTrunk(over: Partial<Trunk> = {}): Promise<PhoneNumber> {
  const { authId: accountId } = stage.account;
  const { trunks } = stage.provisioning;
  const uri = (name: string, sipUri: string) =>
    trunks.createOriginationUri({ accountId, name, sipUri });
  const primary = await uri('main', 'sip:pbx@192.0.2.50:5080');
  const fallback = await uri('spare', 'sip:192.0.2.51:5080');
  const trunk = await trunks.create({
    accountId,
    name: 'office',
    primaryUriUuid: primary.id,
    fallbackUriUuid: fallback.id,
    ...over,
  });
  if (!trunk.ok) throw new Error(trunk.error.kind);
  return {
    e164: OWN_NUMBER,
    accountId,
    trunkGroupId: trunk.value.trunkId,
  } as unknown as PhoneNumber;
}

async function arrivesAt(number: PhoneNumber) {
  const a = await stage.arrives(number.e164);
  await stage.trunks.toTrunk(a.call, stage.account, number);
  await settle();
  return a;
}

describe('a number assigned to an inbound trunk (spec: trunks, origination URIs)', () => {
  it("is sent to the primary origination URI with the trunk's transport", async () => {
    await arrivesAt(await makeTrunk({ transport: 'tcp' }));
    expect(stage.signalling.last).toMatchObject({
      target: { kind: 'uri', uri: 'sip:pbx@192.0.2.50:5080', transport: 'tcp' },
      options: {
        from: { user: '442079460000', displayName: 'Bob' },
        headers: [['P-Called-Party-ID', `<sip:+${OWN_NUMBER}@voice.test>`]],
      },
    });
    await stage.finish();
  });

  it("authenticates with the trunk's credential when challenged", async () => {
    const credential = await stage.provisioning.trunks.createCredential({
      accountId: stage.account.authId,
      username: 'u',
      password: 'p',
    });
    await arrivesAt(await makeTrunk({ credentialUuid: credential.id }));
    expect(stage.signalling.last.options.auth).toEqual({ username: 'u', password: 'p' });
    await stage.finish();
  });

  it('tries the fallback after a timeout; a URI without user gets the number', async () => {
    await arrivesAt(await makeTrunk());
    await stage.signalling.last.ends('timeout');
    expect(stage.signalling.last.target).toMatchObject({
      uri: `sip:%2B${OWN_NUMBER}@192.0.2.51:5080`,
    });
    await stage.finish();
  });

  it('relays ringing, early media and answer of the called side to the caller', async () => {
    const a = await arrivesAt(await makeTrunk());
    expect(a.sent).toEqual([]);
    await stage.signalling.last.rings();
    expect(a.sent).toEqual(['180']);
    await stage.signalling.last.rings(SDP);
    expect(a.sent).toEqual(['180', '183']);
    expect(stage.media.bridges).toHaveLength(1);
    await stage.signalling.last.answers();
    expect(a.sent).toEqual(['180', '183', '200']);
    expect(stage.media.bridges).toHaveLength(1);
    await stage.finish();
  });

  it('is billed as one call, with a record for each leg, linked in both directions', async () => {
    const number = await makeTrunk();
    const a = await arrivesAt(number);
    await stage.signalling.last.answers();
    await stage.clock.advance(30_000);
    await a.hangsUp('bye');
    const [b] = stage.settled.filter(({ callUuid }) => callUuid !== a.call.uuid);
    expect(stage.signalling.last.hungUpWith).toBe('normal');
    expect(b).toMatchObject({
      context: 'trunk',
      trunkId: number.trunkGroupId,
      parentCallUuid: a.call.uuid,
      bridgeUuid: a.call.uuid,
      terminatedTo: 'origination_uri',
      hangupSource: 'Caller',
      cost: 0,
    });
    expect(await stage.cdr(a.call.uuid)).toMatchObject({
      bridgeUuid: b?.callUuid,
      hangupSource: 'Caller',
      cost: 30_000,
    });
    expect(await stage.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('ends both legs when one ends: a refusal reaches the caller with its cause', async () => {
    const a = await arrivesAt(await makeTrunk());
    await stage.signalling.last.ends('refused', 486);
    expect(a.sent).toEqual(['hangup busy']);
    expect(await stage.cdr(a.call.uuid)).toMatchObject({
      hangupCauseCode: 3010,
      hangupSource: 'Callee',
      hangupDisposition: 'send_refuse',
      terminatedTo: 'inbound_carrier',
    });
    expect(await stage.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('cancels the INVITE when the caller hangs up', async () => {
    const a = await arrivesAt(await makeTrunk());
    await stage.signalling.last.rings();
    await a.hangsUp('cancel');
    expect(stage.signalling.last.hungUpWith).toBe('canceled');
    expect(await stage.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('ends as 6010 at the ring timeout', async () => {
    const a = await arrivesAt(await makeTrunk());
    await stage.clock.advance(120_000);
    expect(await stage.cdr(a.call.uuid)).toMatchObject({ hangupCauseCode: 6010 });
    expect(await stage.leftovers()).toEqual(NOTHING_LEFT);
  });

  it("is recorded from the answer if the trunk has recording, on the trunk's leg", async () => {
    const number = await makeTrunk({ recording: true });
    await arrivesAt(number);
    await stage.signalling.last.rings(SDP);
    expect(stage.recorded).toEqual([]);
    await stage.signalling.last.answers();
    expect(stage.recorded).toMatchObject([
      {
        call: { identity: { trunkId: number.trunkGroupId } },
        request: { format: 'mp3', channels: 'stereo', maxMs: 14_400_000 },
      },
    ]);
    await stage.finish();
  });

  it('is not recorded otherwise', async () => {
    await arrivesAt(await makeTrunk());
    await stage.signalling.last.answers();
    expect(stage.recorded).toEqual([]);
    await stage.finish();
  });

  it('relays keypad presses between both sides', async () => {
    await arrivesAt(await makeTrunk());
    await stage.signalling.last.answers();
    const [a, b] = stage.media.legs.map((leg) => leg);
    const [first, second] = [a, b].sort((x) => (x === stage.media.bridges[0]?.a ? -1 : 1));
    first?.events.dtmf('5');
    second?.events.dtmf('#');
    expect([first?.digits, second?.digits]).toEqual([['#'], ['5']]);
    await stage.finish();
  });
});

describe('a trunk with `secure`', () => {
  const SECURE = `${SDP.replace('RTP/AVP', 'RTP/SAVP')}a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${Buffer.alloc(30).toString('base64')}\r\n`;

  it("is offered SRTP only, regardless of the caller's media", async () => {
    const a = await arrivesAt(await makeTrunk({ secure: true }));
    expect(stage.signalling.last.options.sdp).toMatch(/RTP\/SAVP .*a=crypto:1 /s);
    await stage.signalling.last.answers(SECURE);
    expect(a.sent).toContain('200');
    await stage.finish();
  });

  it('that answers plain RTP gets no call: never downgraded (decisions: Trunks)', async () => {
    const a = await arrivesAt(await makeTrunk({ secure: true }));
    await stage.signalling.last.answers();
    expect(stage.signalling.last.hungUpWith).toBe('mediaAnchoring');
    expect(a.sent).not.toContain('200');
    expect(await stage.cdr(a.call.uuid)).toMatchObject({
      billedMs: 0,
      hangupCauseCode: 2070,
    });
  });
});

describe('an unusable trunk refuses the call before dialling', () => {
  const refused = async (over: Partial<Trunk>) => {
    const a = await arrivesAt(await makeTrunk(over));
    expect(stage.signalling.invites).toEqual([]);
    expect(await stage.leftovers()).toEqual(NOTHING_LEFT);
    return stage.cdr(a.call.uuid);
  };

  it('disabled: 2010', async () => {
    expect(await refused({ enabled: false })).toMatchObject({ hangupCauseCode: 2010 });
  });

  it('outbound only, or without an enabled origination URI: 5020', async () => {
    expect(await refused({ direction: 'outbound' })).toMatchObject({ hangupCauseCode: 5020 });
    expect(await refused({ primaryUriUuid: undefined, fallbackUriUuid: undefined })).toMatchObject({
      hangupCauseCode: 5020,
    });
  });

  it('beyond its concurrent calls: 5030; the end of one frees a slot', async () => {
    const number = await makeTrunk({ concurrentCallsLimit: 1 });
    await arrivesAt(number);
    const second = await arrivesAt(number);
    expect(await stage.cdr(second.call.uuid)).toMatchObject({ hangupCauseCode: 5030 });
    await stage.signalling.last.ends('refused', 486);
    await arrivesAt(number);
    expect(stage.signalling.invites).toHaveLength(2);
    await stage.finish();
  });

  it('whose credential cannot be read: no leg and no slot remains', async () => {
    const { id: credentialUuid } = await stage.provisioning.trunks.createCredential({
      accountId: stage.account.authId,
      username: 'u',
      password: 'p',
    });
    const number = await makeTrunk({ credentialUuid });
    const unreadable = new ServiceError('STORE_UNREADABLE', 'a row cannot be read');
    Object.assign(stage.store.credentials, { passwordOf: () => Promise.reject(unreadable) });
    const a = await stage.arrives(number.e164);
    await expect(stage.trunks.toTrunk(a.call, stage.account, number)).rejects.toBe(unreadable);
    a.call.hangup('unavailable', 'Error');
    await settle();
    expect(stage.callBilling.liveCount).toBe(0);
    expect(await stage.capacity.running(`trunk:${number.trunkGroupId}`)).toBe(0);
  });
});

describe('the webhook of a trunk (dialect §3.9)', () => {
  const WEBHOOK = { webhookUrl: 'https://app.test/trunk', webhookMethod: 'POST' } as const;
  const posted = () => stage.customer.posted;

  it('receives CallInitiated when the trunk is called, and Hangup with times and cost at the end', async () => {
    const number = await makeTrunk(WEBHOOK);
    const a = await arrivesAt(number);
    expect(posted()).toMatchObject([
      {
        accountId: stage.account.authId,
        callUuid: a.call.uuid,
        name: 'CallInitiated',
        target: { url: WEBHOOK.webhookUrl, method: 'POST' },
        body: {
          CallUUID: a.call.uuid,
          TrunkID: number.trunkGroupId,
          TrunkName: 'office',
          Direction: 'inbound',
          From: '442079460000',
          To: OWN_NUMBER,
          Allowed: true,
          Reason: '',
        },
      },
    ]);
    await stage.clock.advance(5000);
    await stage.signalling.last.answers();
    await stage.clock.advance(12_000);
    await a.hangsUp('bye');
    await stage.callBilling.idle();
    await settle();
    expect(posted().slice(1)).toMatchObject([
      {
        name: 'Hangup',
        callUuid: a.call.uuid,
        body: {
          CallUUID: a.call.uuid,
          TrunkID: number.trunkGroupId,
          Duration: 17,
          Billsec: 12,
          BillDuration: 60,
          Cost: 0.03,
          Currency: 'USD',
          HangupCauseName: 'Normal Hangup',
          HangupSource: 'Caller',
        },
      },
    ]);
  });

  it('receives Allowed false with the reason, and no Hangup, for a refused call', async () => {
    await arrivesAt(await makeTrunk({ ...WEBHOOK, enabled: false }));
    await settle();
    expect(posted()).toMatchObject([
      { name: 'CallInitiated', body: { Allowed: false, Reason: 'trunk office is disabled' } },
    ]);
  });

  it("receives Allowed false for a call that the account's limits refused", async () => {
    const a = await stage.arrives(OWN_NUMBER);
    a.call.hangup('concurrencyBreached', 'Platform', 'limit reached: cps');
    await stage.trunks.toTrunk(a.call, stage.account, await makeTrunk(WEBHOOK));
    await settle();
    expect(stage.signalling.invites).toEqual([]);
    expect(posted()).toMatchObject([
      { name: 'CallInitiated', body: { Allowed: false, Reason: 'limit reached: cps' } },
    ]);
  });

  it('receives Hangup with 0 seconds and without cost and AnswerTime for an unanswered call', async () => {
    await arrivesAt(await makeTrunk(WEBHOOK));
    await stage.signalling.last.ends('refused', 486);
    await stage.callBilling.idle();
    await settle();
    expect(posted().at(-1)).toMatchObject({
      name: 'Hangup',
      body: { Billsec: 0, Cost: 0, AnswerTime: null, HangupCauseName: 'Busy Line' },
    });
  });

  it('is not called for a trunk without webhook', async () => {
    await arrivesAt(await makeTrunk());
    await stage.finish();
    expect(posted()).toEqual([]);
  });
});
