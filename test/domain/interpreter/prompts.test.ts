import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { NEXT } from '../../../src/domain/interpreter/outcome.ts';
import { preAnswer } from '../../../src/domain/interpreter/verb/pre-answer.ts';
import { parseAnswerXml } from '../../../src/protocol/answer-xml/answer-xml.ts';
import { settle } from '../../sim/clock.ts';
import { collectUnhandled } from '../../unhandled.ts';
import { ListeningScene, pcm } from './listening-scene.ts';
import { NOTHING_LEFT } from './scene.ts';

const FILE = 'https://app.test/welcome.mp3';
const REDIRECT = 'https://app.test/next';

let scene: ListeningScene;

beforeEach(() => {
  scene = new ListeningScene();
  scene.documents.set(REDIRECT, '<Response><Wait length="9"/></Response>');
});

/** Completes the current playback on the leg. */
async function hear(leg = scene.leg()): Promise<void> {
  for (const playback of leg.sounding) playback.complete();
  await settle();
}

const warnings = (call: { log: { entries(): readonly { kind: string; text: string }[] } }) =>
  call.log
    .entries()
    .filter(({ kind }) => kind === 'warning')
    .map(({ text }) => text);

describe('Speak (dialect §2.1)', () => {
  it('answers, speaks pieces in order, and synthesizes the next while one plays', async () => {
    scene.speechPieces = [pcm(1), pcm(2), pcm(3)];
    const a = await scene.caller('<Speak voice="MAN" language="en-GB">Hello there</Speak>');
    expect(a.call.isAnswered).toBe(true);
    expect(scene.spoken).toMatchObject([
      { text: 'Hello there', voice: 'MAN', language: 'en-GB', ssml: undefined },
    ]);
    expect(a.media.sounding.map(({ what }) => what)).toEqual([scene.speechPieces[0]]);
    expect(scene.piecesMade).toBe(2);
    await hear();
    await hear();
    expect(a.media.sounding.map(({ what }) => what)).toEqual([scene.speechPieces[2]]);
    await hear();
    await a.running;
    expect(a.hungUpWith).toEqual(['endOfXml']);
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('repeats loop times with one synthesis, and with loop="0" until the call ends', async () => {
    const a = await scene.caller('<Speak loop="3">Hi</Speak><Speak loop="0">Ho</Speak>');
    for (let round = 0; round < 3; round += 1) await hear();
    expect(scene.spoken.map(({ text }) => text)).toEqual(['Hi', 'Ho']);
    for (let round = 0; round < 50; round += 1) await hear();
    expect(scene.spoken).toHaveLength(2);
    expect(a.media.sounding).toHaveLength(1);
    a.ends('bye');
    await a.running;
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('continues with a warning in the log when there is no synthesizer or it fails midway', async () => {
    scene.speechPieces = [pcm(1), pcm(2)];
    scene.speechProblems.push({ kind: 'unavailable', detail: 'none is installed' });
    const a = await scene.caller('<Speak loop="0">Hi</Speak><Play>https://app.test/a.wav</Play>');
    expect(warnings(a.call)).toEqual(['text cannot be spoken']);
    expect(scene.loaded).toEqual(['https://app.test/a.wav']);
  });

  it('completes without audio if the text has no speech, regardless of loop', async () => {
    scene.speechPieces = [];
    const a = await scene.caller('<Speak loop="0">...</Speak>');
    await a.running;
    expect(a.hungUpWith).toEqual(['endOfXml']);
  });
});

describe('preempted speech', () => {
  it("is not restarted when a newer playback takes the leg's last slot", async () => {
    const a = await scene.caller('<Speak loop="0">Hi</Speak><Wait length="60"/>');
    await hear();
    a.media.sounding[0]?.stop();
    await settle();
    expect(a.media.sounding).toHaveLength(0);
    expect(a.call.isEnded).toBe(false);
  });
});

describe('Play (dialect §2.1)', () => {
  it('plays the file loop times, in place of other audio', async () => {
    const a = await scene.caller(`<Play loop="2">${FILE}</Play>`);
    expect(scene.loaded).toEqual([FILE]);
    expect(a.media.sounding).toMatchObject([{ mix: false }]);
    await hear();
    await a.running;
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('skips a file that cannot be loaded: logs the reason and continues', async () => {
    scene.audioProblems.push({ kind: 'httpStatus', detail: 'HTTP status 404' });
    const a = await scene.caller(`<Play>${FILE}</Play><Wait length="5"/>`);
    expect(a.media.playbacks).toHaveLength(0);
    expect(a.call.log.entries().find(({ kind }) => kind === 'warning')).toMatchObject({
      text: 'audio file cannot be played',
      facts: { url: FILE, kind: 'httpStatus', detail: 'HTTP status 404' },
    });
    expect(a.call.isEnded).toBe(false);
  });

  it('stops at a transfer, and the new document replaces it', async () => {
    const a = await scene.caller(`<Play loop="0">${FILE}</Play>`);
    a.interpreter.transfer({ url: REDIRECT, method: 'POST' });
    await settle();
    expect(a.media.sounding).toHaveLength(0);
    expect(scene.requests.at(-1)).toMatchObject({ url: REDIRECT });
    expect(a.call.isEnded).toBe(false);
  });

  it('stops when the caller hangs up', async () => {
    const a = await scene.caller(`<Play loop="0">${FILE}</Play>`);
    a.ends('bye');
    await a.running;
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });
});

describe('Wait (dialect §2.1)', () => {
  it('delays the answer as the first element', async () => {
    const a = await scene.caller('<Wait length="10"/><Speak>Hello</Speak>');
    await scene.clock.advance(9_999);
    expect(a.call.isAnswered).toBe(false);
    await scene.clock.advance(1);
    expect(a.call.isAnswered).toBe(true);
  });

  it('ends early after minSilence of caller silence, otherwise after its length', async () => {
    const a = await scene.caller(
      '<Wait length="10" silence="true" minSilence="3000"/><Wait length="7" silence="true"/>',
    );
    expect(scene.leg().silencesAwaited).toMatchObject([{ ms: 3000, maxMs: 10_000 }]);
    scene.leg().silencesAwaited[0]?.received();
    await settle();
    expect(scene.leg().silencesAwaited).toHaveLength(2);
    await scene.clock.advance(7000);
    await a.running;
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('ends early at a beep, even after speech', async () => {
    const a = await scene.caller('<Wait length="30" beep="true"/><Speak>Hi</Speak>');
    scene.leg().detections[0]?.conclude('human');
    await settle();
    scene.leg().detections[1]?.conclude('timeout');
    await settle();
    expect(a.call.isEnded).toBe(false);
    scene.leg().detections[2]?.conclude('beep');
    await settle();
    expect(scene.spoken).toHaveLength(1);
    expect(scene.clock.nextMs()).toBeUndefined();
    await hear();
    await a.running;
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('stops the detection of a beep when the caller was silent first', async () => {
    await scene.caller(
      '<Wait length="30" silence="true" minSilence="3000" beep="true"/><Wait length="60"/>',
    );
    scene.leg().silencesAwaited[0]?.received();
    await settle();
    expect(scene.leg().detections).toMatchObject([{ isCanceled: true }]);
  });

  it('has no unhandled rejection, which would end the process, if the leg refuses to listen', async () => {
    const unhandled = collectUnhandled();
    const a = await scene.caller('<Speak>.</Speak><Wait length="5" silence="true" beep="true"/>');
    scene.leg().waitForSilence = () => {
      throw new Error('too many listeners');
    };
    await hear();
    await a.running;
    await nextTurn();
    unhandled.release();
    expect(a.hungUpWith).toEqual(['internalError']);
    expect(unhandled.reasons).toEqual([]);
  });

  it('waits its whole length without a beep, but ends at a hangup', async () => {
    const a = await scene.caller('<Wait length="2" beep="true"/><Wait length="5" beep="true"/>');
    await scene.clock.advance(2000);
    expect(scene.leg().detections).toHaveLength(2);
    a.ends('bye');
    await a.running;
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });
});

describe('DTMF (dialect §2.1)', () => {
  it('starts the next element immediately by default; the end of the document waits for the last digit', async () => {
    const sent = Promise.withResolvers<void>();
    const a = await scene.caller(
      '<Wait length="1"/><Speak>.</Speak><DTMF>1w2#</DTMF><Speak>,</Speak>',
    );
    await scene.clock.advance(1000);
    scene.leg().digitsSent = sent.promise;
    await hear();
    expect(a.media.digits).toEqual(['1w2#']);
    await hear();
    await scene.clock.advance(5000);
    expect(a.hungUpWith).toEqual([]);
    sent.resolve();
    await a.running;
    expect(a.hungUpWith).toEqual(['endOfXml']);
  });

  it('delays a Hangup until the last digit, up to a limit', async () => {
    const a = await scene.caller('<Wait length="1"/><Speak>.</Speak><DTMF>1</DTMF><Hangup/>');
    await scene.clock.advance(1000);
    scene.leg().digitsSent = new Promise(() => undefined);
    await hear();
    await scene.clock.advance(119_000);
    expect(a.hungUpWith).toEqual([]);
    await scene.clock.advance(2000);
    await a.running;
    expect(a.hungUpWith).toEqual(['normal']);
  });

  it('with async="false" waits until the last digit has been sent', async () => {
    const sent = Promise.withResolvers<void>();
    const a = await scene.caller('<Speak>.</Speak><DTMF async="false">12</DTMF>');
    scene.leg().digitsSent = sent.promise;
    await hear();
    expect(a.media.digits).toEqual(['12']);
    await scene.clock.advance(60_000);
    expect(a.call.isEnded).toBe(false);
    sent.resolve();
    await a.running;
    expect(a.call.isEnded).toBe(true);
  });
});

describe('PreAnswer (dialect §2.1)', () => {
  it('plays early media before the answer; the following element answers', async () => {
    const a = await scene.caller(
      `<PreAnswer><Play>${FILE}</Play></PreAnswer><Wait length="1"/><Speak>Hi</Speak>`,
    );
    expect(a.call.status).toBe('early');
    expect(a.media.sounding).toHaveLength(1);
    await hear();
    expect(a.call.isAnswered).toBe(false);
    await scene.clock.advance(1000);
    expect(a.call.isAnswered).toBe(true);
  });

  it('lasts at most 30 s', async () => {
    const a = await scene.caller(
      `<PreAnswer><Play loop="0">${FILE}</Play></PreAnswer><Speak>Hi</Speak>`,
    );
    await scene.clock.advance(29_999);
    expect(a.call.isAnswered).toBe(false);
    await scene.clock.advance(1);
    expect(a.call.isAnswered).toBe(true);
    expect(warnings(a.call)).toEqual(['PreAnswer ended after 30 s']);
    expect(a.media.sounding).toHaveLength(1);
  });

  it('has no limit on a call that is already answered', async () => {
    const a = await scene.caller(
      `<Play>${FILE}</Play><PreAnswer><Wait length="40"/></PreAnswer><Speak>Hi</Speak>`,
    );
    await hear();
    await scene.clock.advance(39_999);
    expect(scene.spoken).toEqual([]);
    await scene.clock.advance(1);
    expect(scene.spoken).toHaveLength(1);
    expect(warnings(a.call)).toEqual([]);
  });

  it('follows a Redirect among its children without an answer', async () => {
    const a = await scene.caller(
      `<PreAnswer><Redirect>${REDIRECT}</Redirect></PreAnswer><Speak>Hi</Speak>`,
    );
    expect(scene.requests.at(-1)).toMatchObject({
      url: REDIRECT,
      parameters: { Event: 'Redirect' },
    });
    expect(a.call.isAnswered).toBe(false);
  });

  it('stops its early media when the caller hangs up', async () => {
    const a = await scene.caller(`<PreAnswer><Play loop="0">${FILE}</Play></PreAnswer>`);
    a.ends('cancel');
    await a.running;
    expect(scene.leftovers()).toEqual(NOTHING_LEFT);
  });

  it('is skipped with a warning if early media is impossible', async () => {
    const a = await scene.caller('<Wait length="60"/>');
    const parsed = parseAnswerXml('<Response><PreAnswer><Speak>Hi</Speak></PreAnswer></Response>', {
      allowInsecureStreams: false,
    });
    const [instruction] = parsed.ok ? parsed.value : [];
    if (instruction?.kind !== 'preAnswer') throw new Error('not a PreAnswer');
    // Early media can be impossible for several reasons, for example an INVITE without an offer.
    a.call.startEarlyMedia = () => Promise.resolve(false);
    const { call } = a;
    const context = {
      call,
      needs: scene.needs,
      signal: call.signal,
      ready: () => Promise.reject(new Error('PreAnswer does not answer')),
    };
    const outcome = await preAnswer(instruction, context, () => {
      throw new Error('no child is carried out');
    });
    expect(outcome).toEqual(NEXT);
    expect(warnings(call)).toEqual([
      'PreAnswer is skipped: early media is not possible on this call',
    ]);
  });
});
