/** Spec "Events / Call callbacks": names, fields and values as the customer's web server receives them. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { asCallUuid } from '../../src/base/ids.ts';
import { settle } from '../sim/clock.ts';
import { answered, calledFrom, dialledBy, placed, registered } from './calls/phone.ts';
import {
  type CallService,
  DID,
  FAR,
  HOST,
  NOTHING_LEFT,
  openCallService,
} from './calls/service.ts';
import { document, SITE } from './calls/site.ts';

let service: CallService;
beforeEach(async () => {
  service = await openCallService();
  service.site.on('/answer', document('<Wait length="3600"/>'));
});
afterEach(() => service.close());

/** Ends the test: hangs up all remaining calls and expects no leftovers. */
async function finish(): Promise<void> {
  for (const call of service.live()) call.hangup('normal', 'API Request');
  await settle();
  expect(await service.leftovers()).toEqual(NOTHING_LEFT);
}

const namesOf = (parameters: Readonly<Record<string, string>>): string[] =>
  Object.keys(parameters).sort();

/** Fields of every callback in addition to the list in the spec (dialect §0.2 rule 9). */
const ACCOUNT = ['ParentAuthID'];
/** `YYYY-MM-DD HH:mm:ss.sssss` UTC. */
const SESSION_START = /^2026-01-01 00:00:\d\d\.\d{5}$/;
const LOCAL_TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;

describe('ring_url (spec: Call callbacks)', () => {
  const RING = [
    ...['From', 'To', 'RequestUUID', 'ALegRequestUUID', 'CallUUID', 'Direction', 'Event'],
    ...['CallStatus', 'SessionStart', 'STIRAttestation'],
  ];

  it('Event Ring has exactly the listed fields', async () => {
    await answered(service, { callerName: 'Ada' });
    expect(namesOf(service.site.onlyCallback('/ring'))).toEqual([...RING, ...ACCOUNT].sort());
    await finish();
  });

  it('Direction is always outbound, CallStatus always ringing, numbers are E.164 digits', async () => {
    const { callUuid } = await answered(service);
    expect(service.site.onlyCallback('/ring')).toEqual({
      From: DID,
      To: FAR,
      RequestUUID: callUuid,
      ALegRequestUUID: callUuid,
      CallUUID: callUuid,
      Direction: 'outbound',
      Event: 'Ring',
      CallStatus: 'ringing',
      SessionStart: expect.stringMatching(SESSION_START),
      STIRAttestation: '',
      ParentAuthID: service.accountId,
    });
    await finish();
  });

  it('is sent when ringing starts, once, before the answer', async () => {
    await placed(service);
    expect(service.site.reported('/ring')).toEqual([]);
    await service.signalling.last.rings();
    await service.signalling.last.rings();
    expect(service.site.events('/ring')).toEqual(['Ring']);
    expect(service.site.reported('/answer')).toEqual([]);
    await finish();
  });

  it('uses ring_method, by default POST; a GET carries the fields in its query', async () => {
    await answered(service);
    await answered(service, { ring: { url: `${SITE}/ring-get?tenant=7`, method: 'GET' } });
    const methods = service.site.requested.filter(({ path }) => path.startsWith('/ring'));
    expect(methods.map(({ method }) => method)).toEqual(['POST', 'GET']);
    expect(service.site.onlyCallback('/ring-get')).toMatchObject({ tenant: '7', Event: 'Ring' });
    await finish();
  });
});

