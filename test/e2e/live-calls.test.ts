/** Calls between phones, and control of live calls over REST. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import type { Handset } from './handset.ts';
import { Scene } from './scene.ts';
import { eventually, type Json } from './service.ts';
import { loudMs, silence, tone, toneMs } from './tones.ts';

/** Longer than a test: on a busy machine, the steps of a call take several seconds. */
const LONG_MS = 60_000;

let scene: Scene;

beforeAll(async () => {
  scene = await Scene.open();
});
afterAll(() => scene.close());

/** An answered call that waits. PreAnswer comes first because a leading `Wait` would delay the answer. */
const HOLD = '<PreAnswer/><Record recordSession="true" playBeep="false"/><Wait length="60"/>';

describe.concurrent('calls between phones', () => {
  it('Dial connects a registered phone with audio and keys in both directions, and reports the end', async () => {
    const { phone: called, element } = await scene.waiting('callee', {
      voice: tone([1500], LONG_MS),
    });
    const dial = `<Dial action="${scene.url('/dial-end')}" callbackUrl="${scene.url('/dial-events')}">${element}</Dial>`;
    const caller = await scene.callTo('dial', dial, { voice: tone([900], LONG_MS) });
    await scene.reported('/dial-events', 'DialConnected');
    await eventually('each other', () =>
      toneMs(caller.received, 1500) > 500 && toneMs(called.received, 900) > 500 ? true : undefined,
    );
    caller.press('7');
    called.press('8');
    await eventually('the keys', () =>
      caller.receivedKeys === '8' && called.receivedKeys === '7' ? true : undefined,
    );
    await called.hangUp();
    expect(await scene.reported('/dial-end')).toMatchObject({
      DialStatus: 'completed',
      DialHangupCause: 'NORMAL_CLEARING',
    });
    await caller.ended;
    await caller.close();
  });

  it('Dial to a busy phone stops the ringing and reports busy to the document', async () => {
    const { phone: first, element } = await scene.waiting('engaged');
    const dial = (name: string) => `<Dial action="${scene.url(`/${name}-end`)}">${element}</Dial>`;
    const talking = await scene.callTo('busy1', dial('busy1'));
    await first.answered;
    const refused = await scene.callTo('busy2', dial('busy2'));
    expect(await scene.reported('/busy2-end')).toMatchObject({
      DialStatus: 'busy',
      DialHangupCause: 'USER_BUSY',
    });
    await Promise.all([talking.hangUp(), refused.hangUp()]);
    await first.ended;
    await first.close();
  });

  it('Conference: each of three members hears the other two but not itself', async () => {
    const voices = [900, 1300, 1700];
    const xml = '<Conference beep="false">Meeting</Conference>';
    const phones = await Promise.all(
      voices.map((hz) => scene.callTo(`member${hz}`, xml, { voice: tone([hz], LONG_MS) })),
    );
    const share = 0.3;
    const hears = (phone: Handset | undefined, hz: number) =>
      toneMs(phone?.received ?? silence(0), hz, share);
    for (const [i, phone] of phones.entries()) {
      const others = voices.filter((_, other) => other !== i);
      await eventually('the others', () =>
        others.every((hz) => hears(phone, hz) > 500) ? true : undefined,
      );
      expect(hears(phone, voices[i] ?? 0)).toBe(0);
    }
    const { body } = await scene.service.api('GET', 'Conference/Meeting/');
    expect(body['members']).toHaveLength(3);
    expect((await scene.service.api('DELETE', 'Conference/Meeting/')).status).toBe(204);
    for (const phone of phones) await phone.ended.then(() => phone.close());
  });

  it('Dial plays music, requires a key from the called party, and then records', async () => {
    const { phone: called, element } = await scene.waiting('confirmer', {
      voice: tone([1500], LONG_MS),
    });
    const question = scene.document('/question', `<Play>${scene.sounds.low}</Play>`);
    const caller = await scene.callTo(
      'confirm',
      `<Record recordSession="true" startOnDialAnswer="true" playBeep="false" fileFormat="wav" callbackUrl="${scene.url('/confirm-stop')}"/>
       <Record recordSession="true" playBeep="false" fileFormat="wav" callbackUrl="${scene.url('/session-stop')}"/>
       <Record recordSession="true" recordRingback="true" playBeep="false" fileFormat="wav" callbackUrl="${scene.url('/ringback-stop')}"/>
       <Dial dialMusic="${scene.sounds.endless}" confirmSound="${question}" confirmKey="3">${element}</Dial>`,
      { voice: tone([900], LONG_MS) },
    );
    await eventually('music and question', () =>
      toneMs(caller.received, 1000) > 300 && toneMs(called.received, 800) > 300 ? true : undefined,
    );
    called.press('3');
    await eventually('each other', () =>
      toneMs(caller.received, 1500) > 1000 && toneMs(called.received, 900) > 1000
        ? true
        : undefined,
    );
    await caller.hangUp();
    await called.ended;
    await called.close();
    const { left, right } = await scene.recorded(
      (await scene.reported('/confirm-stop'))['RecordUrl'],
    );
    expect(toneMs(left, 900)).toBeGreaterThan(400);
    expect(toneMs(right, 1500)).toBeGreaterThan(400);
    expect(toneMs(right, 1000)).toBe(0);
    // A recording of the whole session keeps its time, and contains the music only on request.
    const recordingOf = async (path: string) =>
      scene.recorded((await scene.reported(path))['RecordUrl']);
    const session = await recordingOf('/session-stop');
    const ringback = await recordingOf('/ringback-stop');
    for (const whole of [session, ringback]) {
      expect(whole.right.length).toBe(whole.left.length);
      expect(whole.right.length).toBeGreaterThan(right.length);
      expect(toneMs(whole.left, 900)).toBeGreaterThan(toneMs(left, 900) + 200);
      // The store writes the shorter recording before it starts, which takes time on a busy machine.
      expect(Math.abs(toneMs(whole.right, 1500) - toneMs(right, 1500))).toBeLessThan(500);
    }
    expect(toneMs(session.right, 1000)).toBe(0);
    expect(toneMs(ringback.right, 1000)).toBeGreaterThan(200);
  });

  it('a transfer of both legs gives each leg its own document', async () => {
    const { phone: called, element } = await scene.waiting('bleg');
    const caller = await scene.callTo(
      'aleg',
      `<Dial callbackUrl="${scene.url('/legs')}">${element}</Dial>`,
    );
    await scene.reported('/legs', 'DialConnected');
    const room = '<Conference>Later</Conference>';
    const answer = await scene.service.api('POST', `Call/${await scene.uuidOf('aleg')}/`, {
      legs: 'both',
      aleg_url: scene.document('/aleg-next', `<Play>${scene.sounds.low}</Play>${room}`),
      bleg_url: scene.document('/bleg-next', `<Play>${scene.sounds.high}</Play>${room}`),
    });
    expect(answer.status, answer.text).toBe(202);
    await eventually('both documents', () =>
      toneMs(caller.received, 800) > 400 && toneMs(called.received, 1500) > 400 ? true : undefined,
    );
    await eventually('both in the room', async () => {
      const { body } = await scene.service.api('GET', 'Conference/Later/');
      return body['conference_member_count'] === '2' ? true : undefined;
    });
    await Promise.all([caller.hangUp(), called.hangUp()]);
  });

  it('REST mutes, plays to and removes conference members, and records the room', async () => {
    const xml = `<Conference callbackUrl="${scene.url('/room')}" enterSound="beep:1" record="true" recordFileFormat="wav">Moderated</Conference>`;
    const one = await scene.callTo('member1', xml, { voice: tone([900], LONG_MS) });
    const two = await scene.callTo('member2', xml, { voice: tone([1300], LONG_MS) });
    await eventually('each other', () =>
      toneMs(one.received, 1300) > 300 && toneMs(two.received, 900) > 300 ? true : undefined,
    );
    expect(toneMs(one.received, 880, 0.08)).toBeGreaterThanOrEqual(60);
    const { body } = await scene.service.api('GET', 'Conference/Moderated/');
    const uuid = await scene.uuidOf('member1');
    const id = (body['members'] as Json[]).find(({ call_uuid: of }) => of === uuid)?.['member_id'];
    const post = async (action: string, parameters: Json = {}) => {
      const path = `Conference/Moderated/Member/${id}/${action}/`;
      const answer = await scene.service.api('POST', path, parameters);
      expect(answer.status, answer.text).toBe(202);
    };
    await post('Mute');
    await eventually('quiet', () => isOver(two, 900) || undefined);
    const beforeMs = toneMs(two.received, 900, 0.5);
    await post('Play', { url: scene.sounds.low });
    await eventually('the sound', () => (toneMs(one.received, 800, 0.3) > 300 ? true : undefined));
    expect(toneMs(two.received, 800, 0.3)).toBe(0);
    expect(toneMs(two.received, 900, 0.5) - beforeMs).toBeLessThan(100);
    await post('Kick');
    await one.ended;
    await two.hangUp();
    const { left } = await scene.recorded(
      (await scene.reported('/room', 'ConferenceRecord'))['RecordUrl'],
    );
    expect(toneMs(left, 1300, 0.3)).toBeGreaterThan(500);
    expect(toneMs(left, 900, 0.3)).toBeGreaterThan(300);
    await one.close();
  });
});

