/** Spec "Errors / Call-level failures": tests each row, bad input of every kind, and hangups at any moment. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../src/base/errors.ts';
import { asCallUuid } from '../../src/base/ids.ts';
import { micros } from '../../src/base/money.ts';
import { SDP } from '../domain/interpreter/scene.ts';
import { settle } from '../sim/clock.ts';
import {
  answered,
  type Caller,
  calledFrom,
  type Placed,
  placed,
  registered,
} from './calls/phone.ts';
import {
  type CallService,
  DID,
  HOST,
  NOTHING_LEFT,
  openCallService,
  PRICE,
} from './calls/service.ts';
import { document, type Reply, SITE } from './calls/site.ts';

const OTHER = '14155550122';
const BOT = 'wss://bot.test/audio';
const WAIT = '<Wait length="3600"/>';

let service: CallService;
beforeEach(async () => {
  service = await openCallService();
});
afterEach(() => service.close());

async function finish(): Promise<void> {
  for (const call of service.live()) call.hangup('normal', 'API Request');
  await service.clock.advance(10_000);
  expect(await service.leftovers()).toEqual(NOTHING_LEFT);
}

function caller(body: string): Promise<Caller> {
  service.site.on('/answer', document(body));
  return calledFrom(service);
}

/** Places an outbound call whose answer URL returns `reply`, and answers it. */
function outbound(reply: Reply): Promise<Placed> {
  service.site.on('/answer', reply);
  return answered(service, { fallback: undefined });
}

