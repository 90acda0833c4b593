/** Spec "Answer-XML instructions": tests each rule with complete calls. */

import { createRequire } from 'node:module';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { asCallUuid } from '../../src/base/ids.ts';
import { settle } from '../sim/clock.ts';
import { answered, type Caller, calledFrom, dialledBy, placed, registered } from './calls/phone.ts';
import {
  type CallService,
  DID,
  FAR,
  HOST,
  NOTHING_LEFT,
  openCallService,
  PRICE,
  REDIRECTS_PER_MINUTE,
} from './calls/service.ts';
import { document, SITE } from './calls/site.ts';

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

/** Starts an inbound PSTN call that runs this document. */
function caller(body: string): Promise<Caller> {
  service.site.on('/answer', document(body));
  return calledFrom(service);
}

/** Expects an inbound call with this document to be refused as `Invalid Answer XML`, with position and reason. */
async function expectInvalid(body: string, reason: RegExp): Promise<void> {
  const phone = await caller(body);
  expect(await service.cdr()).toMatchObject({
    callUuid: phone.callUuid,
    hangupCauseCode: 8011,
    hangupCauseName: 'Invalid Answer XML',
    hangupSource: 'Error',
    failureReason: expect.stringMatching(reason),
  });
  expect(phone.sent).not.toContain('200');
  const [line] = await service.log(phone.callUuid, 'xml');
  expect(line).toMatch(/document refused .*"line":\d+,"column":\d+/);
  // The timeline contains the refused document.
  expect(line).toContain('"document":"');
  await finish();
}

describe('the document (spec: Answer-XML instructions)', () => {
  it('has a Response root', async () => {
    service.site.on('/answer', '<Reply><Hangup/></Reply>');
    await calledFrom(service);
    expect(await service.cdr()).toMatchObject({ hangupCauseName: 'Invalid Answer XML' });
    await finish();
  });

  it('may be empty: the call ends with End Of XML Instructions (dialect §2.0)', async () => {
    await caller('');
    expect(await service.cdr()).toMatchObject({
      hangupCauseCode: 4010,
      hangupCauseName: 'End Of XML Instructions',
    });
    await finish();
  });

  it('is validated before it runs: an error at its end prevents every element', async () => {
    const phone = await caller('<Speak>Hello</Speak><Play>https://x.test/a.wav</Play><Say>?</Say>');
    expect(service.spoken).toEqual([]);
    expect(phone.sent).not.toContain('200');
    expect(await service.cdr()).toMatchObject({ hangupCauseName: 'Invalid Answer XML' });
    await finish();
  });

  it('runs elements in order', async () => {
    const phone = await caller('<Speak>one</Speak><Speak>two</Speak><Hangup/>');
    expect(service.spoken).toEqual(['one']);
    phone.media.sounding[0]?.complete();
    await settle();
    expect(service.spoken).toEqual(['one', 'two']);
    phone.media.sounding[0]?.complete();
    await settle();
    expect(await service.cdr()).toMatchObject({ hangupSource: 'Answer XML' });
    await finish();
  });
});

describe('Refer', () => {
  it('reports to action when the carrier does not support REFER, and the document continues', async () => {
    await caller(
      `<Refer action="${SITE}/act" redirect="false"><Sip>sip:a@b.example</Sip></Refer>${WAIT}`,
    );
    expect(service.site.reported('/act')).toMatchObject([
      { Event: 'Refer', ReferStatus: 'not-permitted', ReferTo: 'sip:a@b.example' },
    ]);
    expect(service.live()).toHaveLength(1);
    await finish();
  });
});

/** The part of the plivo SDK's XML builder that this test uses. */
interface Builder {
  toXML(): string;
  addSpeak(text: string, attributes: object): Builder;
  addRecord(attributes: object): Builder;
  addDial(attributes: object): Builder;
  addNumber(number: string): Builder;
}
const plivo = createRequire(import.meta.url)('plivo') as { Response: new () => Builder };

