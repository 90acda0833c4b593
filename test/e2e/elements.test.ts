/** The elements of answer XML and the control of live calls, as the people on the phone hear them. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { encodeMp3 } from '../../src/edge/audio/encode-mp3.ts';
import { writeWav } from '../../src/phone/audio/wav.ts';
import { openWav } from '../../src/protocol/audio-file/audio-file.ts';
import { Customer } from './customer.ts';
import { Handset, type HandsetOptions } from './handset.ts';
import { makeUser } from './phone.ts';
import {
  eventually,
  type Json,
  newPlace,
  removePlace,
  Service,
  type ServicePlace,
} from './service.ts';
import { joined, keysIn, keyTones, loudMs, silence, tone, toneAtMs, toneMs } from './tones.ts';

let place: ServicePlace;
let service: Service;
let customer: Customer;
let sounds: Readonly<Record<'low' | 'high' | 'endless', string>>;

beforeAll(async () => {
  place = await newPlace();
  [service, customer] = await Promise.all([Service.start(place), Customer.listen()]);
  await service.admin('PATCH', `/accounts/${service.demo.authId}`, {
    concurrent_calls_limit: 50,
    cps_limit: 50,
  });
  sounds = await soundFiles();
});
afterAll(async () => {
  await service.kill();
  await customer.close();
  removePlace(place);
});

/** 800 Hz as WAV, 1500 Hz as MP3, and ten seconds of 1000 Hz. */
async function soundFiles() {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-sounds-'));
  const file = (name: string) => join(folder, name);
  const serve = (name: string, type: string, bytes: Uint8Array) =>
    customer.page(
      `/${name}`,
      (response) => void response.writeHead(200, { 'content-type': type }).end(bytes),
    );
  writeFileSync(file('high.wav'), writeWav({ rate: 8000, samples: tone([1500], 600) }));
  await encodeMp3({ kind: 'encodeMp3', wavPath: file('high.wav'), mp3Path: file('high.mp3') });
  const found = {
    low: serve('low.wav', 'audio/wav', writeWav({ rate: 8000, samples: tone([800], 600) })),
    high: serve('high.mp3', 'audio/mpeg', readFileSync(file('high.mp3'))),
    endless: serve(
      'endless.wav',
      'audio/wav',
      writeWav({ rate: 8000, samples: tone([1000], 10_000) }),
    ),
  };
  rmSync(folder, { recursive: true });
  return found;
}

const userFor = (name: string, elements: string) =>
  makeUser(service, name, {
    answer_url: customer.xml(`/${name}`, `<Response>${elements}</Response>`),
    hangup_url: `http://${customer.authority}/${name}-hangup`,
  });

/** A phone that has called an application with this document. */
const callTo = async (
  name: string,
  elements: string,
  options: HandsetOptions = {},
): Promise<Handset> => Handset.call(service, await userFor(name, elements), options);

const uuidOf = async (name: string): Promise<string> => {
  const { form } = await eventually(`the call of ${name}`, () => customer.at(`/${name}`)[0]);
  return form['CallUUID'] ?? '';
};

const told = async (path: string, event?: string) =>
  (
    await eventually(`${event ?? 'a request'} at ${path}`, () =>
      customer.at(path).find(({ form }) => event === undefined || form['Event'] === event),
    )
  ).form;

const url = (path: string): string => `http://${customer.authority}${path}`;

/** As somebody who has nothing but the link. */
async function recorded(link: string | undefined) {
  const response = await fetch(link ?? '');
  expect(response.status).toBe(200);
  const bytes = new Uint8Array(await response.arrayBuffer());
  const wav = openWav(bytes);
  if (!wav.ok) throw new Error(wav.error);
  const { channels, dataOffset, length } = wav.value;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const side = (channel: number) =>
    Int16Array.from({ length }, (_, i) =>
      view.getInt16(dataOffset + 2 * (i * channels + channel), true),
    );
  return { channels, lengthMs: length / 8, left: side(0), right: side(channels - 1) };
}

/** An answered call in which nothing happens; a `Wait` that comes first would delay the answer. */
const HOLD = '<PreAnswer/><Record recordSession="true" playBeep="false"/><Wait length="60"/>';

