import { beforeEach, describe, expect, it } from 'vitest';
import { dialOf } from '../../../src/domain/interpreter/interpreter.ts';
import { settle } from '../../sim/clock.ts';
import { type CalledPhone, NOTHING_LEFT, Scene, SDP_WITHOUT_EVENTS } from './scene.ts';

const EVENTS = 'https://app.test/dial-events';
const ACTION = 'https://app.test/action';
const ANSWER = 'https://app.test/answer';

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

/** Returns the phone that was called at `index`; default: the only one. */
function called(index = 0): CalledPhone {
  const phone = scene.called[index];
  if (phone === undefined) throw new Error(`no phone was called at ${index}`);
  return phone;
}

const dialXml = (attributes: string, destinations = '<Number>14155550111</Number>'): string =>
  `<Dial callerId="14155550199" callbackUrl="${EVENTS}" ${attributes}>${destinations}</Dial>`;

describe('Dial: ringing (dialect §2.1)', () => {
  it("calls.answerBeforeDial: answers the caller, dials with the document's caller ID and plays ringback from the first 180", async () => {
    scene.answerBeforeDial = true;
    const a = await scene.caller(dialXml(''));
    expect(a.call.isAnswered).toBe(true);
    expect(called().request).toMatchObject({
      parent: a.call,
      callerId: '14155550199',
      destination: { kind: 'number', number: '14155550111' },
    });
    expect(a.media.sounding).toHaveLength(0);
    expect(a.media.isRingback).toBe(false);
    called().rings();
    expect(a.media.sounding).toMatchObject([{ what: { loop: true }, mix: false }]);
    expect(a.media.isRingback).toBe(true);
    await called().answers();
    expect(a.media.sounding).toHaveLength(0);
    expect(a.media.isRingback).toBe(false);
  });

  it('passes no callerId to the dialer if the document has none; the dialer decides on the B leg', async () => {
    scene.refused.add('14155550111');
    scene.documents.set(ACTION, '<Response/>');
    const a = await scene.caller(`<Dial action="${ACTION}">14155550111</Dial>`);
    await a.running;
    expect(scene.requests.at(-1)).toMatchObject({
      url: ACTION,
      parameters: { DialStatus: 'failed', DialRingStatus: 'false', DialBLegUUID: '' },
    });
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('ends unanswered legs at the timeout: 6010, DialStatus timeout', async () => {
    const a = await scene.caller(dialXml(`timeout="20" action="${ACTION}" redirect="false"`));
    called().rings();
    await scene.clock.advance(19_999);
    expect(called().hungUpWith).toEqual([]);
    await scene.clock.advance(1);
    await a.running;
    expect(called().hungUpWith).toEqual(['ringTimeout']);
    expect(scene.reported(EVENTS)).toMatchObject([
      {
        Event: 'DialHangup',
        DialBLegHangupCause: 'NO_ANSWER',
        DialBLegHangupCauseCode: '6010',
        DialBLegHangupSource: 'Carillon',
        DialBLegDuration: '0',
        DialBLegBillDuration: '0',
      },
    ]);
    expect(scene.reported(ACTION)).toMatchObject([
      { Event: 'DialAction', DialStatus: 'timeout', DialRingStatus: 'true' },
    ]);
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it.each([
    [486, 'busy', 'USER_BUSY'],
    [600, 'busy', 'USER_BUSY'],
    [480, 'no-answer', 'NO_ANSWER'],
    [404, 'failed', 'UNALLOCATED_NUMBER'],
    [503, 'failed', 'SERVICE_UNAVAILABLE'],
  ])('reports a refusal with %i as DialStatus %s', async (status, reported, cause) => {
    const a = await scene.caller(dialXml(`action="${ACTION}" redirect="false"`));
    called().ends('refused', status);
    await a.running;
    expect(scene.reported(ACTION)).toMatchObject([
      { DialStatus: reported, DialHangupCause: cause, DialBLegUUID: called().call.uuid },
    ]);
  });

  it('dialMusic="real" passes early media of the called party to the caller', async () => {
    scene.answerBeforeDial = true;
    const a = await scene.caller(dialXml('dialMusic="real"'));
    called().rings();
    expect(a.media.sounding).toHaveLength(1);
    called().earlyMedia();
    expect(a.media.sounding).toHaveLength(0);
    expect(scene.media.openBridges).toMatchObject([{ a: a.media, b: called().media }]);
    await called().answers();
    expect(scene.media.openBridges).toMatchObject([{ a: a.media, b: called().media }]);
  });

  it('dialMusic="real": the tone resumes when the party with early media fails', async () => {
    scene.answerBeforeDial = true;
    const a = await scene.caller(
      dialXml('dialMusic="real"', '<Number>14155550111</Number><Number>14155550112</Number>'),
    );
    called(0).earlyMedia();
    called(0).ends('refused', 486);
    await settle();
    expect(scene.media.openBridges).toHaveLength(0);
    expect(a.media.sounding).toHaveLength(1);
  });

  it('dialMusic with a URL repeats its file until the answer', async () => {
    const a = await scene.caller(dialXml('dialMusic="https://app.test/music.mp3"'));
    expect(scene.loaded).toEqual(['https://app.test/music.mp3']);
    // A very short file must not be repeated a thousand times per second.
    a.media.sounding[0]?.complete();
    await scene.clock.advance(999);
    expect(a.media.sounding).toHaveLength(0);
    await scene.clock.advance(1);
    expect(a.media.sounding).toHaveLength(1);
    await called().answers();
    expect(a.media.sounding).toHaveLength(0);
  });

  it('dialMusic with the URL of a document runs that document', async () => {
    const url = 'https://app.test/music';
    scene.documents.set(url, '<Response><Play>https://app.test/a.wav</Play></Response>');
    await scene.caller(dialXml(`dialMusic="${url}"`));
    expect(scene.requests.at(-1)).toMatchObject({ url, parameters: { Event: 'DialMusic' } });
    expect(scene.loaded).toEqual(['https://app.test/a.wav']);
  });

  it('dialMusic with an empty document stays silent and requests it once', async () => {
    const url = 'https://app.test/music';
    scene.documents.set(url, '<Response/>');
    await scene.caller(dialXml(`dialMusic="${url}" timeout="30"`));
    expect(scene.clock.nextMs()).toBe(30_000);
  });

  it('calls a Number with its callerId', async () => {
    await scene.caller(
      dialXml('', '<Number callerId="14155550177">14155550111</Number><Number>1415555</Number>'),
    );
    expect(scene.called.map(({ request }) => request.callerId)).toEqual([
      '14155550177',
      '14155550199',
    ]);
  });

  it('sends sendDigits once: after the answer, or with sendOnPreanswer at the first early media', async () => {
    await scene.caller(
      dialXml(
        '',
        '<Number sendDigits="ww12">14155550111</Number>' +
          '<Number sendDigits="34" sendOnPreanswer="true">14155550112</Number>',
      ),
    );
    called(0).earlyMedia();
    called(1).earlyMedia();
    expect(called(0).media.digits).toEqual([]);
    expect(called(1).media.digits).toEqual(['34']);
    await called(0).answers();
    expect(called(0).media.digits).toEqual(['ww12']);
  });

  it('does not repeat digits at the answer that were sent on early media', async () => {
    await scene.caller(
      dialXml('', '<Number sendDigits="34" sendOnPreanswer="true">14155550112</Number>'),
    );
    called().earlyMedia();
    await called().answers();
    expect(called().media.digits).toEqual(['34']);
  });
});

describe('Dial: parallel ringing, the first answer wins (dialect §2.1)', () => {
  const BOTH = '<Number>14155550111</Number><User>sip:bob1234@sip.test</User>';

  it('hangs up the losers as Lost Race and reports them', async () => {
    const a = await scene.caller(dialXml('', BOTH));
    called(0).rings();
    called(1).rings();
    await called(1).answers();
    expect(called(0).hungUpWith).toEqual(['lostRace']);
    expect(scene.media.openBridges).toMatchObject([{ a: a.media, b: called(1).media }]);
    expect(scene.reported(EVENTS)).toMatchObject([
      { Event: 'DialAnswer', DialBLegPosition: '2', DialBLegTo: 'sip:bob1234@sip.test' },
      { Event: 'DialConnected', DialBLegPosition: '2' },
      {
        Event: 'DialHangup',
        DialBLegPosition: '1',
        DialBLegHangupCause: 'LOSE_RACE',
        DialBLegHangupCauseCode: '9000',
        DialBLegHangupCauseName: 'Lost Race',
      },
    ]);
  });

  it('continues while at least one destination rings', async () => {
    const a = await scene.caller(dialXml('', BOTH));
    called(0).ends('refused', 486);
    await settle();
    await called(1).answers();
    expect(a.call.bridgeUuid).toBe(called(1).call.uuid);
  });

  it('hangs up a simultaneous 200 of another destination as Lost Race', async () => {
    await scene.caller(dialXml('', BOTH));
    void called(0).answers();
    void called(1).answers();
    await settle();
    expect(called(1).hungUpWith).toEqual(['lostRace']);
    expect(scene.media.openBridges).toHaveLength(1);
  });

  it('reports an attempt without a leg to callbackUrl, and its reason to action', async () => {
    scene.refused.add('14155550111');
    const a = await scene.caller(
      dialXml(`action="${ACTION}" redirect="false"`, '<Number>14155550111</Number>'),
    );
    await a.running;
    const why = {
      DialBLegUUID: '',
      DialBLegDuration: '0',
      DialBLegBillDuration: '0',
      DialBLegHangupCauseCode: '2020',
      DialBLegHangupCauseName: 'Endpoint Not Registered',
      DialBLegHangupSource: 'Error',
      DialBLegFailureReason: 'not there',
    };
    expect(scene.notifications.map(({ event }) => event)).toEqual(['DialHangup', 'DialAction']);
    expect(scene.reported(EVENTS)).toMatchObject([
      {
        ...why,
        Event: 'DialHangup',
        DialAction: 'hangup',
        DialBLegFrom: '14155550199',
        DialBLegTo: '14155550111',
        DialBLegPosition: '1',
        DialBLegHangupCause: 'USER_NOT_REGISTERED',
      },
    ]);
    expect(scene.reported(ACTION)).toMatchObject([
      { ...why, DialStatus: 'failed', DialHangupCause: 'USER_NOT_REGISTERED' },
    ]);
  });

  it("prefers a called party's failure over an attempt without a leg", async () => {
    scene.refused.add('sip:bob1234@sip.test');
    const a = await scene.caller(dialXml(`action="${ACTION}" redirect="false"`, BOTH));
    called(0).ends('refused', 404);
    await a.running;
    expect(scene.reported(EVENTS)).toMatchObject([
      { DialBLegUUID: '', DialBLegPosition: '2' },
      { DialBLegUUID: called(0).call.uuid, DialBLegPosition: '1' },
    ]);
    expect(scene.reported(ACTION)).toMatchObject([
      { DialBLegUUID: called(0).call.uuid, DialHangupCause: 'UNALLOCATED_NUMBER' },
    ]);
  });

  it('prefers a busy party over an unknown number', async () => {
    const a = await scene.caller(dialXml(`action="${ACTION}" redirect="false"`, BOTH));
    called(0).ends('refused', 404);
    called(1).ends('refused', 486);
    await a.running;
    expect(scene.reported(ACTION)).toMatchObject([
      { DialStatus: 'busy', DialBLegUUID: called(1).call.uuid },
    ]);
  });
});

describe('Dial: confirmSound and confirmKey (dialect §2.1)', () => {
  const CONFIRM = 'confirmSound="https://app.test/press-1.wav" confirmKey="1" confirmTimeout="5"';

  it('connects only after the key, which may be pressed during the sound', async () => {
    scene.answerBeforeDial = true;
    const a = await scene.caller(dialXml(CONFIRM));
    called().rings();
    await called().answers();
    expect(called().media.sounding).toHaveLength(1);
    expect(a.media.sounding).toHaveLength(1);
    expect(scene.media.openBridges).toHaveLength(0);
    called().press('1');
    await settle();
    expect(called().media.sounding).toHaveLength(0);
    expect(scene.media.openBridges).toHaveLength(1);
    expect(scene.events(EVENTS)).toEqual(['DialAnswer', 'DialConnected']);
  });

  it('ends the leg after a wrong key with 9110 Confirm Key Challenge Failed', async () => {
    const a = await scene.caller(dialXml(`${CONFIRM} action="${ACTION}" redirect="false"`));
    await called().answers();
    called().press('2');
    await a.running;
    expect(called().hungUpWith).toEqual(['confirmKeyFailed']);
    expect(scene.reported(EVENTS).at(-1)).toMatchObject({ DialBLegHangupCauseCode: '9110' });
    expect(scene.reported(ACTION)).toMatchObject([{ DialStatus: 'failed' }]);
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('ends the leg if no key arrives within confirmTimeout after the sound', async () => {
    await scene.caller(dialXml(CONFIRM));
    await called().answers();
    await scene.clock.advance(60_000);
    expect(called().hungUpWith).toEqual([]);
    called().media.sounding[0]?.complete();
    await scene.clock.advance(4999);
    expect(called().hungUpWith).toEqual([]);
    await scene.clock.advance(1);
    expect(called().hungUpWith).toEqual(['confirmKeyFailed']);
  });

  it('ends the leg normally if the caller hangs up during the confirmation: the called party did not fail it', async () => {
    const a = await scene.caller(dialXml(CONFIRM));
    await called().answers();
    a.call.hangup('normal', 'Caller');
    await a.running;
    expect(called().hungUpWith).toEqual(['normal']);
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('connects after the end of the sound if there is no confirmKey', async () => {
    await scene.caller(dialXml('confirmSound="https://app.test/hello.wav"'));
    await called().answers();
    expect(scene.media.openBridges).toHaveLength(0);
    called().media.sounding[0]?.complete();
    await settle();
    expect(scene.media.openBridges).toHaveLength(1);
  });

  it("disconnects the caller from a party's early media during its confirmation", async () => {
    scene.answerBeforeDial = true;
    const a = await scene.caller(dialXml(`${CONFIRM} dialMusic="real"`));
    called().earlyMedia();
    await called().answers();
    expect(scene.media.openBridges).toHaveLength(0);
    expect(a.media.sounding).toHaveLength(1);
  });

  it('counts timeLimit from the answer, including the confirmation', async () => {
    await scene.caller(dialXml('confirmKey="1" timeLimit="60"'));
    await called().answers();
    await scene.clock.advance(10_000);
    called().press('1');
    await settle();
    await scene.clock.advance(49_999);
    expect(called().hungUpWith).toEqual([]);
    await scene.clock.advance(1);
    expect(called().hungUpWith).toEqual(['scheduled']);
  });

  it('keeps ringing other destinations during a confirmation, and they may win', async () => {
    await scene.caller(
      dialXml('confirmKey="1"', '<Number>14155550111</Number><Number>14155550112</Number>'),
    );
    await called(0).answers();
    expect(called(1).hungUpWith).toEqual([]);
    await called(1).answers();
    called(1).press('1');
    await settle();
    expect(called(0).hungUpWith).toEqual(['lostRace']);
    expect(scene.media.openBridges).toMatchObject([{ b: called(1).media }]);
  });

  it('fails the Dial if the called party hangs up instead of pressing a key', async () => {
    const a = await scene.caller(dialXml(`${CONFIRM} action="${ACTION}" redirect="false"`));
    await called().answers();
    called().ends('bye');
    await a.running;
    expect(scene.reported(ACTION)).toMatchObject([{ DialStatus: 'failed' }]);
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });
});

describe('Dial: the conversation (dialect §2.1)', () => {
  it('bridges both legs, stores the bridge in both records and starts waiting recordings', async () => {
    const a = await scene.caller(dialXml(''));
    await called().answers();
    const b = called().call;
    expect([a.call.bridgeUuid, b.bridgeUuid]).toEqual([b.uuid, a.call.uuid]);
    expect(scene.retained).toEqual(expect.arrayContaining([a.call, b]));
    expect(scene.dialAnswered).toEqual([a.call]);
    expect(dialOf(a.call)?.leg).toBe(b);
  });

  it('reports all fields of the callback table', async () => {
    const a = await scene.caller(dialXml(''));
    await called().answers();
    await scene.clock.advance(61_400);
    called().ends('bye');
    await settle();
    const [answer, connected, hangup] = scene.reported(EVENTS);
    const common = {
      CallUUID: a.call.uuid,
      From: '14155550100',
      To: '14155550199',
      Direction: 'inbound',
      ParentAuthID: 'MA_ONE',
      DialALegUUID: a.call.uuid,
      DialBLegUUID: called().call.uuid,
      DialBLegFrom: '14155550199',
      DialBLegTo: '14155550111',
      DialBLegPosition: '1',
    };
    expect(answer).toEqual({
      ...common,
      Event: 'DialAnswer',
      DialAction: 'answer',
      DialBLegStatus: 'answer',
    });
    expect(connected).toEqual({
      ...common,
      Event: 'DialConnected',
      DialAction: 'connected',
      DialBLegStatus: 'connected',
    });
    expect(hangup).toEqual({
      ...common,
      Event: 'DialHangup',
      DialAction: 'hangup',
      DialBLegStatus: 'hangup',
      DialBLegDuration: '61',
      DialBLegBillDuration: '120',
      DialBLegHangupCause: 'NORMAL_CLEARING',
      DialBLegHangupCauseCode: '4000',
      DialBLegHangupCauseName: 'Normal Hangup',
      DialBLegHangupSource: 'Callee',
      STIRVerification: 'Not Applicable',
    });
  });

  it('counts timeLimit from the answer of the B leg and ends it as Scheduled Hangup', async () => {
    await scene.caller(dialXml('timeLimit="90"'));
    await scene.clock.advance(30_000);
    await called().answers();
    await scene.clock.advance(89_999);
    expect(called().hungUpWith).toEqual([]);
    await scene.clock.advance(1);
    expect(called().hungUpWith).toEqual(['scheduled']);
    expect(scene.reported(EVENTS).at(-1)).toMatchObject({ DialBLegHangupCauseCode: '6000' });
  });

  it('hangupOnStar: * of the caller ends the B leg, * of the called party does not', async () => {
    const a = await scene.caller(dialXml('hangupOnStar="true"'));
    await called().answers();
    called().press('*');
    expect(called().hungUpWith).toEqual([]);
    a.press('*');
    expect(called().hungUpWith).toEqual(['normal']);
    await settle();
    expect(a.call.isEnded).toBe(false);
  });

  it('reports digitsMatch and digitsMatchBLeg during the call', async () => {
    const a = await scene.caller(dialXml('digitsMatch="12,*9" digitsMatchBLeg="0"'));
    await called().answers();
    a.press('112');
    called().press('0');
    called().press('12');
    expect(scene.reported(EVENTS).slice(2)).toMatchObject([
      {
        Event: 'DialDigitsMatch',
        DialAction: 'digits',
        DialDigitsMatch: '12',
        DialDigitsPressedBy: 'aleg',
      },
      { Event: 'DialDigitsMatch', DialDigitsMatch: '0', DialDigitsPressedBy: 'bleg' },
    ]);
    expect(scene.media.openBridges).toHaveLength(1);
  });

  it.each([
    ['', [false, false]],
    ['hangupOnStar="true"', [true, false]],
    ['digitsMatch="1"', [true, false]],
    ['digitsMatchBLeg="1"', [false, true]],
  ])(
    'enables in-band tone detection only on legs with key actions: %s',
    async (attributes, wanted) => {
      scene.answerBeforeDial = true;
      const a = await scene.caller(
        dialXml(attributes).replace('</Response>', '<Wait/></Response>'),
      );
      expect(a.media.hearsTones).toBe(true); // A later element may read keys pressed before it.
      await called().answers();
      expect([a.media.hearsTones, called().media.hearsTones]).toEqual(wanted);
    },
  );

  it('relays keypad events (RFC 4733) to the other side, because bridged audio does not carry them', async () => {
    const a = await scene.caller(dialXml(''));
    await called().answers();
    a.press('5');
    called().press('6');
    expect(called().media.digits).toEqual(['5']);
    expect(a.media.digits).toEqual(['6']);
  });

  it('does not relay in-band tones, which the bridge already carries', async () => {
    const a = await scene.caller(dialXml(''), { sdp: SDP_WITHOUT_EVENTS });
    await called().answers(SDP_WITHOUT_EVENTS);
    a.press('5');
    called().press('6');
    expect([a.media.digits, called().media.digits]).toEqual([[], []]);
  });

  it.each([
    ['Callee', 'Caller'],
    ['API Request', 'API Request'],
    ['Error', 'Error'],
  ] as const)('A leg ended by %s ends the B leg with source %s', async (ofA, ofB) => {
    const a = await scene.caller(dialXml(''));
    await called().answers();
    a.call.hangup('normal', ofA);
    await a.running;
    await expect(called().call.ended).resolves.toMatchObject({ cause: 'normal', source: ofB });
  });

  it('hangup by the caller ends the B leg with source Caller and notifies action', async () => {
    const a = await scene.caller(dialXml(`action="${ACTION}"`));
    await called().answers();
    a.ends('bye');
    await a.running;
    expect(called().hungUpWith).toEqual(['normal']);
    await expect(called().call.ended).resolves.toMatchObject({
      cause: 'normal',
      source: 'Caller',
      disposition: 'send_bye',
    });
    expect(scene.events(EVENTS).at(-1)).toBe('DialHangup');
    expect(scene.reported(ACTION)).toMatchObject([
      { DialStatus: 'completed', CallStatus: 'completed' },
    ]);
    expect(scene.requests.map(({ url }) => url)).toEqual([ANSWER]);
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('notifies action of a hangup by the caller only after the hangup was reported', async () => {
    const reported = Promise.withResolvers<void>();
    Object.assign(scene.needs.keeping, { settled: () => reported.promise });
    const a = await scene.caller(dialXml(`action="${ACTION}"`));
    await called().answers();
    a.ends('bye');
    await settle();
    expect(scene.reported(ACTION)).toEqual([]);
    reported.resolve();
    await a.running;
    expect(scene.reported(ACTION)).toMatchObject([{ DialStatus: 'completed' }]);
  });

  it('hangup by the caller during ringing cancels the B leg (ORIGINATOR_CANCEL)', async () => {
    const a = await scene.caller(dialXml(`action="${ACTION}"`));
    called().rings();
    a.ends('bye');
    await a.running;
    await expect(called().call.ended).resolves.toMatchObject({
      cause: 'canceled',
      source: 'Caller',
      disposition: 'send_cancel',
    });
    expect(scene.reported(ACTION)).toMatchObject([
      { DialStatus: 'cancel', DialHangupCause: 'ORIGINATOR_CANCEL', DialRingStatus: 'true' },
    ]);
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });
});

describe('Dial at its end (spec; decisions)', () => {
  it("replaces the rest with the action's document with redirect (default)", async () => {
    scene.documents.set(ACTION, '<Response><Hangup/></Response>');
    const a = await scene.caller(
      `${dialXml(`action="${ACTION}"`)}<Play>https://x.test/a.wav</Play>`,
    );
    await called().answers();
    called().ends('bye');
    await a.running;
    expect(scene.requests.at(-1)).toMatchObject({
      url: ACTION,
      parameters: {
        Event: 'DialAction',
        CallStatus: 'in-progress',
        DialStatus: 'completed',
        DialRingStatus: 'true',
        DialHangupCause: 'NORMAL_CLEARING',
        DialALegUUID: a.call.uuid,
        DialBLegUUID: called().call.uuid,
        DialBLegDuration: '1',
        DialBLegHangupCauseCode: '4000',
        DialBLegHangupSource: 'Callee',
      },
    });
    expect(scene.loaded).toEqual([]);
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('notifies action and continues the document with redirect="false"', async () => {
    const a = await scene.caller(
      `${dialXml(`action="${ACTION}" redirect="false"`)}<Play>https://x.test/a.wav</Play>`,
    );
    called().ends('refused', 486);
    await settle();
    expect(scene.notifications.map(({ event }) => event)).toEqual(['DialHangup', 'DialAction']);
    expect(scene.requests.map(({ url }) => url)).toEqual([ANSWER]);
    expect(scene.loaded).toEqual(['https://x.test/a.wav']);
    a.ends('bye');
  });

  it('fetches the answer URL again without action and redirect="false", within the loop limit', async () => {
    scene.answerBeforeDial = true;
    scene.refused.add('14155550111');
    const a = await scene.caller(dialXml(''));
    await scene.clock.advance(10_000);
    await a.running;
    expect(scene.requests).toHaveLength(10);
    expect(scene.requests.every(({ url }) => url === ANSWER)).toBe(true);
    await expect(a.call.ended).resolves.toMatchObject({ cause: 'loopDetected', source: 'Error' });
  });

  it('fetches the answer URL again with redirect="false" but no action', async () => {
    scene.answerBeforeDial = true;
    scene.refused.add('14155550111');
    const a = await scene.caller(dialXml('redirect="false"'));
    await scene.clock.advance(10_000);
    await a.running;
    expect(scene.requests).toHaveLength(10);
    await expect(a.call.ended).resolves.toMatchObject({ cause: 'loopDetected' });
  });
});

describe('Dial and transfers of its legs (dialect §2.2)', () => {
  const MOVED = { url: 'https://app.test/moved', method: 'POST' } as const;

  it('hangs up the B leg when the A leg is transferred', async () => {
    scene.documents.set(MOVED.url, '<Response><Play>https://x.test/a.wav</Play></Response>');
    const a = await scene.caller(dialXml(''));
    await called().answers();
    a.interpreter.transfer(MOVED);
    await settle();
    expect(called().hungUpWith).toEqual(['normal']);
    await expect(called().call.ended).resolves.toMatchObject({ source: 'API Request' });
    expect(scene.media.openBridges).toHaveLength(0);
    expect(scene.loaded).toEqual(['https://x.test/a.wav']);
    expect(a.call.isEnded).toBe(false);
  });

  it('releases the B leg to another script: it stays active and the Dial completes', async () => {
    const a = await scene.caller(dialXml(`action="${ACTION}" redirect="false"`));
    await called().answers();
    expect(dialOf(a.call)?.release()).toBe(called().call);
    await a.running;
    expect(called().hungUpWith).toEqual([]);
    expect(called().call.isAnswered).toBe(true);
    expect(scene.reported(ACTION)).toMatchObject([
      { DialStatus: 'completed', DialHangupCause: 'NORMAL_CLEARING' },
    ]);
    expect(dialOf(a.call)).toBeUndefined();
    called().ends('bye');
    await settle();
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('does not hang up a released B leg when both legs are transferred', async () => {
    scene.documents.set(MOVED.url, '<Response><Play>https://x.test/a.wav</Play></Response>');
    const a = await scene.caller(dialXml(''));
    await called().answers();
    dialOf(a.call)?.release();
    a.interpreter.transfer(MOVED);
    await settle();
    expect(called().call.isEnded).toBe(false);
    expect(scene.requests.at(-1)?.url).toBe(MOVED.url);
  });

  it('has no B leg to release before the connection', async () => {
    const a = await scene.caller(dialXml(''));
    called().rings();
    expect(dialOf(a.call)?.release()).toBeUndefined();
    expect(dialOf(a.call)?.legs).toEqual([called().call]);
  });
});