describe('clients of related services', () => {
  it("a document of the plivo SDK's XML builder runs unchanged", async () => {
    const response = new plivo.Response();
    response.addSpeak('Hello & welcome', { voice: 'WOMAN', language: 'en-US' });
    response.addRecord({ action: `${SITE}/rec?a=1&b=2`, recordSession: true, redirect: false });
    const dial = response.addDial({ callerId: DID, action: `${SITE}/act`, redirect: false });
    dial.addNumber(OTHER);
    service.site.on('/answer', response.toXML());
    const phone = await calledFrom(service);
    expect(service.spoken).toEqual(['Hello & welcome']);
    phone.media.sounding[0]?.complete();
    await settle();
    expect(service.site.onlyCallback('/rec')).toMatchObject({ Event: 'Record', a: '1', b: '2' });
    expect(service.signalling.last.target).toMatchObject({ number: OTHER });
    await finish();
  });
});

describe('Record (spec: Answer-XML instructions)', () => {
  const RECORD = `<Record fileFormat="mp3" recordSession="true" maxLength="900" playBeep="false"
    redirect="false" callbackUrl="${SITE}/rec" callbackMethod="GET"/>`;

  it('as a sibling before Stream, records while the stream runs', async () => {
    const phone = await caller(
      `${RECORD}<Stream keepCallAlive="true" bidirectional="true">${BOT}</Stream>`,
    );
    expect(phone.media.recordings).toMatchObject([{ isOver: false, options: { maxMs: 900_000 } }]);
    expect(service.bots.last.options.url).toBe(BOT);
    await finish();
  });

  it('as a sibling before Dial, records while the dialed party rings', async () => {
    const phone = await caller(`${RECORD}<Dial callerId="${DID}"><Number>${OTHER}</Number></Dial>`);
    await service.signalling.last.rings();
    expect(phone.media.recordings).toMatchObject([{ isOver: false }]);
    await finish();
  });

  it('nested in Dial is rejected', async () => {
    await expectInvalid(
      `<Dial callerId="${DID}"><Record/><Number>${OTHER}</Number></Dial>`,
      /<Record> inside of <Dial>; expected <Record\/> in front of <Dial>/,
    );
    expect(service.signalling.invites).toEqual([]);
  });

  it('nested in Stream is rejected', async () => {
    await expectInvalid(
      `<Stream><Record/>${BOT}</Stream>`,
      /<Record> inside of <Stream>; expected <Record\/> in front of <Stream>/,
    );
    expect(service.bots.sockets).toEqual([]);
  });

  it('is self-closing: content is rejected', async () => {
    await expectInvalid('<Record><Speak>Hello</Speak></Record>', /Record/);
  });

  it('recordSession records both parties in the background; without it the document waits', async () => {
    const session = await caller(`${RECORD}<Speak>Hello</Speak>`);
    expect(session.media.recordings).toMatchObject([
      { options: { channels: 'both', stereo: true } },
    ]);
    expect(service.spoken).toEqual(['Hello']);
    await session.hangsUp();

    const message = await caller('<Record playBeep="false" maxLength="60"/><Speak>Bye</Speak>');
    expect(message.media.recordings).toMatchObject([{ options: { channels: 'received' } }]);
    expect(service.spoken).toEqual(['Hello']);
    message.media.recordings[0]?.end('maxLength');
    await settle();
    expect(service.spoken).toEqual(['Hello', 'Bye']);
    await finish();
  });

  it('playBeep beeps before the message, without recording the beep', async () => {
    const phone = await caller('<Record playBeep="true" maxLength="60"/>');
    expect(phone.media.sounding).toHaveLength(1);
    expect(phone.media.recordings).toEqual([]);
    phone.media.sounding[0]?.complete();
    await settle();
    expect(phone.media.recordings).toHaveLength(1);
    await finish();
  });

  it('fileFormat mp3 and callbackMethod: the callback reports an MP3 file by GET', async () => {
    const phone = await caller(`${RECORD}${WAIT}`);
    await service.clock.advance(4000);
    await phone.hangsUp();
    await service.clock.advance(1000);
    const callback = service.site.requested.find(({ path }) => path === '/rec');
    expect(callback).toMatchObject({ method: 'GET', parameters: { Event: 'RecordStop' } });
    expect(new URL(callback?.parameters['RecordUrl'] ?? '').pathname).toMatch(/\.mp3$/);
    await finish();
  });

  it('ends the call before a following Stream if its action returns Hangup', async () => {
    service.site.on('/recording', document('<Hangup/>'));
    await caller(
      `<Record recordSession="true" redirect="false" maxLength="60" playBeep="false" action="${SITE}/recording"/>` +
        `<Stream keepCallAlive="true">${BOT}</Stream>`,
    );
    expect(service.site.onlyCallback('/recording')).toMatchObject({ Event: 'Record' });
    expect(service.bots.sockets).toEqual([]);
    expect(await service.cdr()).toMatchObject({
      hangupCauseCode: 4000,
      hangupSource: 'Answer XML',
    });
    await finish();
  });

  it('runs the following Stream if its action returns anything else', async () => {
    service.site.on('/recording', document('<Speak>Not now</Speak>'));
    await caller(
      `<Record recordSession="true" redirect="false" maxLength="60" playBeep="false" action="${SITE}/recording"/>` +
        `<Stream keepCallAlive="true">${BOT}</Stream>`,
    );
    expect(service.bots.sockets).toHaveLength(1);
    expect(service.spoken).toEqual([]);
    await finish();
  });
});