describe('answer_url and fallback_url (spec: Call callbacks)', () => {
  const START_APP = [
    ...['From', 'To', 'RequestUUID', 'ALegRequestUUID', 'CallUUID', 'Direction', 'ALegUUID'],
    ...['Event', 'STIRVerification', 'CallStatus', 'SessionStart', 'STIRAttestation'],
  ];

  it('Event StartApp has exactly the listed fields; CallerName only for a SIP endpoint', async () => {
    await answered(service, { callerName: 'Ada' });
    // RouteType comes from rule 2 of the answer XML.
    const expected = [...START_APP, ...ACCOUNT, 'RouteType'].sort();
    expect(namesOf(service.site.onlyCallback('/answer'))).toEqual(expected);
    await finish();
  });

  it('Direction is always outbound, CallStatus always in-progress', async () => {
    const { callUuid } = await answered(service);
    expect(service.site.onlyCallback('/answer')).toMatchObject({
      From: DID,
      To: FAR,
      RequestUUID: callUuid,
      ALegRequestUUID: callUuid,
      CallUUID: callUuid,
      ALegUUID: callUuid,
      Direction: 'outbound',
      Event: 'StartApp',
      CallStatus: 'in-progress',
      STIRVerification: 'Not Applicable',
      STIRAttestation: '',
      SessionStart: expect.stringMatching(SESSION_START),
    });
    await finish();
  });

  it('requests fallback_url with the same parameters, after 3 retries of answer_url', async () => {
    service.site.on('/answer', 500);
    service.site.on('/fallback', document('<Wait length="3600"/>'));
    await answered(service);
    await service.clock.advance(10_000);
    const attempts = service.site.reported('/answer');
    expect(attempts).toHaveLength(4);
    expect(service.site.onlyCallback('/fallback')).toEqual(attempts[0]);
    await finish();
  });

  it('requests fallback_url after 60 s without a response from answer_url', async () => {
    service.site.on('/answer', { fails: 'silence' });
    service.site.on('/fallback', document('<Wait length="3600"/>'));
    // The read timeout exceeds 60 s, so that the 60 s limit applies (dialect §6: read timeout of an attempt).
    const answer = { url: `${SITE}/answer#rt=40000`, method: 'POST' } as const;
    await answered(service, { answer });
    await service.clock.advance(59_900);
    expect(service.site.reported('/fallback')).toEqual([]);
    await service.clock.advance(200);
    expect(service.site.reported('/fallback')).toHaveLength(1);
    await finish();
  });

  it('ends the call with 7011 Error Reaching Answer URL when fallback_url fails too', async () => {
    service.site.on('/answer', { fails: 'connect' });
    service.site.on('/fallback', 500);
    const { callUuid } = await answered(service);
    await service.clock.advance(20_000);
    expect(service.site.reported('/fallback')).toHaveLength(4);
    expect(await service.cdr(callUuid)).toMatchObject({
      hangupCauseCode: 7011,
      hangupCauseName: 'Error Reaching Answer URL',
      hangupSource: 'Error',
    });
    await finish();
  });
});

describe('hangup_url (spec: Call callbacks)', () => {
  const HANGUP = [
    ...['From', 'To', 'RequestUUID', 'ALegRequestUUID', 'CallUUID', 'Direction', 'ALegUUID'],
    ...['Event', 'stir_verification', 'CallStatus', 'StartTime', 'AnswerTime', 'EndTime'],
    ...['SessionStart', 'STIRAttestation', 'Duration'],
  ];
  /** Fields that both vendors add (dialect §5.4). */
  const OUTCOME = [
    ...['BillDuration', 'HangupCause', 'HangupCauseCode', 'HangupCauseName', 'HangupSource'],
  ];

  async function completed(): Promise<string> {
    const callUuid = await placed(service, { callerName: 'Ada' });
    await service.clock.advance(2000);
    await service.signalling.last.rings();
    await service.clock.advance(4000);
    await service.signalling.last.answers();
    await service.clock.advance(44_000);
    await service.signalling.last.ends('bye');
    await settle();
    return callUuid;
  }

  it('Event Hangup has exactly the listed fields and the outcome', async () => {
    await completed();
    const expected = [...HANGUP, ...OUTCOME, ...ACCOUNT].sort();
    expect(namesOf(service.site.onlyCallback('/hangup'))).toEqual(expected);
    await finish();
  });

  it('Direction is always outbound, CallStatus always completed; times are local', async () => {
    const callUuid = await completed();
    expect(service.site.onlyCallback('/hangup')).toMatchObject({
      From: DID,
      To: FAR,
      RequestUUID: callUuid,
      ALegRequestUUID: callUuid,
      CallUUID: callUuid,
      ALegUUID: callUuid,
      Direction: 'outbound',
      Event: 'Hangup',
      CallStatus: 'completed',
      stir_verification: 'Not Applicable',
      StartTime: expect.stringMatching(LOCAL_TIME),
      AnswerTime: expect.stringMatching(LOCAL_TIME),
      EndTime: expect.stringMatching(LOCAL_TIME),
      SessionStart: expect.stringMatching(SESSION_START),
      HangupCause: 'NORMAL_CLEARING',
      HangupCauseCode: '4000',
      HangupSource: 'Callee',
    });
    await finish();
  });

  it('CallStatus is completed for an unanswered call too; AnswerTime is empty, Duration 0', async () => {
    await placed(service);
    await service.signalling.last.ends('refused', 486);
    expect(service.site.onlyCallback('/hangup')).toMatchObject({
      CallStatus: 'completed',
      AnswerTime: '',
      Duration: '0',
      BillDuration: '0',
      HangupCauseCode: '3010',
      HangupCauseName: 'Busy Line',
    });
    await finish();
  });

  it('Duration counts answered seconds; the duration of the CDR includes ringing', async () => {
    const callUuid = await completed();
    expect(service.site.onlyCallback('/hangup')).toMatchObject({
      Duration: '44',
      BillDuration: '60',
    });
    const { startUs, endUs } = await service.cdr(asCallUuid(callUuid));
    expect((endUs - startUs) / 1_000_000).toBe(50);
    await finish();
  });

  it('contains no cost; the cost is in the CDR', async () => {
    const callUuid = await completed();
    const names = namesOf(service.site.onlyCallback('/hangup'));
    expect(names.filter((name) => /cost|rate|amount|price/i.test(name))).toEqual([]);
    expect((await service.cdr(asCallUuid(callUuid))).cost).toBe(60_000);
    await finish();
  });

  it('is sent once, after all other callbacks of the call', async () => {
    await completed();
    await service.clock.advance(60_000);
    expect(service.site.requested.map(({ path }) => path)).toEqual(['/ring', '/answer', '/hangup']);
    await finish();
  });

  it("is stored with the record and retried while the customer's server is down", async () => {
    let attempts = 0;
    service.site.on('/hangup', () => {
      attempts += 1;
      return attempts < 3 ? 503 : '';
    });
    await completed();
    await service.clock.advance(10_000);
    const [first, ...again] = service.site.reported('/hangup');
    expect(again).toHaveLength(2);
    expect(again.at(-1)).toEqual(first);
    await finish();
  });
});