describe.concurrent('what a caller is given to hear', () => {
  it('Play takes WAV and MP3, Wait is silence, Speak speaks, and the end of the document ends the call', async () => {
    const elements = `<Play>${sounds.low}</Play><Wait length="1"/><Play loop="2">${sounds.high}</Play><Speak>Good morning</Speak>`;
    const phone = await callTo('prompts', elements);
    await phone.ended;
    const { heard } = phone;
    expect(toneMs(heard, 800)).toBeGreaterThanOrEqual(540);
    expect(toneMs(heard, 800)).toBeLessThanOrEqual(640);
    expect(toneMs(heard, 1500)).toBeGreaterThanOrEqual(1000);
    const gapMs = toneAtMs(heard, 1500) - toneAtMs(heard, 800) - 600;
    expect(gapMs).toBeGreaterThanOrEqual(980);
    expect(gapMs).toBeLessThan(1500);
    expect(loudMs(heard)).toBeGreaterThan(2300);
    expect(await told('/prompts-hangup')).toMatchObject({
      HangupCauseName: 'End Of XML Instructions',
      HangupCauseCode: '4010',
    });
    await phone.close();
  });

  it('PreAnswer is heard as early media, before the 200', async () => {
    const phone = await callTo(
      'early',
      `<PreAnswer><Play>${sounds.low}</Play></PreAnswer><Play>${sounds.high}</Play>`,
    );
    let answered = false;
    void phone.answered.then(() => {
      answered = true;
    });
    await phone.early;
    await eventually('the early tone', () => (toneMs(phone.heard, 800) > 400 ? true : undefined));
    expect(answered).toBe(false);
    await phone.ended;
    expect(answered).toBe(true);
    expect(toneMs(phone.heard, 1500)).toBeGreaterThan(500);
    await phone.close();
  });

  it.each([
    ['as events of RFC 4733 where they are negotiated', 'keyevents', true],
    ['as tones where they are not', 'keytones', false],
  ])('DTMF sends keys %s', async (_, name, keyEvents) => {
    const phone = await callTo(name, '<DTMF async="false">1w59#</DTMF><Wait length="1"/>', {
      keyEvents,
    });
    await phone.ended;
    expect({ events: phone.keysHeard, tones: keysIn(phone.heard) }).toEqual(
      keyEvents ? { events: '159#', tones: '' } : { events: '', tones: '159#' },
    );
    await phone.close();
  });
});

describe.concurrent('what a caller presses, each key once', () => {
  const elements = (name: string) =>
    `<GetDigits action="${url(`/${name}-keys`)}" numDigits="4"><Play loop="0">${sounds.endless}</Play></GetDigits>`;
  const keysOf = async (name: string, phone: Handset) => {
    const form = await told(`/${name}-keys`);
    await phone.hangUp();
    return form['Digits'];
  };

  const prompted = (phone: Handset) =>
    eventually('the prompt', () => (toneMs(phone.heard, 1000) > 0 ? true : undefined));

  it('as events of RFC 4733', async () => {
    const phone = await callTo('rfc4733', elements('rfc4733'));
    await prompted(phone);
    phone.press('4077');
    expect(await keysOf('rfc4733', phone)).toBe('4077');
  });

  it('as tones in the audio, when no events were negotiated', async () => {
    const voice = joined([silence(500), keyTones('4077')]);
    const phone = await callTo('inband', elements('inband'), { keyEvents: false, voice });
    expect(await keysOf('inband', phone)).toBe('4077');
  });

  it('as SIP INFO', async () => {
    const phone = await callTo('info', elements('info'), { keyEvents: false });
    await prompted(phone);
    for (const digit of '4077') {
      phone.pressByInfo(digit);
      await pause(100);
    }
    expect(await keysOf('info', phone)).toBe('4077');
  });
});

describe.concurrent('Record', () => {
  const record = (name: string, attributes: string) =>
    `<Record fileFormat="wav" playBeep="false" action="${url(`/${name}-action`)}" callbackUrl="${url(`/${name}-stop`)}" ${attributes}/><Wait length="20"/>`;

  it('ends when the caller has been silent', async () => {
    const phone = await callTo('quiet', record('quiet', 'timeout="1" maxLength="30"'), {
      voice: joined([silence(300), tone([900], 1000)]),
    });
    const form = await told('/quiet-stop');
    expect(form).toMatchObject({ RecordingEndReason: 'RecordingTimeout' });
    const { channels, left, lengthMs } = await recorded(form['RecordUrl']);
    expect(channels).toBe(1);
    expect(toneMs(left, 900)).toBeGreaterThanOrEqual(940);
    expect(toneMs(left, 900)).toBeLessThanOrEqual(1040);
    expect(Math.abs(lengthMs - Number(form['RecordingDurationMs']))).toBeLessThanOrEqual(20);
    await phone.hangUp();
  });

  it('ends at a key, which is told', async () => {
    const phone = await callTo('bykey', record('bykey', 'finishOnKey="#" maxLength="30"'), {
      voice: tone([900], 3000),
    });
    await phone.answered;
    await told('/bykey-action', 'Record');
    await pause(500);
    phone.press('5#');
    expect(await told('/bykey-stop')).toMatchObject({
      RecordingEndReason: 'FinishedOnKey',
      Digits: '#',
    });
    await phone.hangUp();
  });

  it('of a session keeps both sides in step: the caller left, what it hears right', async () => {
    const elements = `<Record recordSession="true" fileFormat="wav" playBeep="false" maxLength="60" callbackUrl="${url('/sides-stop')}"/><Play>${sounds.low}</Play>`;
    const phone = await callTo('sides', elements, { voice: tone([900], 3000) });
    await phone.ended;
    const form = await told('/sides-stop');
    const { channels, left, right, lengthMs } = await recorded(form['RecordUrl']);
    expect(channels).toBe(2);
    expect(toneMs(right, 800)).toBeGreaterThanOrEqual(560);
    expect(toneMs(right, 900)).toBe(0);
    expect(toneMs(left, 900)).toBeGreaterThanOrEqual(lengthMs - 200);
    expect(Math.abs(lengthMs - Number(form['RecordingDurationMs']))).toBeLessThanOrEqual(20);
    await phone.close();
  });
});