describe('Dial (spec: Answer-XML instructions)', () => {
  it('Number: calls the destination digits with callerId', async () => {
    await caller(`<Dial callerId="${DID}"><Number>${OTHER}</Number></Dial>`);
    expect(service.signalling.last).toMatchObject({
      target: { kind: 'carrier', number: OTHER },
      options: { from: { user: DID } },
    });
    await finish();
  });

  it('User: calls the contacts of the sip: URI of a registered endpoint', async () => {
    const username = await registered(service);
    const phone = await caller(
      `<Dial callerId="${DID}"><User>sip:${username}@${HOST}</User></Dial>`,
    );
    expect(service.signalling.last.target).toMatchObject({ kind: 'endpoint', username });
    await service.signalling.last.answers();
    expect(service.media.openBridges).toHaveLength(1);
    expect(phone.sent).toContain('200');
    await finish();
  });

  it('timeout limits the ringing, timeLimit the conversation, in seconds', async () => {
    const dial = `<Dial callerId="${DID}" timeout="20" timeLimit="90" action="${SITE}/dialled" redirect="false">`;
    await caller(`${dial}<Number>${OTHER}</Number></Dial>${WAIT}`);
    await service.signalling.last.rings();
    await service.clock.advance(19_900);
    expect(service.signalling.last.hungUpWith).toBeUndefined();
    await service.clock.advance(200);
    expect(service.signalling.last.hungUpWith).toBe('ringTimeout');
    expect(service.site.onlyCallback('/dialled')).toMatchObject({ DialStatus: 'timeout' });

    await caller(`${dial}<Number>${OTHER}</Number></Dial>${WAIT}`);
    await service.signalling.last.answers();
    await service.clock.advance(89_900);
    expect(service.media.openBridges).toHaveLength(1);
    await service.clock.advance(200);
    expect(service.media.openBridges).toEqual([]);
    expect(service.site.reported('/dialled')[1]).toMatchObject({ DialStatus: 'completed' });
    await finish();
  });

  it('without action and with redirect="false", fetches and runs the answer URL again after the dial', async () => {
    await caller(`<Dial callerId="${DID}"><Number>${OTHER}</Number></Dial>`);
    await service.signalling.last.answers();
    await service.signalling.last.ends('bye');
    expect(service.site.events('/answer')).toEqual(['StartApp', 'StartApp']);
    expect(service.site.reported('/answer').map(({ CallStatus }) => CallStatus)).toEqual([
      ...['ringing', 'in-progress'],
    ]);
    expect(service.signalling.invites).toHaveLength(2);
    await finish();
  });

  it('starts ringing for the caller when the first called party rings, not earlier', async () => {
    const two = `<Number>${OTHER}</Number><Number>14155550123</Number>`;
    const phone = await caller(`<Dial callerId="${DID}">${two}</Dial>`);
    const { invites } = service.signalling;
    expect(invites).toHaveLength(2);
    expect(phone.sent).toEqual([]);
    for (const status of [181, 182, 199]) await invites[0]?.progresses(status);
    expect(phone.sent).toEqual([]);
    await invites[1]?.rings();
    expect(phone.sent).toEqual(['180']);
    await invites[0]?.rings();
    expect(phone.sent).toEqual(['180']);
    await finish();
  });

  it('passes the refusal of the called party to an unanswered caller, unless more elements follow (decisions: Dial does not answer)', async () => {
    const phone = await caller(`<Dial callerId="${DID}"><Number>${OTHER}</Number></Dial>`);
    await service.signalling.last.ends('refused', 486);
    expect(phone.sent).toEqual(['hangup busy']);
    expect(service.site.reported('/answer')).toHaveLength(1);
    expect(await service.cdr(phone.callUuid)).toMatchObject({
      hangupCauseName: 'Busy Line',
      hangupSource: 'Callee',
      hangupDisposition: 'send_refuse',
      answerUs: undefined,
      cost: 0,
    });
    await finish();
  });

  it('ends a document that dials forever with the true cause (decisions: Dial at its end)', async () => {
    await caller(`<Dial callerId="14085550000"><Number>${OTHER}</Number></Dial>${WAIT}`);
    // Three requests immediately, then one per second: a loop is rate-limited.
    expect(service.site.reported('/answer')).toHaveLength(4);
    await service.clock.advance(1000);
    expect(service.site.reported('/answer')).toHaveLength(5);
    await service.clock.advance(REDIRECTS_PER_MINUTE * 1000);
    expect(service.site.reported('/answer')).toHaveLength(REDIRECTS_PER_MINUTE);
    expect(await service.cdr()).toMatchObject({
      hangupCauseName: 'Loop Detected',
      hangupSource: 'Error',
      failureReason: `more than ${REDIRECTS_PER_MINUTE} documents within a minute`,
    });
    await finish();
  });

  it('does not treat slow repeated dials as a loop', async () => {
    await caller(`<Dial callerId="${DID}"><Number>${OTHER}</Number></Dial>${WAIT}`);
    for (let time = 0; time < REDIRECTS_PER_MINUTE + 3; time += 1) {
      await service.clock.advance(10_000);
      await service.signalling.last.ends('refused', 486);
    }
    expect(service.live()).not.toEqual([]);
    await finish();
  });

  it('action: its document replaces the rest; DialBLegUUID is present when a B leg was created', async () => {
    service.site.on('/dialled', document('<Speak>Thank you</Speak>'));
    const phone = await caller(
      `<Dial callerId="${DID}" action="${SITE}/dialled" method="GET"><Number>${OTHER}</Number></Dial>${WAIT}`,
    );
    await service.signalling.last.answers();
    await service.signalling.last.ends('bye');
    const reported = service.site.onlyCallback('/dialled');
    expect(reported).toMatchObject({ Event: 'DialAction', DialStatus: 'completed' });
    expect(reported['DialALegUUID']).toBe(phone.callUuid);
    const bLeg = (await service.cdrs()).find(({ context }) => context === 'dial');
    expect(reported['DialBLegUUID']).toBe(bLeg?.callUuid);
    expect(service.site.requested.find(({ path }) => path === '/dialled')?.method).toBe('GET');
    expect(service.spoken).toEqual(['Thank you']);
    expect(service.site.reported('/answer')).toHaveLength(1);
    await finish();
  });

  it('order of callbacks: DialAnswer, DialConnected, DialHangup, then action; the Hangup of a caller who left comes before action', async () => {
    const dial = `<Dial callerId="${DID}" action="${SITE}/dialled" callbackUrl="${SITE}/leg"><Number>${OTHER}</Number></Dial>`;
    const events = () =>
      service.site.requested
        .map(({ parameters }) => parameters['Event'])
        .filter((e) => e !== 'Ring');
    await caller(dial);
    await service.signalling.last.answers();
    await service.signalling.last.ends('bye');
    const leg = ['DialAnswer', 'DialConnected', 'DialHangup'];
    expect(events().slice(1, 5)).toEqual([...leg, 'DialAction']);
    await finish();
    service.site.requested.splice(0);
    const phone = await caller(dial);
    await service.signalling.last.answers();
    await phone.hangsUp();
    await service.clock.advance(1000);
    expect(events()).toEqual(['StartApp', ...leg, 'Hangup', 'DialAction']);
    await finish();
  });

  it('delays action for earlier callbacks, but only briefly because a caller is waiting', async () => {
    service.site.on('/leg', { fails: 'silence' });
    await caller(
      `<Dial callerId="${DID}" action="${SITE}/dialled" callbackUrl="${SITE}/leg"><Number>${OTHER}</Number></Dial>`,
    );
    await service.signalling.last.ends('refused', 486);
    await service.clock.advance(499);
    expect(service.site.reported('/dialled')).toEqual([]);
    await service.clock.advance(1);
    expect(service.site.onlyCallback('/dialled')).toMatchObject({ DialStatus: 'busy' });
    await service.clock.advance(70_000);
    await finish();
  });

  it('action with redirect="false" is notified, and the document continues', async () => {
    service.site.on('/dialled', document('<Hangup/>'));
    await caller(
      `<Dial callerId="${DID}" action="${SITE}/dialled" redirect="false"><Number>${OTHER}</Number></Dial><Speak>Next</Speak>`,
    );
    await service.signalling.last.ends('refused', 486);
    expect(service.site.onlyCallback('/dialled')).toMatchObject({ DialStatus: 'busy' });
    expect(service.spoken).toEqual(['Next']);
    expect(service.site.reported('/answer')).toHaveLength(1);
    await finish();
  });

  it('refuses the B leg of an inbound call without callerId, without a message to the caller', async () => {
    const phone = await caller(
      `<Dial action="${SITE}/dialled" redirect="false"><Number>${OTHER}</Number></Dial><Speak>Next</Speak>`,
    );
    expect(service.signalling.invites).toEqual([]);
    expect(service.site.onlyCallback('/dialled')).toMatchObject({ DialBLegUUID: '' });
    expect(service.spoken).toEqual(['Next']);
    expect(await service.cdrs()).toEqual([]);
    // The caller gets no message; the timeline states the reason and the fix.
    const [warning] = await service.log(phone.callUuid, 'warning');
    expect(warning).toMatch(/B leg not created .*Dial has no callerId.*14155550199/);
    await finish();
  });

  it('records and charges each leg separately; bills the caller from the answer of the called party', async () => {
    const phone = await caller(
      `<Dial callerId="${DID}" action="${SITE}/dialled"><Number>${OTHER}</Number></Dial>`,
    );
    await service.clock.advance(10_000);
    await service.signalling.last.answers();
    await service.clock.advance(55_000);
    await phone.hangsUp();
    const cdrs = await service.cdrs();
    const [a, b] = ['inbound', 'outbound'].map((way) => cdrs.find((one) => one.direction === way));
    expect(a).toMatchObject({
      billedMs: 60_000,
      cost: PRICE.inbound,
      bridgeUuid: b?.callUuid,
    });
    expect(b).toMatchObject({
      parentCallUuid: a?.callUuid,
      direction: 'outbound',
      billedMs: 60_000,
      cost: PRICE.outbound,
    });
    const charges = (await service.debits()).map(({ reference, amount }) => [reference, amount]);
    expect(Object.fromEntries(charges)).toEqual({
      [`cdr:${a?.callUuid}`]: PRICE.inbound,
      [`cdr:${b?.callUuid}`]: PRICE.outbound,
    });
    await finish();
  });

  it('uses the caller ID of an outbound call if the document names none', async () => {
    service.site.on('/answer', document(`<Dial><Number>${OTHER}</Number></Dial>`));
    await answered(service);
    expect(service.signalling.last).toMatchObject({
      target: { number: OTHER },
      options: { from: { user: DID } },
    });
    await finish();
  });
});

