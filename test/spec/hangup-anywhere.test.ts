/** A hangup or transfer during every element: all resources are released and no further requests are sent. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { asCallUuid } from '../../src/base/ids.ts';
import { settle } from '../sim/clock.ts';
import { type Caller, calledBriefly, calledFrom, placed } from './calls/phone.ts';
import { type CallService, DID, FAR, NOTHING_LEFT, openCallService } from './calls/service.ts';
import { document, SITE } from './calls/site.ts';

const OTHER = '14155550122';
const BOT = 'wss://bot.test/audio';
/** More turns than between an INVITE and its running document. */
const TURNS = 80;
const WAIT = '<Wait length="3600"/>';

let service: CallService;
beforeEach(async () => {
  service = await openCallService();
});
afterEach(() => service.close());

function caller(body: string): Promise<Caller> {
  service.site.on('/answer', document(body));
  return calledFrom(service);
}

describe('a hangup in the middle of every element releases everything', () => {
  const dial = `<Dial callerId="${DID}" action="${SITE}/act"`;
  const number = `<Number>${OTHER}</Number></Dial>`;
  const answersB = (): Promise<void> => service.signalling.last.answers();
  const soundEnds = async ({ media }: Caller): Promise<void> => {
    for (const playback of [...media.sounding]) playback.complete();
    await settle();
  };
  const joinedByAnother = async (): Promise<void> => {
    await calledFrom(service, { from: OTHER });
  };

  type Middle = (phone: Caller) => Promise<void>;
  const nothing: Middle = async () => undefined;

  const ELEMENTS: ReadonlyArray<[string, string, Middle]> = [
    ['Speak', '<Speak loop="0">Hello</Speak>', nothing],
    ['Play', '<Play loop="0">https://x.test/a.wav</Play>', nothing],
    ['Wait before the answer', '<Wait length="60"/>', nothing],
    [
      'Wait for silence',
      '<Speak>A</Speak><Wait length="60" silence="true" minSilence="500"/>',
      soundEnds,
    ],
    ['Wait for a beep', '<Speak>A</Speak><Wait length="60" beep="true"/>', soundEnds],
    ['DTMF', '<DTMF async="false">12wWW3</DTMF><Speak>Hello</Speak>', nothing],
    ['GetDigits', `<GetDigits action="${SITE}/act"><Speak>Press</Speak></GetDigits>`, nothing],
    ['GetDigits with a key', `<GetDigits action="${SITE}/act"/>`, (phone) => phone.press('1')],
    [
      'GetInput',
      `<GetInput action="${SITE}/act"><Play>https://x.test/a.wav</Play></GetInput>`,
      nothing,
    ],
    ['Gather', `<Gather action="${SITE}/act"/>`, nothing],
    ['Dial that rings', `${dial}>${number}`, () => service.signalling.last.rings()],
    ['Dial to two', `${dial}><Number>${FAR}</Number>${number}`, nothing],
    ['Dial with music', `${dial} dialMusic="https://x.test/a.wav">${number}`, nothing],
    [
      'Dial to be confirmed',
      `${dial} confirmSound="https://x.test/a.wav" confirmKey="1">${number}`,
      answersB,
    ],
    ['Dial that talks', `${dial}>${number}`, answersB],
    ['Record that beeps', `<Record action="${SITE}/act"/>`, nothing],
    ['Record', `<Record callbackUrl="${SITE}/rec" maxLength="60"/>`, soundEnds],
    ['Record of the session', `<Record recordSession="true" maxLength="60"/>${WAIT}`, nothing],
    ['Stream', `<Stream keepCallAlive="true" maxRetries="3">${BOT}</Stream>`, nothing],
    ['Stream that is connected', `<Stream keepCallAlive="true">${BOT}</Stream>`, connects],
    ['Stream in the background', `<Stream>${BOT}</Stream><Speak loop="0">A</Speak>`, connects],
    [
      'Stream that reconnects',
      `<Stream keepCallAlive="true" maxRetries="9">${BOT}</Stream>`,
      drops,
    ],
    ['Conference alone', '<Conference waitSound="https://x.test/a.wav">room</Conference>', nothing],
    ['Conference of two', '<Conference record="true">room</Conference>', joinedByAnother],
    ['Redirect', `<Redirect>${SITE}/slow</Redirect>`, nothing],
    ['PreAnswer', '<PreAnswer><Speak loop="0">Hello</Speak></PreAnswer>', nothing],
    ['Hangup with schedule', `<Hangup schedule="60"/>${WAIT}`, nothing],
  ];

  async function connects(): Promise<void> {
    service.bots.last.events.started();
    await settle();
  }

  async function drops(): Promise<void> {
    service.bots.last.events.ended({ kind: 'dropped', detail: 'gone' });
    await settle();
  }

  /** Long after the end: no resources are held, and no further requests or audio occurred. */
  async function expectAllGivenBack(): Promise<void> {
    for (const call of service.live()) call.hangup('normal', 'API Request');
    await service.clock.advance(1000);
    const requested =
      service.site.reported('/slow').length + service.site.reported('/answer').length;
    await service.clock.advance(180_000);
    expect(await service.leftovers()).toEqual(NOTHING_LEFT);
    expect(service.site.reported('/slow').length + service.site.reported('/answer').length).toBe(
      requested,
    );
  }

  beforeEach(() => {
    service.site.on('/slow', { fails: 'silence' });
    service.site.on('/act', document('<Hangup/>'));
  });

  it.each(ELEMENTS)('%s: the phone hangs up', async (_name, body, middle) => {
    const phone = await caller(body);
    await middle(phone);
    expect(phone.call.isEnded).toBe(false);
    const wasAnswered = phone.call.isAnswered;
    await phone.hangsUp();
    expect(await service.cdr(phone.callUuid)).toMatchObject({
      hangupCauseName: wasAnswered ? 'Normal Hangup' : 'Canceled',
      hangupSource: 'Caller',
      hangupDisposition: wasAnswered ? 'recv_bye' : 'recv_cancel',
    });
    const ends = service.site
      .reported('/hangup')
      .filter((one) => one['CallUUID'] === phone.callUuid);
    expect(ends).toHaveLength(1);
    await expectAllGivenBack();
  });

  it.each(ELEMENTS)('%s: REST hangs up', async (_name, body, middle) => {
    const phone = await caller(body);
    await middle(phone);
    expect(phone.call.isEnded).toBe(false);
    await service.control.hangup(service.accountId, phone.callUuid);
    await settle();
    expect(phone.sent.at(-1)).toMatch(/^hangup/);
    expect(await service.cdr(phone.callUuid)).toMatchObject({ hangupSource: 'API Request' });
    await expectAllGivenBack();
  });

  it.each(ELEMENTS)('%s: a transfer takes its place', async (_name, body, middle) => {
    const phone = await caller(body);
    await middle(phone);
    service.site.on('/moved', document('<Speak>Moved</Speak><Hangup/>'));
    const aleg = { url: `${SITE}/moved`, method: 'POST' } as const;
    const request = { legs: 'aleg', aleg, bleg: undefined } as const;
    const done = await service.control.transfer(service.accountId, phone.callUuid, request);
    await settle();
    expect(done).toMatchObject({ ok: true });
    expect(service.spoken.at(-1)).toBe('Moved');
    await soundEnds(phone);
    expect(phone.call.isEnded).toBe(true);
    await expectAllGivenBack();
  });

  it.each([
    ['Speak', '<Speak loop="0">Hello</Speak>'],
    ['Record', `<Record playBeep="false" maxLength="60" callbackUrl="${SITE}/rec"/>`],
    ['Record of the session', `<Record recordSession="true" maxLength="60"/>${WAIT}`],
    ['Stream', `<Stream keepCallAlive="true">${BOT}</Stream>`],
    ['Stream in the background', `<Stream>${BOT}</Stream><Speak loop="0">A</Speak>`],
    ['Dial', `${dial}>${number}`],
    ['Conference', '<Conference>room</Conference>'],
  ])('%s: at every moment between the INVITE and the element', async (_name, body) => {
    service.site.on('/answer', document(body));
    for (let turns = 0; turns < TURNS; turns += 1) {
      await calledBriefly(service, turns);
      await service.clock.advance(20_000);
      expect({ turns, ...(await service.leftovers()) }).toEqual({ turns, ...NOTHING_LEFT });
    }
    // The last calls reached the answer, or rang a called party.
    const records = await service.cdrs();
    const isThere = ({ answerUs, context }: (typeof records)[number]): boolean =>
      answerUs !== undefined || context === 'dial';
    expect(records.some(isThere)).toBe(true);
  });

  it('during the request to the answer URL: no further request', async () => {
    service.site.on('/answer', { fails: 'silence' });
    const phone = await calledFrom(service);
    await service.clock.advance(3000);
    await phone.hangsUp();
    expect(await service.cdr()).toMatchObject({ hangupCauseName: 'Canceled', cost: 0 });
    await expectAllGivenBack();
    expect(service.site.reported('/answer')).toHaveLength(1);
    expect(service.site.reported('/fallback')).toEqual([]);
  });

  it('during the ringing of an outbound call: CANCEL, and no charge', async () => {
    const callUuid = await placed(service);
    await service.signalling.last.rings();
    await service.control.hangup(service.accountId, asCallUuid(callUuid));
    await settle();
    expect(service.signalling.last.hungUpWith).toBeDefined();
    expect(await service.cdr(asCallUuid(callUuid))).toMatchObject({
      hangupDisposition: 'send_cancel',
      cost: 0,
    });
    await expectAllGivenBack();
  });
});
