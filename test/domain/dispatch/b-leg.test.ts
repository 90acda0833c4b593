import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AccountId, asCallUuid, asEndpointId } from '../../../src/base/ids.ts';
import type { Call } from '../../../src/domain/call/call.ts';
import { settle } from '../../sim/clock.ts';
import { ANSWER_URL, CALLED, OWN_NUMBER, openStage, type Stage } from './stage.ts';

const ACTION = 'https://app.test/action';

let stage: Stage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(() => stage.close());

/** An answered REST call whose document is `xml`. */
async function aLeg(xml: string): Promise<Call> {
  stage.customer.documents.set(ANSWER_URL, `<Response>${xml}</Response>`);
  const { callUuid } = await stage.placed();
  await stage.signalling.last.answers();
  return stage.live(callUuid);
}

const dial = (attributes: string, destination: string): string =>
  `<Dial action="${ACTION}" redirect="false" ${attributes}>${destination}</Dial><Wait length="60"/>`;

const bLegs = (): Call[] =>
  stage.callBilling.live().filter(({ identity }) => identity.context === 'dial');

const actionParameters = () =>
  stage.customer.reported.find(({ url }) => url === ACTION)?.parameters;

describe('Dial: the B leg (spec: Answer-XML instructions)', () => {
  it('is a separate call with its record, linked with the A leg in both directions', async () => {
    const a = await aLeg(dial(`callerId="${OWN_NUMBER}"`, '<Number>14155550199</Number>'));
    const [b] = bLegs();
    expect(stage.signalling.last).toMatchObject({
      target: { kind: 'carrier', number: '14155550199' },
      options: { from: { user: OWN_NUMBER } },
    });
    await stage.signalling.last.answers();
    await stage.clock.advance(61_000);
    await stage.signalling.last.ends('bye');
    expect(await stage.cdr(b?.uuid ?? asCallUuid(''))).toMatchObject({
      context: 'dial',
      direction: 'outbound',
      parentCallUuid: a.uuid,
      bridgeUuid: a.uuid,
      from: OWN_NUMBER,
      to: '14155550199',
      billedMs: 120_000,
      cost: 120_000,
    });
    a.hangup('normal', 'API Request');
    expect(await stage.cdr(a.uuid)).toMatchObject({ bridgeUuid: b?.uuid });
    await stage.finish();
  });

  it('is not created with a foreign caller ID, and the log has the reason (decisions)', async () => {
    const a = await aLeg(dial('callerId="14155550177"', '<Number>14155550199</Number>'));
    expect(bLegs()).toEqual([]);
    expect(actionParameters()).toMatchObject({
      DialBLegUUID: '',
      DialStatus: 'failed',
      DialHangupCause: 'REJECTED',
      DialBLegHangupCauseCode: '3030',
      DialBLegHangupCauseName: 'Unknown Caller ID',
    });
    expect(a.log.entries()).toContainEqual(
      expect.objectContaining({ text: 'B leg not created', kind: 'warning' }),
    );
    await stage.finish();
  });

  it('shows a caller ID with separators as digits', async () => {
    await aLeg(dial('callerId="+1 (415) 555-0100"', '<Number>14155550199</Number>'));
    expect(bLegs()).toMatchObject([{ identity: { facts: { from: OWN_NUMBER } } }]);
    await stage.finish();
  });

  it("of an inbound call without callerId is not created: the caller's number is foreign", async () => {
    const { call } = await stage.arrives(OWN_NUMBER);
    const destination = { kind: 'number', number: '14155550199' } as never;
    const requested = {
      parent: call,
      destination,
      callerName: undefined,
      sipHeaders: [],
      isRepeated: false,
    };
    expect(await stage.dialer.dial({ ...requested, callerId: undefined })).toMatchObject({
      error: { cause: 'unknownCallerId', from: '442079460000', to: '14155550199' },
    });
    expect(call.log.entries().at(-1)).toMatchObject({
      text: 'B leg not created',
      facts: { reason: expect.stringContaining('Dial has no callerId') },
    });
    const created = await stage.dialer.dial({ ...requested, callerId: OWN_NUMBER });
    expect(created).toMatchObject({ value: { facts: { to: '14155550199' } } });
    await stage.finish();
  });

  it('of an inbound call without callerId shows the default caller ID of the account instead of a foreign number', async () => {
    const { call } = await stage.arrives(OWN_NUMBER);
    await stage.accounts.patch(call.identity.accountId, { defaultCallerId: OWN_NUMBER });
    const created = await stage.dialer.dial({
      parent: call,
      destination: { kind: 'number', number: '14155550199' } as never,
      callerId: undefined,
      callerName: undefined,
      sipHeaders: [],
      isRepeated: false,
    });
    expect(created).toMatchObject({ value: { facts: { from: OWN_NUMBER, to: '14155550199' } } });
    await stage.finish();
  });

  it('to a barred or premium-rate number ends immediately with its cause, and is not dialled', async () => {
    await aLeg(dial(`callerId="${OWN_NUMBER}"`, '<Number>19005550100</Number>'));
    expect(stage.signalling.invites).toHaveLength(1);
    expect(stage.settled).toMatchObject([{ context: 'dial', hangupCauseCode: 2040 }]);
    await stage.finish();
  });

  it('carries sipHeaders as X-VH headers, and the hop count', async () => {
    await aLeg(
      dial(`callerId="${OWN_NUMBER}" sipHeaders="Tenant=7"`, '<Number>14155550199</Number>'),
    );
    expect(stage.signalling.last.options.headers).toEqual([
      ['X-VH-Tenant', '7'],
      ['X-VH-Call-Hops', '1'],
    ]);
    await stage.finish();
  });

  it('is refused in a loop: to the called number, or after too many hops', async () => {
    const own = await stage.arrives(OWN_NUMBER);
    const number = (to: string) => ({ kind: 'number', number: to }) as never;
    const requested = {
      callerId: OWN_NUMBER,
      callerName: undefined,
      sipHeaders: [],
      isRepeated: false,
    };
    expect(
      await stage.dialer.dial({ ...requested, parent: own.call, destination: number(OWN_NUMBER) }),
    ).toMatchObject({ error: { cause: 'loopDetected' } });
    const facts = own.call.facts as { sipHeaders: unknown };
    facts.sipHeaders = [['X-VH-Call-Hops', '5']];
    expect(
      await stage.dialer.dial({ ...requested, parent: own.call, destination: number(CALLED) }),
    ).toMatchObject({ error: { cause: 'loopDetected' } });
    expect(own.call.log.entries().at(-1)).toMatchObject({ facts: { cause: 'loopDetected' } });
    await stage.finish();
  });

  it('spreads several destinations over the calls per second instead of refusing them', async () => {
    await stage.accounts.patch(stage.account.authId, { cpsLimit: 2 });
    await aLeg(
      dial(
        `callerId="${OWN_NUMBER}"`,
        '<Number>14155550197</Number><Number>14155550198</Number><Number>14155550199</Number>',
      ),
    );
    expect(stage.signalling.invites.map(({ atMs }) => atMs)).toEqual([0, 0]);
    await stage.clock.advance(1000);
    expect(stage.signalling.invites.map(({ atMs }) => atMs)).toEqual([0, 0, 1000, 1000]);
    await stage.finish();
  });

  it('counts against the concurrent calls: without a slot it ends as 5030', async () => {
    await stage.accounts.patch(stage.account.authId, { concurrentCallsLimit: 1 });
    await aLeg(dial(`callerId="${OWN_NUMBER}"`, '<Number>14155550199</Number>'));
    expect(stage.settled).toMatchObject([{ context: 'dial', hangupCauseCode: 5030 }]);
    await stage.finish();
  });

  it('ends when the A leg ends', async () => {
    const a = await aLeg(dial(`callerId="${OWN_NUMBER}"`, '<Number>14155550199</Number>'));
    const [b] = bLegs();
    a.hangup('normal', 'API Request');
    await settle();
    expect(b?.isEnded).toBe(true);
    expect(stage.signalling.last.hungUpWith).toBe('canceled');
    await stage.finish();
  });
});