describe('Hangup (spec: Answer-XML instructions)', () => {
  it('ends the call', async () => {
    service.site.on('/answer', document(`<Hangup/>${WAIT}`));
    const { callUuid, invite } = await answered(service);
    expect(invite.hungUpWith).toBe('normal');
    expect(await service.cdr(callUuid)).toMatchObject({
      hangupCauseName: 'Normal Hangup',
      hangupSource: 'Answer XML',
      hangupDisposition: 'send_bye',
    });
    await finish();
  });

  it('as the first element of an inbound call, refuses it unanswered and unbilled (dialect §2.1)', async () => {
    const phone = await caller('<Hangup reason="busy"/>');
    expect(phone.sent).toEqual(['hangup busy']);
    expect(await service.cdr()).toMatchObject({
      hangupCauseName: 'Busy Line',
      hangupDisposition: 'send_refuse',
      billedMs: 0,
      cost: 0,
    });
    await finish();
  });

  it.each([
    ['busy', 'busy', 3010, 'USER_BUSY'],
    ['rejected', 'rejected', 3020, 'CALL_REJECTED'],
  ])(
    'after PreAnswer or Wait, refuses the call with reason="%s" as well',
    async (reason, sent, code, cause) => {
      const phone = await caller(
        `<PreAnswer><Wait length="1"/></PreAnswer><Wait length="1"/><Hangup reason="${reason}"/>`,
      );
      await service.clock.advance(2000);
      expect(phone.sent).toEqual(['183', `hangup ${sent}`]);
      expect(await service.cdr()).toMatchObject({
        hangupCauseCode: code,
        hangupCause: cause,
        hangupSource: 'Answer XML',
        answerUs: undefined,
        cost: 0,
      });
      await finish();
    },
  );
});