describe('call-level failures (spec: Errors)', () => {
  it('malformed answer XML: ends the call within a second of the answer, Invalid Answer XML, source Error', async () => {
    const { callUuid, invite } = await outbound('<Response><Speak>Hello</Response>');
    await service.clock.advance(1000);
    expect(invite.hungUpWith).toBe('invalidAnswerXml');
    // The answer URL returned 200 once, and the timeline shows it.
    expect(service.site.reported('/answer')).toHaveLength(1);
    const [attempt] = await service.log(callUuid, 'callback');
    expect(attempt).toBeDefined();
    const record = await service.cdr(callUuid);
    expect(record).toMatchObject({
      hangupCauseName: 'Invalid Answer XML',
      hangupSource: 'Error',
      hangupDisposition: 'send_bye',
      cost: PRICE.outbound,
      failureReason: expect.stringMatching(/^line 1, column \d+: .+; expected .+/),
    });
    expect(record.endUs - (record.answerUs ?? 0)).toBeLessThanOrEqual(1_000_000);
    await finish();
  });

  it('end of the document, as after a Stream without keepCallAlive: hangup on end of XML', async () => {
    const phone = await caller(`<Stream bidirectional="true">${BOT}</Stream>`);
    expect(phone.sent).toEqual(['200', 'hangup endOfXml']);
    expect(service.bots.last.closedWith).toBe('call_hangup');
    expect(await service.cdr()).toMatchObject({
      hangupCauseCode: 4010,
      hangupCauseName: 'End Of XML Instructions',
      hangupSource: 'Carillon',
      hangupDisposition: 'send_bye',
    });
    await finish();
  });

  it('refusal before the origination target is reached: send_refuse, terminated_to inbound_carrier', async () => {
    const number = await trunkNumber({ sipUri: 'sip:pbx@unreachable.test' });
    const phone = await calledFrom(service, { to: number });
    await service.signalling.last.ends('unreachable');
    expect(phone.sent.at(-1)).toMatch(/^hangup/);
    const inbound = (await service.cdrs()).find(({ direction }) => direction === 'inbound');
    expect(inbound).toMatchObject({
      hangupDisposition: 'send_refuse',
      terminatedTo: 'inbound_carrier',
      billedMs: 0,
    });
    await finish();
  });

  it('refuses and records a call to a suspended number with cause 2080', async () => {
    const { provisioning, owned } = service;
    const e164 = '14155550188';
    await provisioning.numbers.add({ ...owned, e164, status: 'suspended' });
    const phone = await calledFrom(service, { to: e164 });
    expect(phone.sent.at(-1)).toBe('hangup numberSuspended');
    expect(await service.cdrs()).toMatchObject([
      { hangupCauseCode: 2080, hangupCauseName: 'Number Suspended', billedMs: 0, cost: 0 },
    ]);
    await finish();
  });

  it('media negotiation failure: never downgrades a trunk that requires SRTP to plain RTP', async () => {
    const number = await trunkNumber({ sipUri: 'sip:pbx@192.0.2.50', secure: true });
    const phone = await calledFrom(service, { to: number });
    expect(service.signalling.last.options.sdp).toContain('RTP/SAVP');
    await service.signalling.last.answers();
    expect(service.signalling.last.hungUpWith).toBe('mediaAnchoring');
    expect(phone.sent.at(-1)).toMatch(/^hangup/);
    expect((await service.cdrs()).map(({ billedMs }) => billedMs)).toEqual([0, 0]);
    await finish();
  });

  it('B leg not created: a caller ID that the account does not own', async () => {
    const { callUuid } = await caller(
      `<Dial callerId="14085550000" action="${SITE}/dialled" redirect="false"><Number>${OTHER}</Number></Dial>${WAIT}`,
    );
    expect(service.signalling.invites).toEqual([]);
    expect(service.site.onlyCallback('/dialled')).toMatchObject({
      DialBLegUUID: '',
      DialStatus: 'failed',
      DialRingStatus: 'false',
      DialHangupCause: 'REJECTED',
    });
    expect((await service.log(callUuid, 'warning'))[0]).toContain(
      '14085550000 is not a caller ID of this account',
    );
    expect(await service.cdrs()).toEqual([]);
    await finish();
  });

  it('B leg not created: an unreachable destination', async () => {
    const { callUuid } = await caller(
      `<Dial callerId="${DID}" action="${SITE}/dialled" redirect="false"><User>sip:nobody@${HOST}</User></Dial>${WAIT}`,
    );
    expect(service.signalling.invites).toEqual([]);
    expect(service.site.onlyCallback('/dialled')).toMatchObject({
      DialBLegUUID: '',
      DialHangupCause: 'USER_NOT_REGISTERED',
    });
    expect((await service.log(callUuid, 'warning'))[0]).toContain(
      'no phone is registered as nobody',
    );
    expect(await service.cdrs()).toEqual([]);
    await finish();
  });

  it('ends the call on a transfer to a target without a registered contact', async () => {
    const username = await registered(service);
    service.signalling.registered.delete(username);
    const phone = await caller('<Speak loop="0">One moment</Speak>');
    service.site.on(
      '/moved',
      document(
        `<Dial callerId="${DID}" action="${SITE}/dialled" redirect="false"><User>sip:${username}@${HOST}</User></Dial>`,
      ),
    );
    const aleg = { url: `${SITE}/moved`, method: 'POST' } as const;
    const request = { legs: 'aleg', aleg, bleg: undefined } as const;
    await service.control.transfer(service.accountId, phone.callUuid, request);
    await settle();
    expect(service.signalling.invites).toEqual([]);
    expect(await service.cdr()).toMatchObject({ hangupCauseName: 'End Of XML Instructions' });
    expect((await service.log(phone.callUuid, 'warning'))[0]).toContain(
      `no phone is registered as ${username}`,
    );
    await finish();
  });
});

describe('insufficient funds (spec: Credit limit behaviour, Limits; dialect §3.12)', () => {
  it('ends a call after its last covered pulse: Canceled (Out Of Credits)', async () => {
    const { accountId, ledger } = service;
    // Covers two and a half minutes.
    const left = micros(2.5 * PRICE.outbound - 10_000_000);
    await ledger.adjust({ accountId, currency: 'USD', amount: left, description: 'correction' });
    const { callUuid, invite } = await outbound(document(WAIT));
    await service.clock.advance(119_900);
    expect(invite.hungUpWith).toBeUndefined();
    await service.clock.advance(200);
    expect(invite.hungUpWith).toBe('outOfCredits');
    expect(await service.cdr(callUuid)).toMatchObject({
      hangupCauseCode: 1010,
      hangupCauseName: 'Canceled (Out Of Credits)',
      billedMs: 120_000,
      cost: 2 * PRICE.outbound,
    });
    await finish();
  });
});