describe.concurrent('people who talk to each other', () => {
  it('Dial connects a registered phone: both are heard, keys go through, the end is told', async () => {
    const callee = await makeUser(service, 'callee', {
      answer_url: customer.xml('/callee', '<Response/>'),
    });
    const called = await Handset.waiting(service, callee, { voice: tone([1500], 4000) });
    const dial = `<Dial action="${url('/dial-end')}" callbackUrl="${url('/dial-events')}"><User>sip:${callee.username}@127.0.0.1:${service.sipPort}</User></Dial>`;
    const caller = await callTo('dial', dial, { voice: tone([900], 4000) });
    await told('/dial-events', 'DialConnected');
    await eventually('each other', () =>
      toneMs(caller.heard, 1500) > 500 && toneMs(called.heard, 900) > 500 ? true : undefined,
    );
    caller.press('7');
    called.press('8');
    await eventually('the keys', () =>
      caller.keysHeard === '8' && called.keysHeard === '7' ? true : undefined,
    );
    await called.hangUp();
    expect(await told('/dial-end')).toMatchObject({
      DialStatus: 'completed',
      DialHangupCause: 'NORMAL_CLEARING',
    });
    await caller.ended;
    await caller.close();
  });

  it('Dial to a phone that is busy: the ringing stops, the document hears of it', async () => {
    const callee = await makeUser(service, 'engaged', {
      answer_url: customer.xml('/engaged', '<Response/>'),
    });
    const first = await Handset.waiting(service, callee, {});
    const dial = (name: string) =>
      `<Dial action="${url(`/${name}-end`)}"><User>sip:${callee.username}@127.0.0.1:${service.sipPort}</User></Dial>`;
    const talking = await callTo('busy1', dial('busy1'));
    await first.answered;
    const refused = await callTo('busy2', dial('busy2'));
    expect(await told('/busy2-end')).toMatchObject({
      DialStatus: 'busy',
      DialHangupCause: 'USER_BUSY',
    });
    await Promise.all([talking.hangUp(), refused.hangUp()]);
    await first.ended;
    await first.close();
  });

  it('Conference: each of three hears the two others, and nobody itself', async () => {
    const voices = [900, 1300, 1700];
    const xml = '<Conference beep="false">Meeting</Conference>';
    const phones = await Promise.all(
      voices.map((hz) => callTo(`member${hz}`, xml, { voice: tone([hz], 8000) })),
    );
    const share = 0.3;
    const hears = (phone: Handset | undefined, hz: number) =>
      toneMs(phone?.heard ?? silence(0), hz, share);
    for (const [i, phone] of phones.entries()) {
      const others = voices.filter((_, other) => other !== i);
      await eventually('the others', () =>
        others.every((hz) => hears(phone, hz) > 500) ? true : undefined,
      );
      expect(hears(phone, voices[i] ?? 0)).toBe(0);
    }
    const { body } = await service.api('GET', 'Conference/Meeting/');
    expect(body['members']).toHaveLength(3);
    expect((await service.api('DELETE', 'Conference/Meeting/')).status).toBe(204);
    for (const phone of phones) await phone.ended.then(() => phone.close());
  });
});