describe('Speak (spec: Answer-XML instructions)', () => {
  it('can precede a stream, which connects after the speech', async () => {
    const phone = await caller(
      `<Speak>One moment</Speak><Stream bidirectional="true" keepCallAlive="true">${BOT}</Stream>`,
    );
    expect(service.spoken).toEqual(['One moment']);
    expect(service.bots.sockets).toEqual([]);
    phone.media.sounding[0]?.complete();
    await settle();
    expect(service.bots.sockets).toHaveLength(1);
    await finish();
  });
});

describe('rule 1: a hangup notification is not a request for instructions', () => {
  it('does not run a Dial in the response of the hangup URL', async () => {
    service.site.on(
      '/hangup',
      document(`<Dial callerId="${DID}"><Number>${OTHER}</Number></Dial>`),
    );
    const phone = await caller(WAIT);
    await phone.hangsUp();
    await service.clock.advance(5000);
    expect(service.site.events('/hangup')).toEqual(['Hangup']);
    expect(service.signalling.invites).toEqual([]);
    expect(await service.cdrs()).toHaveLength(1);
    await finish();
  });

  it('identifies the hangup by Event if the URLs are the same, and ignores the Dial', async () => {
    const { accountId, provisioning, appId } = service;
    await provisioning.applications.patch(accountId, appId, { hangupUrl: `${SITE}/answer` });
    const phone = await caller(
      `<Dial callerId="${DID}" action="${SITE}/dialled"><Number>${OTHER}</Number></Dial>`,
    );
    await phone.hangsUp();
    await service.clock.advance(5000);
    expect(service.site.events('/answer')).toEqual(['StartApp', 'Hangup']);
    expect(service.signalling.invites).toHaveLength(1);
    await finish();
  });
});