async function trunkNumber(
  of: { readonly sipUri: string; readonly secure?: boolean },
  e164 = '14155550177',
): Promise<string> {
  const { provisioning, owned, accountId } = service;
  const { secure = false, sipUri } = of;
  const uri = await provisioning.trunks.createOriginationUri({ accountId, name: 'main', sipUri });
  const trunk = await provisioning.trunks.create({
    accountId,
    name: 'office',
    secure,
    primaryUriUuid: uri.id,
  });
  if (!trunk.ok) throw new Error(trunk.error.kind);
  await provisioning.numbers.add({ ...owned, e164, trunkGroupId: trunk.value.trunkId });
  return e164;
}

describe('a failing customer server (dialect §3.12)', () => {
  const big = `<Response><Speak>${'a'.repeat(101 * 1024)}</Speak></Response>`;
  const bomb =
    '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><Response><Speak>&b;</Speak></Response>';

  it.each<[string, Reply, number]>([
    ['is down', { fails: 'connect' }, 7011],
    ['never answers', { fails: 'silence' }, 7011],
    ['redirects without end', { fails: 'tooManyRedirects' }, 7011],
    ['returns a gigabyte', { fails: 'tooLarge' }, 7011],
    ["resolves to an address in the operator's network", { fails: 'refusedAddress' }, 7011],
    ['answers 404', 404, 7011],
    ['answers 500', 500, 7011],
    ['returns nothing', '', 8011],
    ['returns HTML', '<!doctype html><html><body>Welcome<br></body></html>', 8011],
    ['returns JSON', '{"ok":true}', 8011],
    ['returns a document of more than 100 KB', big, 8011],
    ['returns an entity expansion attack', bomb, 8011],
    ['returns an element that does not exist', document('<Say>Hello</Say>'), 8011],
  ])(
    'the answer URL %s: the call ends with its cause, source Error',
    async (_what, reply, code) => {
      const { callUuid } = await outbound(reply);
      await service.clock.advance(70_000);
      expect(await service.cdr(callUuid)).toMatchObject({
        hangupCauseCode: code,
        hangupCause: code === 7011 ? 'SERVER_ERROR' : 'PROTOCOL_ERROR',
        hangupSource: 'Error',
        failureReason: expect.stringMatching(/.+/),
      });
      await finish();
    },
  );

  it.each<[string, string, Reply, number]>([
    ['action URL', '<GetDigits action="https://app.test/next" timeout="1"/>', 500, 7012],
    ['action URL', '<GetDigits action="https://app.test/next" timeout="1"/>', '<a/>', 8012],
    ['action URL', '<GetDigits action="ftp://x.test/next" timeout="1"/>', 500, 7022],
    ['Redirect URL', '<Redirect>https://app.test/next</Redirect>', 500, 7014],
    ['Redirect URL', '<Redirect>https://app.test/next</Redirect>', '<a/>', 8014],
    ['Redirect URL', '<Redirect>next.xml</Redirect>', 500, 7024],
    ['Redirect method', '<Redirect method="PUT">https://app.test/next</Redirect>', 500, 7034],
  ])('%s of %s returns %j: %d', async (_which, body, reply, code) => {
    service.site.on('/next', reply);
    const phone = await caller(body);
    if (phone.call.isAnswered) await phone.press('1#');
    await service.clock.advance(70_000);
    expect(await service.cdr()).toMatchObject({ hangupCauseCode: code, hangupSource: 'Error' });
    await finish();
  });

  it.each<[Reply, number]>([
    [500, 7013],
    ['<a/>', 8013],
  ])('the URL of a transfer returns %j: %d', async (reply, code) => {
    service.site.on('/next', reply);
    const { callUuid } = await caller('<Speak loop="0">Hello</Speak>');
    const aleg = { url: `${SITE}/next`, method: 'POST' } as const;
    const request = { legs: 'aleg', aleg, bleg: undefined } as const;
    await service.control.transfer(service.accountId, callUuid, request);
    await service.clock.advance(70_000);
    expect(await service.cdr()).toMatchObject({ hangupCauseCode: code, hangupSource: 'Error' });
    await finish();
  });

  it('ends a document that redirects to itself with Loop Detected', async () => {
    await caller(`<Redirect>${SITE}/answer</Redirect>`);
    await service.clock.advance(1000);
    expect(await service.cdr()).toMatchObject({
      hangupCauseCode: 2060,
      hangupCauseName: 'Loop Detected',
      hangupSource: 'Error',
    });
    await finish();
  });
});