describe('inbound calls (spec: Call callbacks; Answer-XML rule 2)', () => {
  it("requests the application's answer URL for an inbound PSTN call, with a plain number in From", async () => {
    const phone = await calledFrom(service, {});
    expect(service.site.onlyCallback('/answer')).toEqual({
      From: FAR,
      To: DID,
      CallUUID: phone.callUuid,
      Direction: 'inbound',
      Event: 'StartApp',
      CallStatus: 'ringing',
      SessionStart: expect.stringMatching(SESSION_START),
      RouteType: 'pstn',
      STIRVerification: 'Not Applicable',
      STIRAttestation: '',
      ParentAuthID: service.accountId,
    });
    await finish();
  });

  it('sends a sip: URI in From, RouteType sip and CallerName for a call of a registered endpoint', async () => {
    const username = await registered(service);
    await dialledBy(service, username, FAR);
    expect(service.site.onlyCallback('/answer')).toMatchObject({
      From: `sip:${username}@${HOST}`,
      To: FAR,
      CallerName: 'Alice',
      RouteType: 'sip',
      Direction: 'inbound',
      Event: 'StartApp',
    });
    await finish();
  });

  it('sends STIRVerification Not Verified if the INVITE had an Identity header', async () => {
    await calledFrom(service, {}, { headers: [['Identity', 'eyJ…;info=<https://c.test>']] });
    expect(service.site.onlyCallback('/answer')['STIRVerification']).toBe('Not Verified');
    await finish();
  });

  it('forwards X-PH- and X-VH- headers of the INVITE and the forwarding number (dialect §5)', async () => {
    await calledFrom(
      service,
      {},
      {
        headers: [
          ['X-PH-Tenant', '7'],
          ['X-VH-Queue', 'sales'],
          ['Diversion', '<sip:+14155550155@c.test>;reason=unconditional'],
          ['P-Asserted-Identity', '<sip:secret@c.test>'],
        ],
      },
    );
    const reported = service.site.onlyCallback('/answer');
    expect(reported).toMatchObject({
      'X-PH-Tenant': '7',
      'X-VH-Queue': 'sales',
      ForwardedFrom: '14155550155',
    });
    expect(JSON.stringify(reported)).not.toContain('secret');
    await finish();
  });

  it('sends a number without its + (E.164 digits)', async () => {
    await calledFrom(service, { from: `+${FAR}` });
    expect(service.site.onlyCallback('/answer')['From']).toBe(FAR);
    await finish();
  });

  it('omits request and A-leg fields from the hangup of an inbound call', async () => {
    const phone = await calledFrom(service);
    await phone.hangsUp();
    const reported = service.site.onlyCallback('/hangup');
    expect(reported).toMatchObject({
      Event: 'Hangup',
      Direction: 'inbound',
      CallStatus: 'completed',
    });
    expect(namesOf(reported).filter((name) => /Request|ALeg/.test(name))).toEqual([]);
    await finish();
  });
});

