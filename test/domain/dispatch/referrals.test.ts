/** REFER requested by a customer: permissions, effect on the call, and notifications. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Call } from '../../../src/domain/call/call.ts';
import type { ReferRequest } from '../../../src/domain/dispatch/types.ts';
import { settle } from '../../sim/clock.ts';
import { ANSWER_URL, OWN_NUMBER, openStage, type Stage } from './stage.ts';

const TARGET = '14155550177';
const REPORTED = 'https://app.test/refer';
const ACTION = 'https://app.test/action';

let stage: Stage;
beforeEach(async () => {
  stage = await openStage({ barredPrefixes: ['1900'] });
  await stage.provisioning.carriers.patch('north', { policy: { refer: true } });
});
afterEach(() => stage.close());

async function answered(xml = '<Wait length="3600"/>'): Promise<Call> {
  stage.customer.documents.set(ANSWER_URL, `<Response>${xml}</Response>`);
  const { callUuid } = await stage.placed();
  await stage.signalling.last.answers();
  await settle();
  return stage.live(callUuid);
}

const requested = (call: Call, over: Partial<ReferRequest> = {}) =>
  stage.control.refer(stage.account.authId, call.uuid, {
    destination: { kind: 'number', number: TARGET },
    timeoutMs: 60_000,
    callback: { url: REPORTED, method: 'POST' },
    ...over,
  });

const reported = (url: string) =>
  stage.customer.reported.filter((one) => one.url === url).map(({ parameters }) => parameters);
const XML = `<Refer action="${ACTION}" redirect="false" timeout="30"><Number>${TARGET}</Number></Refer><Wait length="3600"/>`;

describe('REFER by REST', () => {
  it("ends the call once the target has answered, with the request's hangup source", async () => {
    const call = await answered();
    expect(await requested(call)).toEqual({ ok: true, value: undefined });
    const { refers } = stage.signalling.last;
    expect(refers.map(({ command }) => command)).toEqual([
      { to: `tel:+${TARGET}`, by: `+${OWN_NUMBER}`, isGuarded: false },
    ]);
    refers[0]?.stepped({ what: 'accepted', status: 202 });
    refers[0]?.stepped({ what: 'progress', status: 180 });
    await settle();
    expect(call.isEnded).toBe(false);
    refers[0]?.stepped({ what: 'done', status: 200 });
    await settle();
    expect(stage.signalling.last.hungUpWith).toBe('normal');
    expect(await stage.cdr(call.uuid)).toMatchObject({
      hangupCauseCode: 4000,
      hangupSource: 'API Request',
      hangupDisposition: 'send_bye',
    });
    expect(reported(REPORTED)).toMatchObject([
      {
        Event: 'Refer',
        CallUUID: call.uuid,
        ReferStatus: 'completed',
        ReferTo: TARGET,
        ReferSipResponseCode: '202',
        NotifySipResponseCode: '200',
      },
    ]);
    await stage.finish();
  });

  it('allows one at a time; without an outcome the call continues and allows another', async () => {
    const call = await answered();
    await requested(call);
    expect(await requested(call)).toMatchObject({ error: { kind: 'wrongState' } });
    await stage.clock.advance(60_000);
    await settle();
    expect(reported(REPORTED)).toMatchObject([{ ReferStatus: 'timeout' }]);
    expect(stage.signalling.last.refers[0]?.isForgotten).toBe(true);
    expect(call.isEnded).toBe(false);
    expect(await requested(call)).toMatchObject({ ok: true });
    await stage.finish();
    expect(reported(REPORTED)).toMatchObject([
      { ReferStatus: 'timeout' },
      { ReferStatus: 'ended' },
    ]);
  });

  it.each([
    ['a barred number', { kind: 'number', number: '19005550100' }],
    ['a special number', { kind: 'number', number: '911' }],
    ['header fields', { kind: 'sip', uri: 'sip:a@elsewhere.test?Replaces=x' }],
    ['another method', { kind: 'sip', uri: 'sip:a@elsewhere.test;method=BYE' }],
    ['an unregistered phone', { kind: 'sip', uri: 'sip:nobody@voice.test' }],
  ] as const)('refuses %s', async (_what, destination) => {
    const call = await answered();
    expect(await requested(call, { destination })).toMatchObject({ error: { kind: 'notAllowed' } });
    expect(stage.signalling.last.refers).toEqual([]);
    await stage.finish();
  });

  it('marks an external address to be checked before sending', async () => {
    const call = await answered();
    await requested(call, { destination: { kind: 'sip', uri: 'sip:a@elsewhere.test' } });
    expect(stage.signalling.last.refers[0]?.command).toMatchObject({
      to: 'sip:a@elsewhere.test',
      isGuarded: true,
    });
    await stage.finish();
  });

  it("is refused without the carrier's setting, without the account's permission, and before the answer", async () => {
    const { callUuid } = await stage.placed();
    expect(await requested(stage.live(callUuid))).toMatchObject({ error: { kind: 'wrongState' } });
    await stage.provisioning.carriers.patch('north', { policy: {} });
    const call = await answered();
    expect(await requested(call)).toMatchObject({ error: { kind: 'notAllowed' } });
    await stage.provisioning.carriers.patch('north', { policy: { refer: true } });
    const other = await answered();
    await stage.accounts.patch(stage.account.authId, { permissions: { refer: false } });
    expect(await requested(other)).toMatchObject({ error: { kind: 'notAllowed' } });
    await stage.finish();
  });
});

describe('REFER on an inbound call from a carrier', () => {
  it.each([
    [{ refer: true }, { ok: true }],
    [{}, { error: { kind: 'notAllowed' } }],
  ])('is allowed or refused by the carrier policy %j', async (policy, expected) => {
    await stage.provisioning.carriers.patch('north', { policy });
    const commands: unknown[] = [];
    const refer = (command: unknown) => {
      commands.push(command);
      return () => undefined;
    };
    const { call } = await stage.arrives(OWN_NUMBER, { carrier: 'north', refer });
    expect(await requested(call)).toMatchObject({ error: { kind: 'wrongState' } });
    await call.answer(() => Promise.resolve());
    expect(await requested(call)).toMatchObject(expected);
    // Referred-By names the called number, not the caller.
    const sent = { to: `tel:+${TARGET}`, by: `+${OWN_NUMBER}`, isGuarded: false };
    expect(commands).toEqual('ok' in expected ? [sent] : []);
    await stage.finish();
  });
});

describe('REFER by XML', () => {
  it('ends the call, and notifies action after its end', async () => {
    const call = await answered(XML);
    stage.signalling.last.refers[0]?.stepped({ what: 'accepted', status: 202 });
    stage.signalling.last.refers[0]?.stepped({ what: 'done', status: 200 });
    await settle();
    expect(await stage.cdr(call.uuid)).toMatchObject({
      hangupCauseCode: 4000,
      hangupSource: 'Answer XML',
    });
    expect(reported(ACTION)).toMatchObject([{ ReferStatus: 'completed', CallStatus: 'completed' }]);
    await stage.finish();
  });

  it.each([
    [
      { what: 'refused', status: 403 },
      { ReferStatus: 'refused', ReferSipResponseCode: '403' },
    ],
    [
      { what: 'done', status: 486 },
      { ReferStatus: 'failed', NotifySipResponseCode: '486' },
    ],
    [{ what: 'failed', why: 'timeout' }, { ReferStatus: 'timeout' }],
  ] as const)('continues the document after %j', async (step, expected) => {
    const call = await answered(XML);
    stage.signalling.last.refers[0]?.stepped(step);
    await settle();
    expect(reported(ACTION)).toMatchObject([{ ...expected, CallStatus: 'in-progress' }]);
    expect(call.isEnded).toBe(false);
    expect(call.log.entries().at(-1)).toMatchObject({ kind: 'xml', text: 'wait' });
    await stage.finish();
  });

  it('continues the document if it is not permitted', async () => {
    await stage.provisioning.carriers.patch('north', { policy: {} });
    const call = await answered(XML);
    expect(reported(ACTION)).toMatchObject([{ ReferStatus: 'not-permitted' }]);
    expect(call.isEnded).toBe(false);
    await stage.finish();
  });

  it('does not wait for the outcome after a transfer', async () => {
    const call = await answered(XML);
    const target = { url: 'https://app.test/other', method: 'POST' } as const;
    const request = { legs: 'aleg', aleg: target, bleg: undefined } as const;
    await stage.control.transfer(stage.account.authId, call.uuid, request);
    await settle();
    expect(reported(ACTION)).toMatchObject([{ ReferStatus: 'ended' }]);
    expect(stage.signalling.last.refers[0]?.isForgotten).toBe(true);
    await stage.finish();
  });
});
