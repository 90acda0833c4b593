/** Dial for a caller who has not been answered (decisions: Dial does not answer). */
import { beforeEach, describe, expect, it } from 'vitest';
import { ok, type Result } from '../../../src/base/result.ts';
import type { LegEnd } from '../../../src/domain/call/needs.ts';
import { settle } from '../../sim/clock.ts';
import { type CalledPhone, NOTHING_LEFT, Scene } from './scene.ts';

const EVENTS = 'https://app.test/dial-events';
const ACTION = 'https://app.test/action';
const ANSWER = 'https://app.test/answer';
const TWO = '<Number>14155550111</Number><Number>14155550112</Number>';

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

function called(index = 0): CalledPhone {
  const phone = scene.called[index];
  if (phone === undefined) throw new Error(`nobody was called at ${index}`);
  return phone;
}

const dialXml = (attributes = '', destinations = '<Number>14155550111</Number>'): string =>
  `<Dial callerId="14155550199" callbackUrl="${EVENTS}" ${attributes}>${destinations}</Dial>`;

describe('Dial: a caller who is not answered', () => {
  it('hears 180 and no tone of ours, is answered with the called party, and is billed from then on', async () => {
    const a = await scene.caller(dialXml());
    expect(a.sent).toEqual([]);
    called().rings();
    expect(a.sent).toEqual([180]);
    await scene.clock.advance(5000);
    await called().answers();
    expect(a.sent).toEqual([180, 200]);
    expect(scene.media.openBridges).toMatchObject([{ a: a.media, b: called().media }]);
    expect(a.call.answerUs).toBe(called().call.answerUs);
    // The record says that it was answered before anything is heard.
    expect(scene.kept[0]).toBe(a.call);
    expect(scene.events(EVENTS)).toEqual(['DialAnswer', 'DialConnected']);
  });

  it('Wait, PreAnswer and Redirect before it answer nothing either', async () => {
    scene.documents.set('https://app.test/next', `<Response>${dialXml()}</Response>`);
    const a = await scene.caller(
      '<Wait length="2"/><PreAnswer><Play>https://app.test/a.wav</Play></PreAnswer><Redirect>https://app.test/next</Redirect>',
    );
    await scene.clock.advance(2000);
    a.media.sounding[0]?.complete();
    await settle();
    expect(a.sent).toEqual([183]);
    // In early media the caller hears us alone: the ringing tone comes from us.
    called().rings();
    expect(a.media.sounding).toMatchObject([{ what: { loop: true } }]);
    await called().answers();
    expect(a.sent).toEqual([183, 200]);
  });

  it('hears the early media of the called party (183), with nothing between it and the answer', async () => {
    const a = await scene.caller(dialXml());
    called().rings();
    called().earlyMedia();
    await settle();
    expect(a.sent).toEqual([180, 183]);
    expect(scene.media.openBridges).toMatchObject([{ a: a.media, b: called().media }]);
    let acknowledged = false;
    await called().answers();
    acknowledged = a.call.isAnswered;
    expect(acknowledged).toBe(true);
    expect(scene.media.openBridges).toHaveLength(1);
    a.ends('bye');
    await a.running;
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('hears a tone of ours when the party that was heard gives up while another rings', async () => {
    const a = await scene.caller(dialXml('', TWO));
    called(0).earlyMedia();
    called(0).ends('refused', 486);
    await settle();
    expect(a.sent).toContain(183);
    expect(scene.media.openBridges).toHaveLength(0);
    expect(a.media.sounding).toHaveLength(1);
    await called(1).answers();
    expect(a.media.sounding).toHaveLength(0);
    expect(scene.media.openBridges).toHaveLength(1);
  });

  it('hears the music of dialMusic as early media; an INVITE without an offer has none, and is answered all the same', async () => {
    const a = await scene.caller(dialXml('dialMusic="https://app.test/music.mp3"'));
    expect(a.sent).toEqual([183]);
    expect(a.media.sounding).toHaveLength(1);
    called().earlyMedia();
    expect(scene.media.openBridges).toHaveLength(0);
    await called().answers();
    expect(a.media.sounding).toHaveLength(0);
    expect(a.sent).toEqual([183, 200]);

    const b = await scene.caller(dialXml('dialMusic="https://app.test/music.mp3"'), { sdp: null });
    expect(b.sent).toEqual([]);
    await called(1).answers();
    expect(b.sent).toEqual([200]);
  });

  it('rings on while a called party is asked for its key', async () => {
    const a = await scene.caller(dialXml('confirmKey="1"'));
    await called().answers();
    expect(a.sent).toEqual([]);
    called().press('1');
    await settle();
    expect(a.sent).toEqual([200]);
  });
});

describe('Dial: nobody answers a caller who is not answered either', () => {
  it.each([
    ['refused', 486, 'busy'],
    ['refused', 603, 'declined'],
    ['refused', 404, 'unallocated'],
    ['refused', 503, 'carrierCongestion'],
  ] as const)('%s %d reaches the caller, without another request', async (how, status, cause) => {
    const a = await scene.caller(dialXml());
    called().ends(how, status);
    await a.running;
    expect(a.hungUpWith).toEqual([cause]);
    expect(scene.requests.map(({ url }) => url)).toEqual([ANSWER]);
    await expect(a.call.ended).resolves.toMatchObject({ cause, disposition: 'send_refuse' });
    expect(a.call.answerUs).toBeUndefined();
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('the timeout of the Dial refuses the caller as not answered', async () => {
    const a = await scene.caller(dialXml('timeout="20"'));
    called().rings();
    await scene.clock.advance(20_000);
    await a.running;
    expect(a.hungUpWith).toEqual(['ringTimeout']);
  });

  it('of several the one that tells most refuses; one that never became a leg does when there is no other', async () => {
    const a = await scene.caller(dialXml('', TWO));
    called(0).ends('refused', 404);
    called(1).ends('refused', 486);
    await a.running;
    expect(a.hungUpWith).toEqual(['busy']);
    scene.refused.add('14155550111');
    const b = await scene.caller(dialXml());
    await b.running;
    expect(b.hungUpWith).toEqual(['endpointNotRegistered']);
  });

  it('with an action its document decides; an empty one leaves the refusal of the called party', async () => {
    scene.documents.set(ACTION, '<Response><Hangup reason="rejected"/></Response>');
    const a = await scene.caller(dialXml(`action="${ACTION}"`));
    called().ends('refused', 486);
    await a.running;
    expect(scene.requests.at(-1)).toMatchObject({
      url: ACTION,
      parameters: { CallStatus: 'ringing', DialStatus: 'busy', DialHangupCause: 'USER_BUSY' },
    });
    expect(a.hungUpWith).toEqual(['rejected']);
    scene.documents.set(ACTION, '<Response/>');
    const b = await scene.caller(dialXml(`action="${ACTION}"`));
    called(1).ends('refused', 486);
    await b.running;
    expect(b.hungUpWith).toEqual(['busy']);
  });

  it('with redirect="false" what follows is carried out, and answers where it has to', async () => {
    const a = await scene.caller(
      `${dialXml(`action="${ACTION}" redirect="false"`)}<Play>https://app.test/a.wav</Play>`,
    );
    called().ends('refused', 486);
    await settle();
    expect(a.sent).toEqual([200]);
    expect(scene.loaded).toEqual(['https://app.test/a.wav']);
    a.ends('bye');
  });

  it('with elements behind it and no action the answer URL is asked again', async () => {
    const a = await scene.caller(`${dialXml()}<Wait/>`);
    called().ends('refused', 486);
    await settle();
    expect(scene.requests.map(({ url }) => url)).toEqual([ANSWER, ANSWER]);
    a.ends('cancel');
  });
});

describe('Dial: races around the answer', () => {
  it('a CANCEL while it rings goes on to the called party', async () => {
    const a = await scene.caller(dialXml());
    called().rings();
    a.ends('cancel');
    await a.running;
    expect(called().hungUpWith).toEqual(['canceled']);
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('a called party that hangs up before the caller has acknowledged: completed, and the Dial is over after the ACK', async () => {
    const ack = Promise.withResolvers<Result<void, LegEnd>>();
    const a = await scene.caller(dialXml(`action="${ACTION}"`), { acknowledged: ack.promise });
    scene.documents.set(ACTION, '<Response><Hangup/></Response>');
    await called().answers();
    called().ends('bye');
    await settle();
    expect(a.hungUpWith).toEqual([]);
    expect(scene.requests).toHaveLength(1);
    ack.resolve(ok(undefined));
    await a.running;
    expect(scene.requests.at(-1)).toMatchObject({
      parameters: { DialStatus: 'completed', CallStatus: 'in-progress' },
    });
    expect(scene.events(EVENTS)).toEqual(['DialAnswer', 'DialHangup']);
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('a caller who never acknowledges takes the called party along', async () => {
    const end = { by: 'remote', how: 'timeout', status: undefined, reason: undefined } as const;
    const ack = Promise.withResolvers<Result<void, LegEnd>>();
    const a = await scene.caller(dialXml(), { acknowledged: ack.promise });
    await called().answers();
    expect(scene.media.openBridges).toHaveLength(0);
    a.ends('timeout');
    ack.resolve({ ok: false, error: end });
    await a.running;
    expect(called().hungUpWith).toEqual(['normal']);
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('a transfer of the caller between 200 and ACK: the called party is let go, the new document runs', async () => {
    const ack = Promise.withResolvers<Result<void, LegEnd>>();
    const moved = { url: 'https://app.test/moved', method: 'POST' } as const;
    scene.documents.set(moved.url, '<Response><Play>https://app.test/b.wav</Play></Response>');
    const a = await scene.caller(dialXml(), { acknowledged: ack.promise });
    await called().answers();
    a.interpreter.transfer(moved);
    ack.resolve(ok(undefined));
    await settle();
    expect(called().hungUpWith).toEqual(['normal']);
    expect(scene.loaded).toEqual(['https://app.test/b.wav']);
    a.ends('bye');
    await a.running;
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('early media that begins while its party gives up leaves no bridge behind', async () => {
    const a = await scene.caller(dialXml());
    called().earlyMedia();
    called().ends('refused', 480);
    await a.running;
    expect(a.hungUpWith).toEqual(['noAnswer']);
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });
});