describe('other callbacks (spec: Call callbacks)', () => {
  it('sends the asynchronous result to machine_detection_url while the document runs', async () => {
    const callback = { url: `${SITE}/amd`, method: 'POST' } as const;
    const machineDetection = {
      mode: 'detect',
      callback,
      totalMs: 5000,
      maximumSpeechMs: 5000,
      initialSilenceMs: 4500,
      maximumWords: 3,
      initialGreetingMs: 1500,
    } as const;
    const { callUuid } = await answered(service, { machineDetection });
    expect(service.site.events('/answer')).toEqual(['StartApp']);
    service.media.leg(0).detections[0]?.conclude('beep');
    await settle();
    expect(service.site.onlyCallback('/amd')).toMatchObject({
      Event: 'MachineDetection',
      CallUUID: callUuid,
      RequestUUID: callUuid,
      CallStatus: 'in-progress',
      Machine: 'true',
    });
    await finish();
  });

  it('sends Record callbackUrl with a working link when the file is downloadable', async () => {
    service.site.on(
      '/answer',
      document(
        `<Record recordSession="true" redirect="false" maxLength="600" callbackUrl="${SITE}/rec"/>` +
          '<Wait length="3600"/>',
      ),
    );
    const phone = await calledFrom(service);
    await service.clock.advance(30_000);
    expect(service.site.reported('/rec')).toEqual([]);
    await phone.hangsUp();
    await service.clock.advance(5000);
    const reported = service.site.onlyCallback('/rec');
    expect(reported).toMatchObject({ Event: 'RecordStop', CallUUID: phone.callUuid });
    const link = new URL(reported['RecordUrl'] ?? '');
    const query = Object.fromEntries(link.searchParams);
    expect(service.links.opens(link.pathname + link.search, query)).toBe(true);
    expect([...service.files.keys()].filter((file) => file.endsWith('.mp3'))).toHaveLength(1);
    expect(service.site.requested.map(({ path }) => path).slice(-2)).toEqual(['/hangup', '/rec']);
    await finish();
  });

  it('delivers the callbacks of a call in order, also during retries', async () => {
    let attempts = 0;
    service.site.on('/ring', () => {
      attempts += 1;
      return attempts < 3 ? 503 : '';
    });
    const { invite } = await answered(service);
    await invite.ends('bye');
    await settle();
    expect(service.site.reported('/hangup')).toEqual([]);
    await service.clock.advance(10_000);
    const paths = service.site.requested.map(({ path }) => path);
    expect(paths).toEqual(['/ring', '/answer', '/ring', '/ring', '/hangup']);
    await finish();
  });

  it('a failing ring URL delays no document and is abandoned while the call continues', async () => {
    service.site.on('/ring', { fails: 'connect' });
    const { callUuid } = await answered(service);
    expect(service.site.reported('/answer')).toHaveLength(1);
    await service.clock.advance(60_000);
    expect(service.site.reported('/ring')).toHaveLength(4);
    expect(service.live().map(({ uuid }) => uuid)).toEqual([callUuid]);
    await finish();
  });

  it('answer_method, hangup_method and fallback_method: GET sends the fields in the query', async () => {
    service.site.on('/answer', 500);
    service.site.on('/fallback', document('<Wait length="3600"/>'));
    const get = (path: string) => ({ url: `${SITE}${path}?tenant=7`, method: 'GET' }) as const;
    const urls = { answer: get('/answer'), fallback: get('/fallback'), hangup: get('/hangup') };
    const { invite } = await answered(service, urls);
    await service.clock.advance(10_000);
    await invite.ends('bye');
    await settle();
    const requested = service.site.requested.filter(({ path }) => path !== '/ring');
    expect(new Set(requested.map(({ method }) => method))).toEqual(new Set(['GET']));
    expect(service.site.onlyCallback('/fallback')).toMatchObject({
      tenant: '7',
      Event: 'StartApp',
    });
    expect(service.site.onlyCallback('/hangup')).toMatchObject({ tenant: '7', Event: 'Hangup' });
    await finish();
  });

  it('signs webhook requests with V3 HMAC (spec: Authentication 9)', async () => {
    await answered(service);
    const [ring] = service.site.requested;
    expect(ring?.headers).toMatchObject({
      'X-Vobiz-Signature-V3': expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/),
      'X-Vobiz-Signature-V3-Nonce': expect.stringMatching(/^\d{20}$/),
      'X-Plivo-Signature-V3': expect.stringMatching(/^[A-Za-z0-9+/]{43}=$/),
    });
    await finish();
  });
});