describe('Dial: User', () => {
  async function endpoint(accountId: AccountId, username: string): Promise<void> {
    const made = await stage.provisioning.endpoints.create({
      accountId,
      subAccount: undefined,
      username,
      alias: username,
      password: 'secret-password',
    } as never);
    if (!made.ok) throw new Error(made.error.kind);
    stage.signalling.registered.add(made.value.username);
  }

  it('reaches a registered endpoint of the account by its contacts', async () => {
    await endpoint(stage.account.authId, 'alice');
    await aLeg(dial(`callerId="${OWN_NUMBER}"`, '<User>sip:alice@voice.test</User>'));
    expect(stage.signalling.last).toMatchObject({
      target: { kind: 'endpoint', username: 'alice' },
      options: { headers: [] },
    });
    expect(bLegs()[0]?.identity).toMatchObject({
      endpointId: expect.any(String),
      facts: { to: 'sip:alice@voice.test' },
    });
    await stage.finish();
  });

  it('refuses an endpoint without voice permission', async () => {
    const { authId } = stage.account;
    await endpoint(authId, 'alice');
    const found = await stage.provisioning.endpoints.byUsername('alice');
    await stage.provisioning.endpoints.patch(authId, found?.endpointId ?? asEndpointId(''), {
      allowVoice: false,
    });
    await aLeg(dial(`callerId="${OWN_NUMBER}"`, '<User>sip:alice@voice.test</User>'));
    expect(stage.signalling.invites).toHaveLength(1);
    expect(actionParameters()).toMatchObject({ DialBLegHangupCauseCode: '3040' });
    await stage.finish();
  });

  it('is not created for an endpoint without a phone, or of another account', async () => {
    await endpoint(stage.account.authId, 'alice');
    stage.signalling.registered.delete('alice');
    const other = await stage.accounts.create({ name: 'Bob' });
    if (!other.ok) throw new Error(other.error.kind);
    await endpoint(other.value.account.authId, 'bob');
    await aLeg(
      dial(
        `callerId="${OWN_NUMBER}"`,
        '<User>sip:alice@voice.test</User><User>sip:bob@voice.test</User>',
      ),
    );
    expect(stage.signalling.invites).toHaveLength(1);
    expect(actionParameters()).toMatchObject({
      DialBLegUUID: '',
      DialHangupCause: 'USER_NOT_REGISTERED',
      DialBLegHangupCauseCode: '2020',
    });
    await stage.finish();
  });

  it('calls an external address with the credentials of the document', async () => {
    await aLeg(
      dial(
        `callerId="${OWN_NUMBER}"`,
        '<User sipAuthUsername="u" sipAuthPassword="p">sip:bob@192.0.2.9:5070</User>',
      ),
    );
    expect(stage.signalling.last).toMatchObject({
      target: { kind: 'uri', uri: 'sip:bob@192.0.2.9:5070' },
      options: { auth: { username: 'u', password: 'p' } },
    });
    await stage.finish();
  });

  it("shows an endpoint's username only to endpoints of the same account", async () => {
    await endpoint(stage.account.authId, 'alice');
    await endpoint(stage.account.authId, 'carol');
    const calling = { kind: 'user', uri: 'sip:carol@voice.test' } as never;
    const outside = { kind: 'user', uri: 'sip:x@192.0.2.9' } as never;
    const { call } = await stage.arrives(OWN_NUMBER);
    const requested = {
      parent: call,
      destination: calling,
      callerName: undefined,
      sipHeaders: [],
      isRepeated: false,
    };
    const b = await stage.dialer.dial({ ...requested, callerId: 'sip:alice@voice.test' });
    expect(b).toMatchObject({ value: { facts: { from: 'alice' } } });
    const foreign = { error: { cause: 'unknownCallerId' } };
    expect(await stage.dialer.dial({ ...requested, callerId: 'sip:bob@voice.test' })).toMatchObject(
      foreign,
    );
    const toOutside = { ...requested, destination: outside, callerId: 'sip:alice@voice.test' };
    expect(await stage.dialer.dial(toOutside)).toMatchObject(foreign);
    await stage.finish();
  });
});