describe.concurrent('where a call goes', () => {
  it.each([
    ['busy', 486, 3010, 'Busy Line'],
    ['rejected', 603, 3020, 'Rejected'],
  ])('Hangup reason="%s" refuses with %i', async (reason, status, code, name) => {
    const phone = await callTo(reason, `<Hangup reason="${reason}"/>`);
    expect(await phone.ended).toMatchObject({ how: 'refused', status });
    expect(await told(`/${reason}-hangup`)).toMatchObject({
      HangupCauseCode: String(code),
      HangupCauseName: name,
      HangupSource: 'Answer XML',
    });
    await phone.close();
  });

  it('Redirect goes on with another document', async () => {
    const next = customer.xml('/next', `<Response><Play>${sounds.high}</Play></Response>`);
    const phone = await callTo(
      'redirect',
      `<Redirect>${next}</Redirect><Play>${sounds.low}</Play>`,
    );
    await phone.ended;
    expect(customer.at('/next')[0]?.form).toMatchObject({
      Event: 'Redirect',
      CallUUID: await uuidOf('redirect'),
    });
    expect(toneMs(phone.heard, 1500)).toBeGreaterThan(500);
    expect(toneMs(phone.heard, 800)).toBe(0);
    await phone.close();
  });

  it('a transfer over REST breaks off what runs', async () => {
    const phone = await callTo('moved', `<Play loop="0">${sounds.endless}</Play>`);
    await phone.answered;
    const there = customer.xml('/there', `<Response><Play>${sounds.high}</Play></Response>`);
    await eventually('the first document', () =>
      toneMs(phone.heard, 1000) > 100 ? true : undefined,
    );
    const answer = await service.api('POST', `Call/${await uuidOf('moved')}/`, {
      legs: 'aleg',
      aleg_url: there,
    });
    expect(answer.status).toBe(202);
    await phone.ended;
    expect(toneMs(phone.heard, 1500)).toBeGreaterThan(500);
    await phone.close();
  });
});

describe.concurrent('a live call in the hands of REST', () => {
  it('is played to, spoken to, sent keys and recorded, and each of them is stopped', async () => {
    const phone = await callTo('rest', HOLD, { voice: tone([900], 9000) });
    await phone.answered;
    const uuid = await uuidOf('rest');
    const post = async (action: string, body: Json) => {
      const answer = await service.api('POST', `Call/${uuid}/${action}/`, body);
      expect(answer.status, answer.text).toBe(202);
      return answer.body;
    };
    const stop = async (action: string) =>
      expect((await service.api('DELETE', `Call/${uuid}/${action}/`)).status).toBe(204);

    await post('Record', { file_format: 'wav', callback_url: url('/rest-record') });
    await post('Play', { urls: sounds.endless });
    await eventually('the sound', () => (toneMs(phone.heard, 1000) > 300 ? true : undefined));
    await stop('Play');
    const playedMs = toneMs(phone.heard, 1000);
    const before = loudMs(phone.heard);
    await post('Speak', { text: 'one two three' });
    await eventually('the voice', () => (loudMs(phone.heard) > before + 300 ? true : undefined));
    await stop('Speak');
    await post('DTMF', { digits: '42' });
    await eventually('the keys', () => (phone.keysHeard === '42' ? true : undefined));
    expect(toneMs(phone.heard, 1000) - playedMs).toBeLessThan(200);

    await stop('Record');
    const form = await told('/rest-record', 'RecordStop');
    const { channels, left, right } = await recorded(form['RecordUrl']);
    expect(channels).toBe(2);
    expect(toneMs(left, 900)).toBeGreaterThan(500);
    expect(toneMs(right, 1000)).toBeGreaterThanOrEqual(300);
    await phone.hangUp();
  });

  it('is streamed, listed, and no longer streamed', async () => {
    const messages: Json[] = [];
    const bot = customer.bot('/rest-bot', (socket: WebSocket) => {
      socket.on('message', (data) => messages.push(JSON.parse(String(data))));
    });
    const phone = await callTo('streamed', HOLD, { voice: tone([900], 3000) });
    await phone.answered;
    const path = `Call/${await uuidOf('streamed')}/Stream/`;
    const started = await service.api('POST', path, {
      service_url: bot,
      content_type: 'audio/x-mulaw;rate=8000',
    });
    expect(started.status, started.text).toBe(202);
    await eventually('audio', () =>
      messages.filter(({ event }) => event === 'media').length > 10 ? true : undefined,
    );
    const { body } = await service.api('GET', path);
    expect(body['objects']).toMatchObject([
      { stream_id: started.body['stream_id'], status: 'in-progress' },
    ]);
    expect((await service.api('DELETE', `${path}${started.body['stream_id']}/`)).status).toBe(204);
    await eventually('stop', () => messages.find(({ event }) => event === 'stop'));
    await phone.hangUp();
  });
});