const OVER_MS = 300;
const SAMPLES_PER_MS = 8;
/** Whether the latest received audio no longer contains the tone. */
const isOver = (phone: Handset, hz: number): boolean =>
  toneMs(phone.received.subarray(-OVER_MS * SAMPLES_PER_MS), hz, 0.3) === 0;

describe.concurrent('control of a live call over REST', () => {
  it('plays, speaks, sends keys and records, and stops each action', async () => {
    const phone = await scene.callTo('rest', HOLD, { voice: tone([900], LONG_MS) });
    await phone.answered;
    const uuid = await scene.uuidOf('rest');
    const post = async (action: string, body: Json) => {
      const answer = await scene.service.api('POST', `Call/${uuid}/${action}/`, body);
      expect(answer.status, answer.text).toBe(202);
      return answer.body;
    };
    const stop = async (action: string) =>
      expect((await scene.service.api('DELETE', `Call/${uuid}/${action}/`)).status).toBe(204);

    await post('Record', { file_format: 'wav', callback_url: scene.url('/rest-record') });
    await post('Play', { urls: scene.sounds.endless });
    await eventually('the sound', () => (toneMs(phone.received, 1000) > 300 ? true : undefined));
    await stop('Play');
    await eventually('its end', () => isOver(phone, 1000) || undefined);
    const playedMs = toneMs(phone.received, 1000);
    const before = loudMs(phone.received);
    await post('Speak', { text: 'one two three' });
    await eventually('the voice', () => (loudMs(phone.received) > before + 300 ? true : undefined));
    await stop('Speak');
    await post('DTMF', { digits: '42' });
    await eventually('the keys', () => (phone.receivedKeys === '42' ? true : undefined));
    expect(toneMs(phone.received, 1000) - playedMs).toBeLessThan(200);

    await stop('Record');
    const form = await scene.reported('/rest-record', 'RecordStop');
    const { channels, left, right } = await scene.recorded(form['RecordUrl']);
    expect(channels).toBe(2);
    expect(toneMs(left, 900)).toBeGreaterThan(500);
    expect(toneMs(right, 1000)).toBeGreaterThanOrEqual(300);
    await phone.hangUp();
  });

  it('starts, lists and stops a stream', async () => {
    const messages: Json[] = [];
    const bot = scene.customer.bot('/rest-bot', (socket: WebSocket) => {
      socket.on('message', (data) => messages.push(JSON.parse(String(data))));
    });
    const phone = await scene.callTo('streamed', HOLD, { voice: tone([900], LONG_MS) });
    await phone.answered;
    const path = `Call/${await scene.uuidOf('streamed')}/Stream/`;
    const started = await scene.service.api('POST', path, {
      service_url: bot,
      content_type: 'audio/x-mulaw;rate=8000',
    });
    expect(started.status, started.text).toBe(202);
    await eventually('audio', () =>
      messages.filter(({ event }) => event === 'media').length > 10 ? true : undefined,
    );
    const { body } = await scene.service.api('GET', path);
    expect(body['objects']).toMatchObject([
      { stream_id: started.body['stream_id'], status: 'in-progress' },
    ]);
    expect((await scene.service.api('DELETE', `${path}${started.body['stream_id']}/`)).status).toBe(
      204,
    );
    await eventually('stop', () => messages.find(({ event }) => event === 'stop'));
    await phone.hangUp();
  });

  it('a transfer interrupts the running element', async () => {
    const phone = await scene.callTo('moved', `<Play loop="0">${scene.sounds.endless}</Play>`);
    await phone.answered;
    const there = scene.customer.xml(
      '/there',
      `<Response><Play>${scene.sounds.high}</Play></Response>`,
    );
    await eventually('the first document', () =>
      toneMs(phone.received, 1000) > 100 ? true : undefined,
    );
    const answer = await scene.service.api('POST', `Call/${await scene.uuidOf('moved')}/`, {
      legs: 'aleg',
      aleg_url: there,
    });
    expect(answer.status).toBe(202);
    await phone.ended;
    expect(toneMs(phone.received, 1500)).toBeGreaterThan(300);
    await phone.close();
  });
});