describe('rule 2: From identifies the caller', () => {
  it('a sip: URI and RouteType sip: a registered endpoint calls; its document dials Number', async () => {
    const username = await registered(service);
    service.site.on('/answer', ({ parameters }) =>
      document(`<Dial callerId="${DID}"><Number>${parameters['To']}</Number></Dial>`),
    );
    await dialledBy(service, username, FAR);
    expect(service.site.onlyCallback('/answer')).toMatchObject({
      From: `sip:${username}@${HOST}`,
      RouteType: 'sip',
    });
    expect(service.signalling.last).toMatchObject({
      target: { kind: 'carrier', number: FAR },
      options: { from: { user: DID } },
    });
    await finish();
  });

  it('a plain number: an inbound PSTN call; its document reaches the endpoint by User', async () => {
    const username = await registered(service);
    const dial = `<Dial callerId="${DID}"><User>sip:${username}@${HOST}</User></Dial>`;
    await caller(dial);
    expect(service.site.onlyCallback('/answer')).toMatchObject({ From: FAR, RouteType: 'pstn' });
    expect(service.signalling.last.target).toMatchObject({ kind: 'endpoint', username });
    await finish();
  });
});

describe('rule 3: a bare & makes the document invalid', () => {
  it('in the text of an element', async () => {
    await expectInvalid(`<Stream>${BOT}?a=1&b=2</Stream>`, /line 1, column \d+: .*&/);
  });

  it('in an attribute', async () => {
    await expectInvalid(
      `<Dial action="${SITE}/dialled?a=1&b=2"><Number>${OTHER}</Number></Dial>`,
      /line 1, column \d+: .*&/,
    );
  });

  it('&amp; is read as &', async () => {
    await caller(`<Stream keepCallAlive="true">${BOT}?a=1&amp;b=2</Stream>`);
    expect(service.bots.last.options.url).toBe(`${BOT}?a=1&b=2`);
    await finish();
  });
});

