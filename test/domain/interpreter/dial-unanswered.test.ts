/** Dial for an unanswered caller (decisions: Dial does not answer). */
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
  if (phone === undefined) throw new Error(`no phone was called at ${index}`);
  return phone;
}

const dialXml = (attributes = '', destinations = '<Number>14155550111</Number>'): string =>
  `<Dial callerId="14155550199" callbackUrl="${EVENTS}" ${attributes}>${destinations}</Dial>`;

describe('Dial: unanswered caller', () => {
  it('sends 180 without a local tone, answers with the called party, and bills from then on', async () => {
    const a = await scene.caller(dialXml());
    expect(a.sent).toEqual([]);
    called().rings();
    expect(a.sent).toEqual([180]);
    await scene.clock.advance(5000);
    await called().answers();
    expect(a.sent).toEqual([180, 200]);
    expect(scene.media.openBridges).toMatchObject([{ a: a.media, b: called().media }]);
    expect(a.call.answerUs).toBe(called().call.answerUs);
    // The record has the answer before audio flows.
    expect(scene.retained[0]).toBe(a.call);
    expect(scene.events(EVENTS)).toEqual(['DialAnswer', 'DialConnected']);
  });

  it('stays unanswered through Wait, PreAnswer and Redirect before the Dial', async () => {
    scene.documents.set('https://app.test/next', `<Response>${dialXml()}</Response>`);
    const a = await scene.caller(
      '<Wait length="2"/><PreAnswer><Play>https://app.test/a.wav</Play></PreAnswer><Redirect>https://app.test/next</Redirect>',
    );
    await scene.clock.advance(2000);
    a.media.sounding[0]?.complete();
    await settle();
    expect(a.sent).toEqual([183]);
    // A caller in early media hears only this node, which plays the ringing tone.
    called().rings();
    expect(a.media.sounding).toMatchObject([{ what: { loop: true } }]);
    await called().answers();
    expect(a.sent).toEqual([183, 200]);
  });

  it('passes early media of the called party on (183), without a gap before the answer', async () => {
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

  it('plays a local tone when the party with early media fails while another rings', async () => {
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

  it('plays dialMusic as early media; an INVITE without an offer has no early media but is answered', async () => {
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

  it('keeps ringing while the called party confirms with a key', async () => {
    const a = await scene.caller(dialXml('confirmKey="1"'));
    await called().answers();
    expect(a.sent).toEqual([]);
    called().press('1');
    await settle();
    expect(a.sent).toEqual([200]);
  });
});

describe('Dial: unanswered caller and no answer', () => {
  it.each([
    ['refused', 486, 'busy'],
    ['refused', 603, 'declined'],
    ['refused', 404, 'unallocated'],
    ['refused', 503, 'carrierCongestion'],
  ] as const)(
    'passes %s %d on to the caller, without another request',
    async (how, status, cause) => {
      const a = await scene.caller(dialXml());
      called().ends(how, status);
      await a.running;
      expect(a.hungUpWith).toEqual([cause]);
      expect(scene.requests.map(({ url }) => url)).toEqual([ANSWER]);
      await expect(a.call.ended).resolves.toMatchObject({ cause, disposition: 'send_refuse' });
      expect(a.call.answerUs).toBeUndefined();
      expect(scene.leftovers()).toEqual(NOTHING_LEFT);
    },
  );

  it('refuses the caller with no answer at the timeout of the Dial', async () => {
    const a = await scene.caller(dialXml('timeout="20"'));
    called().rings();
    await scene.clock.advance(20_000);
    await a.running;
    expect(a.hungUpWith).toEqual(['ringTimeout']);
  });

  it('refuses with the most specific of several failures, or with that of an attempt without a leg', async () => {
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

  it("follows the action's document; if it is empty, refuses with the called party's refusal", async () => {
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

  it('runs the following elements with redirect="false", and answers when they need it', async () => {
    const a = await scene.caller(
      `${dialXml(`action="${ACTION}" redirect="false"`)}<Play>https://app.test/a.wav</Play>`,
    );
    called().ends('refused', 486);
    await settle();
    expect(a.sent).toEqual([200]);
    expect(scene.loaded).toEqual(['https://app.test/a.wav']);
    a.ends('bye');
  });

  it('fetches the answer URL again without action, even if elements follow', async () => {
    const a = await scene.caller(`${dialXml()}<Wait/>`);
    called().ends('refused', 486);
    await settle();
    expect(scene.requests.map(({ url }) => url)).toEqual([ANSWER, ANSWER]);
    a.ends('cancel');
  });
});

describe('Dial: race conditions around the answer', () => {
  it('passes a CANCEL during ringing on to the called party', async () => {
    const a = await scene.caller(dialXml());
    called().rings();
    a.ends('cancel');
    await a.running;
    expect(called().hungUpWith).toEqual(['canceled']);
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('completes the Dial after the ACK if the called party hangs up before it', async () => {
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

  it('ends the called party if the caller never sends ACK', async () => {
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

  it('transfer between 200 and ACK: ends the called party and runs the new document', async () => {
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

  it('leaves no bridge if early media starts while its party fails', async () => {
    const a = await scene.caller(dialXml());
    called().earlyMedia();
    called().ends('refused', 480);
    await a.running;
    expect(a.hungUpWith).toEqual(['noAnswer']);
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });
});