describe('failing carriers and phones', () => {
  it.each([
    [486, 3010, 'Busy Line', 'Callee'],
    [480, 3000, 'No Answer', 'Callee'],
    [404, 3050, 'Unallocated number', 'Callee'],
    [603, 3110, 'Declined', 'Callee'],
    [500, 3080, 'Internal server error from carrier', 'Carrier'],
    [503, 3090, 'Network congestion from carrier', 'Carrier'],
  ])('the called party answers %d: %d %s, source %s', async (status, code, name, source) => {
    const callUuid = await placed(service);
    await service.signalling.last.ends('refused', status);
    expect(await service.cdr(asCallUuid(callUuid))).toMatchObject({
      hangupCauseCode: code,
      hangupCauseName: name,
      hangupSource: source,
      hangupDisposition: 'recv_refuse',
      cost: 0,
    });
    expect(service.site.reported('/answer')).toEqual([]);
    await finish();
  });

  it('a carrier that rings without end: Ring Timeout Reached', async () => {
    const callUuid = await placed(service, { ringTimeoutMs: 45_000 });
    await service.signalling.last.rings();
    await service.clock.advance(45_100);
    expect(service.signalling.last.hungUpWith).toBe('ringTimeout');
    expect(await service.cdr(asCallUuid(callUuid))).toMatchObject({
      hangupCauseCode: 6010,
      hangupDisposition: 'send_cancel',
    });
    await finish();
  });

  it('a carrier that answers 200 without SDP: Violates Media Anchoring, without a document request', async () => {
    const callUuid = await placed(service);
    const { last } = service.signalling;
    await last.rings();
    await last.answersWithoutSdp();
    expect(await service.cdr(asCallUuid(callUuid))).toMatchObject({
      hangupCauseCode: 2070,
      hangupSource: 'Error',
      failureReason: 'the called party answered without SDP',
    });
    expect(service.site.reported('/answer')).toEqual([]);
    await finish();
  });

  it('refuses an offer without a supported codec, unanswered and without charge', async () => {
    service.site.on('/answer', document(WAIT));
    const sdp = SDP.replace('RTP/AVP 0 101', 'RTP/AVP 18').replace(
      'rtpmap:0 PCMU',
      'rtpmap:18 G729',
    );
    const phone = await calledFrom(service, {}, { sdp });
    expect(phone.sent).not.toContain('200');
    expect(phone.sent).toContain('hangup mediaAnchoring');
    expect(await service.cdr()).toMatchObject({ hangupCauseCode: 2070, cost: 0 });
    expect(service.site.reported('/answer')).toEqual([]);
    await finish();
  });

  it('a phone that stops sending audio: Media Timeout', async () => {
    const phone = await caller('<Speak loop="0">Hello</Speak>');
    phone.media.events.silent(0);
    await settle();
    expect(await service.cdr()).toMatchObject({
      hangupCauseCode: 6020,
      hangupCauseName: 'Media Timeout',
      hangupSource: 'Error',
    });
    await finish();
  });

  it('two simultaneous hangups, from the phone and over REST: one record, one notification', async () => {
    const phone = await caller('<Speak loop="0">Hello</Speak>');
    await Promise.all([
      service.control.hangup(service.accountId, phone.callUuid),
      phone.hangsUp(),
      service.control.hangup(service.accountId, phone.callUuid),
    ]);
    await settle();
    expect(service.site.events('/hangup')).toEqual(['Hangup']);
    expect(await service.cdrs()).toHaveLength(1);
    await finish();
  });
});

it('a failure of the service ends an inbound call with its reason, source Error', async () => {
  const to = await trunkNumber({ sipUri: 'sip:pbx@192.0.2.50' });
  const busy = new ServiceError('STORE_BUSY', 'the database is unavailable');
  Object.assign(service.trunks, { toTrunk: () => Promise.reject(busy) });
  const caller = await calledFrom(service, { to });
  expect(caller.sent).toEqual(['hangup unavailable']);
  expect(await service.cdr(caller.callUuid)).toMatchObject({
    hangupCauseCode: 5010,
    hangupSource: 'Error',
    failureReason: busy.message,
  });
});
