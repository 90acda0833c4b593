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

/** The only phone that was called, or the one at `index`. */
function called(index = 0): CalledPhone {
  const phone = scene.called[index];
  if (phone === undefined) throw new Error(`nobody was called at ${index}`);
  return phone;
}

const dialXml = (attributes: string, destinations = '<Number>14155550111</Number>'): string =>
  `<Dial callerId="14155550199" callbackUrl="${EVENTS}" ${attributes}>${destinations}</Dial>`;

describe('Dial: ringing (dialect §2.1)', () => {
  it('calls.answerBeforeDial: answers the caller, dials with the caller id of the document and plays ringback from the first 180 on', async () => {
    scene.answerBeforeDial = true;
    const a = await scene.caller(dialXml(''));
    expect(a.call.isAnswered).toBe(true);
    expect(called().request).toMatchObject({
      parent: a.call,
      callerId: '14155550199',
      destination: { kind: 'number', number: '14155550111' },
    });
    expect(a.media.sounding).toHaveLength(0);
    called().rings();
    expect(a.media.sounding).toMatchObject([{ what: { loop: true }, mix: false }]);
    await called().answers();
    expect(a.media.sounding).toHaveLength(0);
  });

  it('hands on no callerId when the document has none: whether the B leg may exist is ruled by the dialer', async () => {
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

  it('ends legs that nobody answers at the timeout: 6010, DialStatus timeout', async () => {
    const a = await scene.caller(dialXml(`timeout="20" action="${ACTION}" redirect="false"`));
    called().rings();
    await scene.clock.advance(19_999);
    expect(called().hungUpWith).toEqual([]);
    await scene.clock.advance(1);
    await a.running;
    expect(called().hungUpWith).toEqual(['ringTimeout']);
    expect(scene.told(EVENTS)).toMatchObject([
      {
        Event: 'DialHangup',
        DialBLegHangupCause: 'NO_ANSWER',
        DialBLegHangupCauseCode: '6010',
        DialBLegHangupSource: 'Carillon',
        DialBLegDuration: '0',
        DialBLegBillDuration: '0',
      },
    ]);
    expect(scene.told(ACTION)).toMatchObject([
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
  ])('a refusal with %i is told as DialStatus %s', async (status, told, cause) => {
    const a = await scene.caller(dialXml(`action="${ACTION}" redirect="false"`));
    called().ends('refused', status);
    await a.running;
    expect(scene.told(ACTION)).toMatchObject([
      { DialStatus: told, DialHangupCause: cause, DialBLegUUID: called().call.uuid },
    ]);
  });

  it('dialMusic="real" lets the caller hear the early media of the called party', async () => {
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

  it('dialMusic="real": the tone comes back when the party that was heard gives up', async () => {
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

  it('dialMusic with a URL plays its file again and again, and stops at the answer', async () => {
    const a = await scene.caller(dialXml('dialMusic="https://app.test/music.mp3"'));
    expect(scene.loaded).toEqual(['https://app.test/music.mp3']);
    // A file that is over at once must not be played a thousand times a second.
    a.media.sounding[0]?.complete();
    await scene.clock.advance(999);
    expect(a.media.sounding).toHaveLength(0);
    await scene.clock.advance(1);
    expect(a.media.sounding).toHaveLength(1);
    await called().answers();
    expect(a.media.sounding).toHaveLength(0);
  });

  it('dialMusic with the URL of a document plays what stands in it', async () => {
    const url = 'https://app.test/music';
    scene.documents.set(url, '<Response><Play>https://app.test/a.wav</Play></Response>');
    await scene.caller(dialXml(`dialMusic="${url}"`));
    expect(scene.requests.at(-1)).toMatchObject({ url, parameters: { Event: 'DialMusic' } });
    expect(scene.loaded).toEqual(['https://app.test/a.wav']);
  });

  it('dialMusic with an empty document is silence, asked for once', async () => {
    const url = 'https://app.test/music';
    scene.documents.set(url, '<Response/>');
    await scene.caller(dialXml(`dialMusic="${url}" timeout="30"`));
    expect(scene.clock.nextMs()).toBe(30_000);
  });

  it('a Number with a callerId of its own is called with that', async () => {
    await scene.caller(
      dialXml('', '<Number callerId="14155550177">14155550111</Number><Number>1415555</Number>'),
    );
    expect(scene.called.map(({ request }) => request.callerId)).toEqual([
      '14155550177',
      '14155550199',
    ]);
  });

  it('sendDigits go out after the answer, with sendOnPreanswer at the first early media, and once', async () => {
    await scene.caller(
      dialXml(
        '',
        '<Number sendDigits="ww12">14155550111</Number>' +
          '<Number sendDigits="34" sendOnPreanswer="true">14155550112</Number>',
      ),
    );
    called(0).earlyMedia();
    called(1).earlyMedia();
    expect(called(0).media.sentDigits).toEqual([]);
    expect(called(1).media.sentDigits).toEqual(['34']);
    await called(0).answers();
    expect(called(0).media.sentDigits).toEqual(['ww12']);
  });

  it('digits that went out on early media are not sent again at the answer', async () => {
    await scene.caller(
      dialXml('', '<Number sendDigits="34" sendOnPreanswer="true">14155550112</Number>'),
    );
    called().earlyMedia();
    await called().answers();
    expect(called().media.sentDigits).toEqual(['34']);
  });
});

describe('Dial: several destinations ring at the same time, the first answer wins (dialect §2.1)', () => {
  const BOTH = '<Number>14155550111</Number><User>sip:bob1234@sip.test</User>';

  it('hangs up the losers as Lost Race and tells so', async () => {
    const a = await scene.caller(dialXml('', BOTH));
    called(0).rings();
    called(1).rings();
    await called(1).answers();
    expect(called(0).hungUpWith).toEqual(['lostRace']);
    expect(scene.media.openBridges).toMatchObject([{ a: a.media, b: called(1).media }]);
    expect(scene.told(EVENTS)).toMatchObject([
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

  it('goes on while one of them still rings', async () => {
    const a = await scene.caller(dialXml('', BOTH));
    called(0).ends('refused', 486);
    await settle();
    await called(1).answers();
    expect(a.call.bridgeUuid).toBe(called(1).call.uuid);
  });

  it('a 200 that crosses with the one of the winner is hung up as Lost Race', async () => {
    await scene.caller(dialXml('', BOTH));
    void called(0).answers();
    void called(1).answers();
    await settle();
    expect(called(1).hungUpWith).toEqual(['lostRace']);
    expect(scene.media.openBridges).toHaveLength(1);
  });

  it('callbackUrl is told of an attempt that never became a leg, and action why there was none', async () => {
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
    expect(scene.told(EVENTS)).toMatchObject([
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
    expect(scene.told(ACTION)).toMatchObject([
      { ...why, DialStatus: 'failed', DialHangupCause: 'USER_NOT_REGISTERED' },
    ]);
  });

  it('of several failures what a called party said is worth telling more than a leg that never was', async () => {
    scene.refused.add('sip:bob1234@sip.test');
    const a = await scene.caller(dialXml(`action="${ACTION}" redirect="false"`, BOTH));
    called(0).ends('refused', 404);
    await a.running;
    expect(scene.told(EVENTS)).toMatchObject([
      { DialBLegUUID: '', DialBLegPosition: '2' },
      { DialBLegUUID: called(0).call.uuid, DialBLegPosition: '1' },
    ]);
    expect(scene.told(ACTION)).toMatchObject([
      { DialBLegUUID: called(0).call.uuid, DialHangupCause: 'UNALLOCATED_NUMBER' },
    ]);
  });

  it('of several failures a busy party is worth telling more than an unknown number', async () => {
    const a = await scene.caller(dialXml(`action="${ACTION}" redirect="false"`, BOTH));
    called(0).ends('refused', 404);
    called(1).ends('refused', 486);
    await a.running;
    expect(scene.told(ACTION)).toMatchObject([
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

  it('a wrong key ends the leg with 9110 Confirm Key Challenge Failed', async () => {
    const a = await scene.caller(dialXml(`${CONFIRM} action="${ACTION}" redirect="false"`));
    await called().answers();
    called().press('2');
    await a.running;
    expect(called().hungUpWith).toEqual(['confirmKeyFailed']);
    expect(scene.told(EVENTS).at(-1)).toMatchObject({ DialBLegHangupCauseCode: '9110' });
    expect(scene.told(ACTION)).toMatchObject([{ DialStatus: 'failed' }]);
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('no key within confirmTimeout after the sound ends it likewise', async () => {
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

  it('without confirmKey the sound alone is heard to its end first', async () => {
    await scene.caller(dialXml('confirmSound="https://app.test/hello.wav"'));
    await called().answers();
    expect(scene.media.openBridges).toHaveLength(0);
    called().media.sounding[0]?.complete();
    await settle();
    expect(scene.media.openBridges).toHaveLength(1);
  });

  it('a party whose early media the caller heard is not heard while it is asked', async () => {
    scene.answerBeforeDial = true;
    const a = await scene.caller(dialXml(`${CONFIRM} dialMusic="real"`));
    called().earlyMedia();
    await called().answers();
    expect(scene.media.openBridges).toHaveLength(0);
    expect(a.media.sounding).toHaveLength(1);
  });

  it('timeLimit counts from the answer, the time to confirm included', async () => {
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

  it('others go on ringing meanwhile and may win', async () => {
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

  it('a called party that hangs up instead of pressing leaves the caller with a failed Dial', async () => {
    const a = await scene.caller(dialXml(`${CONFIRM} action="${ACTION}" redirect="false"`));
    await called().answers();
    called().ends('bye');
    await a.running;
    expect(scene.told(ACTION)).toMatchObject([{ DialStatus: 'failed' }]);
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });
});

describe('Dial: the conversation (dialect §2.1)', () => {
  it('bridges both, keeps the bridge in both records and starts what waited for it', async () => {
    const a = await scene.caller(dialXml(''));
    await called().answers();
    const b = called().call;
    expect([a.call.bridgeUuid, b.bridgeUuid]).toEqual([b.uuid, a.call.uuid]);
    expect(scene.kept).toEqual(expect.arrayContaining([a.call, b]));
    expect(scene.dialAnswered).toEqual([a.call]);
    expect(dialOf(a.call)?.leg).toBe(b);
  });

  it('tells every field of the callback table', async () => {
    const a = await scene.caller(dialXml(''));
    await called().answers();
    await scene.clock.advance(61_400);
    called().ends('bye');
    await settle();
    const [answer, connected, hangup] = scene.told(EVENTS);
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

  it('timeLimit counts from the answer of the B leg and ends it as Scheduled Hangup', async () => {
    await scene.caller(dialXml('timeLimit="90"'));
    await scene.clock.advance(30_000);
    await called().answers();
    await scene.clock.advance(89_999);
    expect(called().hungUpWith).toEqual([]);
    await scene.clock.advance(1);
    expect(called().hungUpWith).toEqual(['scheduled']);
    expect(scene.told(EVENTS).at(-1)).toMatchObject({ DialBLegHangupCauseCode: '6000' });
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

  it('digitsMatch and digitsMatchBLeg are told while the call goes on', async () => {
    const a = await scene.caller(dialXml('digitsMatch="12,*9" digitsMatchBLeg="0"'));
    await called().answers();
    a.press('112');
    called().press('0');
    called().press('12');
    expect(scene.told(EVENTS).slice(2)).toMatchObject([
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
  ])('tones are listened for where somebody acts on keys: %s', async (attributes, wanted) => {
    scene.answerBeforeDial = true;
    const a = await scene.caller(dialXml(attributes).replace('</Response>', '<Wait/></Response>'));
    expect(a.media.hearsTones).toBe(true); // a later element may ask for what was pressed before it
    await called().answers();
    expect([a.media.hearsTones, called().media.hearsTones]).toEqual(wanted);
  });

  it('keypad events (RFC 4733) of one side are sent on to the other, which the bridged audio does not do', async () => {
    const a = await scene.caller(dialXml(''));
    await called().answers();
    a.press('5');
    called().press('6');
    expect(called().media.sentDigits).toEqual(['5']);
    expect(a.media.sentDigits).toEqual(['6']);
  });

  it('keys that come as tones within the audio are in the bridge already and not sent twice', async () => {
    const a = await scene.caller(dialXml(''), { sdp: SDP_WITHOUT_EVENTS });
    await called().answers(SDP_WITHOUT_EVENTS);
    a.press('5');
    called().press('6');
    expect([a.media.sentDigits, called().media.sentDigits]).toEqual([[], []]);
  });

  it.each([
    ['Callee', 'Caller'],
    ['API Request', 'API Request'],
    ['Error', 'Error'],
  ] as const)('an A leg that ended through %s ends the B leg through %s', async (ofA, ofB) => {
    const a = await scene.caller(dialXml(''));
    await called().answers();
    a.call.hangup('normal', ofA);
    await a.running;
    await expect(called().call.ended).resolves.toMatchObject({ cause: 'normal', source: ofB });
  });

  it('the caller hangs up: the B leg ends as hung up by its caller, and action is told', async () => {
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
    expect(scene.told(ACTION)).toMatchObject([
      { DialStatus: 'completed', CallStatus: 'completed' },
    ]);
    expect(scene.requests.map(({ url }) => url)).toEqual([ANSWER]);
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('the caller hangs up while it rings: the B leg is cancelled (ORIGINATOR_CANCEL)', async () => {
    const a = await scene.caller(dialXml(`action="${ACTION}"`));
    called().rings();
    a.ends('bye');
    await a.running;
    await expect(called().call.ended).resolves.toMatchObject({
      cause: 'canceled',
      source: 'Caller',
      disposition: 'send_cancel',
    });
    expect(scene.told(ACTION)).toMatchObject([
      { DialStatus: 'cancel', DialHangupCause: 'ORIGINATOR_CANCEL', DialRingStatus: 'true' },
    ]);
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });
});

describe('Dial at its end (spec; decisions)', () => {
  it('action with redirect (default): its document replaces the rest', async () => {
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

  it('action with redirect="false": action is notified and the document goes on', async () => {
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

  it('neither action nor redirect="false": the answer URL is asked again, within the limit on loops', async () => {
    scene.answerBeforeDial = true;
    scene.refused.add('14155550111');
    const a = await scene.caller(dialXml(''));
    await scene.clock.advance(10_000);
    await a.running;
    expect(scene.requests).toHaveLength(10);
    expect(scene.requests.every(({ url }) => url === ANSWER)).toBe(true);
    await expect(a.call.ended).resolves.toMatchObject({ cause: 'loopDetected', source: 'Error' });
  });

  it('redirect="false" alone does not keep the answer URL from being asked again: it takes both', async () => {
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

  it('the A leg is moved away: the B leg is hung up', async () => {
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

  it('the B leg is let go for a script of its own: it lives on, the Dial ends well', async () => {
    const a = await scene.caller(dialXml(`action="${ACTION}" redirect="false"`));
    await called().answers();
    expect(dialOf(a.call)?.release()).toBe(called().call);
    await a.running;
    expect(called().hungUpWith).toEqual([]);
    expect(called().call.isAnswered).toBe(true);
    expect(scene.told(ACTION)).toMatchObject([
      { DialStatus: 'completed', DialHangupCause: 'NORMAL_CLEARING' },
    ]);
    expect(dialOf(a.call)).toBeUndefined();
    called().ends('bye');
    await settle();
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('both legs are moved: the B leg that was let go first is not hung up with the Dial', async () => {
    scene.documents.set(MOVED.url, '<Response><Play>https://x.test/a.wav</Play></Response>');
    const a = await scene.caller(dialXml(''));
    await called().answers();
    dialOf(a.call)?.release();
    a.interpreter.transfer(MOVED);
    await settle();
    expect(called().call.isEnded).toBe(false);
    expect(scene.requests.at(-1)?.url).toBe(MOVED.url);
  });

  it('before anybody is connected there is no B leg to be let go', async () => {
    const a = await scene.caller(dialXml(''));
    called().rings();
    expect(dialOf(a.call)?.release()).toBeUndefined();
    expect(dialOf(a.call)?.legs).toEqual([called().call]);
  });
});