describe('a number in a SIP address', () => {
  const calls = async (destination: string) => {
    await aLeg(dial(`callerId="${OWN_NUMBER}"`, destination));
    return stage.signalling.invites.slice(1).map(({ target }) => target);
  };

  it("at our host or a carrier's is dialled, barred and priced as a number", async () => {
    const number = { kind: 'carrier', carrier: 'north', number: '14155550199' };
    expect(
      await calls('<User>sip:+14155550199@192.0.2.10:5060;transport=tcp</User>'),
    ).toMatchObject([number]);
    expect(bLegs()[0]?.facts.to).toBe('14155550199');
    expect(bLegs()[0]?.price).toMatchObject({ perMinute: 60_000 });
    await stage.finish();
  });

  it.each(['192.0.2.10', 'voice.test'])(
    'with a barred prefix at %s is refused: 2050',
    async (host) => {
      await stage.accounts.patch(stage.account.authId, { barredPrefixes: ['882'] });
      expect(await calls(`<User>sip:88216212345678@${host}</User>`)).toMatchObject([]);
      expect(actionParameters()).toMatchObject({ DialBLegHangupCauseCode: '2050' });
      await stage.finish();
    },
  );

  it.each([
    ['sip:operator@192.0.2.10', '3040'],
    ['sips:14155550123@192.0.2.10', '5020'],
  ])('refuses %s: %s', async (uri, code) => {
    expect(await calls(`<User>${uri}</User>`)).toMatchObject([]);
    expect(actionParameters()).toMatchObject({ DialBLegHangupCauseCode: code });
    await stage.finish();
  });
});