describe('rule 4: endpoints and the REST call operation', () => {
  it('fails a call to a registered endpoint with Endpoint Not Registered, without an INVITE', async () => {
    const username = await registered(service);
    const uri = `sip:${username}@${HOST}`;
    const callUuid = await placed(service, { destinations: [{ kind: 'sip', uri }] });
    expect(service.signalling.invites).toEqual([]);
    expect(await service.cdr(asCallUuid(callUuid))).toMatchObject({
      hangupCauseCode: 2020,
      hangupCauseName: 'Endpoint Not Registered',
      hangupCause: 'USER_NOT_REGISTERED',
    });
    expect(service.site.onlyCallback('/hangup')).toMatchObject({
      HangupCauseName: 'Endpoint Not Registered',
    });
    await finish();
  });

  it("makes the endpoint's INVITE the A leg, whose document dials the customer with Number", async () => {
    const username = await registered(service);
    service.site.on(
      '/answer',
      document(`<Dial callerId="${DID}"><Number>${OTHER}</Number></Dial>`),
    );
    const phone = await dialledBy(service, username, OTHER);
    await service.signalling.last.answers();
    expect(service.media.openBridges).toHaveLength(1);
    await phone.hangsUp();
    const records = await service.cdrs();
    expect(records.map(({ context }) => context).sort()).toEqual(['dial', 'sip-endpoint']);
    const b = records.find(({ context }) => context === 'dial');
    expect(b).toMatchObject({ parentCallUuid: phone.callUuid, to: OTHER });
    await finish();
  });
});
