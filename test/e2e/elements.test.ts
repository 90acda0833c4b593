/** Answer XML elements from the point of view of one caller. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onTime } from '../on-time.ts';
import type { Handset } from './handset.ts';
import { Scene } from './scene.ts';
import { eventually, type Json } from './service.ts';
import { joined, keysIn, keyTones, loudMs, silence, tone, toneAtMs, toneMs } from './tones.ts';

let scene: Scene;

beforeAll(async () => {
  scene = await Scene.open();
});
afterAll(() => scene.close());

describe.concurrent('audio that the caller hears', () => {
  it('Play accepts WAV and MP3, Wait is silence, Speak synthesizes, and the end of the document ends the call', () =>
    onTime(async (number) => {
      const name = `prompts${number}`;
      const elements = `<Play>${scene.sounds.low}</Play><Wait length="1"/><Play loop="2">${scene.sounds.high}</Play><Speak>Good morning</Speak>`;
      const phone = await scene.callTo(name, elements);
      await phone.ended;
      const { received } = phone;
      expect(toneMs(received, 800)).toBeGreaterThanOrEqual(540);
      expect(toneMs(received, 800)).toBeLessThanOrEqual(640);
      expect(toneMs(received, 1500)).toBeGreaterThanOrEqual(1000);
      const gapMs = toneAtMs(received, 1500) - toneAtMs(received, 800) - 600;
      expect(gapMs).toBeGreaterThanOrEqual(980);
      expect(gapMs).toBeLessThan(1500);
      expect(loudMs(received)).toBeGreaterThan(2300);
      expect(await scene.reported(`/${name}-hangup`)).toMatchObject({
        HangupCauseName: 'End Of XML Instructions',
        HangupCauseCode: '4010',
      });
      await phone.close();
    }));

  it('PreAnswer plays as early media, before the 200', () =>
    onTime(async (number) => {
      const phone = await scene.callTo(
        `early${number}`,
        `<PreAnswer><Play>${scene.sounds.low}</Play></PreAnswer><Play>${scene.sounds.high}</Play>`,
      );
      let answered = false;
      phone.answered.then(
        () => {
          answered = true;
        },
        () => undefined, // `ended` reports it
      );
      await phone.early;
      await eventually('the early tone', () =>
        toneMs(phone.received, 800) > 400 ? true : undefined,
      );
      expect(answered).toBe(false);
      await phone.ended;
      expect(answered).toBe(true);
      expect(toneMs(phone.received, 1500)).toBeGreaterThan(300);
      await phone.close();
    }));

  it.each([
    ['as events', 'asyncevents', true],
    ['as tones', 'asynctones', false],
  ])('DTMF with async plays in full over a shorter Play, %s', (_, name, keyEvents) =>
    onTime(async (number) => {
      const elements = `<DTMF>1234567890</DTMF><Play>${scene.sounds.low}</Play>`;
      const phone = await scene.callTo(`${name}${number}`, elements, { keyEvents });
      await phone.ended;
      expect(keyEvents ? phone.receivedKeys : keysIn(phone.received)).toBe('1234567890');
      await phone.close();
    }),
  );

  it.each([
    ['as RFC 4733 events if negotiated', 'keyevents', true],
    ['as tones if not negotiated', 'keytones', false],
  ])('DTMF sends keys %s', (_, name, keyEvents) =>
    onTime(async (number) => {
      const elements = '<DTMF async="false">1w59#</DTMF><Wait length="1"/>';
      const phone = await scene.callTo(`${name}${number}`, elements, { keyEvents });
      await phone.ended;
      expect({ events: phone.receivedKeys, tones: keysIn(phone.received) }).toEqual(
        keyEvents ? { events: '159#', tones: '' } : { events: '', tones: '159#' },
      );
      await phone.close();
    }),
  );

  it.each([
    ['a beep', 'waitbeep', 'beep="true"', () => joined([silence(1500), tone([1000], 400)])],
    [
      'silence of the caller',
      'waitsilence',
      'silence="true" minSilence="500"',
      () => tone([500], 1500),
    ],
  ])('ends Wait early at %s', (_, name, attributes, voice) =>
    onTime(async (number) => {
      const elements = `<Play>${scene.sounds.low}</Play><Wait length="8" ${attributes}/><Play>${scene.sounds.high}</Play>`;
      const phone = await scene.callTo(`${name}${number}`, elements, { voice: voice() });
      await phone.ended;
      const endedAtMs = toneAtMs(phone.received, 1500);
      expect(endedAtMs).toBeGreaterThan(1500);
      expect(endedAtMs).toBeLessThan(3500);
      await phone.close();
    }),
  );
});

describe.concurrent('reads each key of the caller once', () => {
  const elements = (name: string) =>
    `<GetDigits action="${scene.url(`/${name}-keys`)}" numDigits="4"><Play loop="0">${scene.sounds.endless}</Play></GetDigits>`;
  const keysOf = async (name: string, phone: Handset) => {
    const form = await scene.reported(`/${name}-keys`);
    await phone.hangUp();
    return form['Digits'];
  };

  const prompted = (phone: Handset) =>
    eventually('the prompt', () => (toneMs(phone.received, 1000) > 0 ? true : undefined));

  it('as RFC 4733 events', async () => {
    const phone = await scene.callTo('rfc4733', elements('rfc4733'));
    await prompted(phone);
    phone.press('4077');
    expect(await keysOf('rfc4733', phone)).toBe('4077');
  });

  // A late phone sends packets in bursts, and late packets are lost.
  it('as tones in the audio, if no events were negotiated', () =>
    onTime(async (number) => {
      const name = `inband${number}`;
      const phone = await scene.callTo(name, elements(name), { keyEvents: false });
      await prompted(phone);
      phone.say(keyTones('4077', 250));
      expect(await keysOf(name, phone)).toBe('4077');
    }));

  it('as SIP INFO', async () => {
    const phone = await scene.callTo('info', elements('info'), { keyEvents: false });
    await prompted(phone);
    for (const digit of '4077') phone.pressByInfo(digit);
    expect(await keysOf('info', phone)).toBe('4077');
  });
});

describe.concurrent('Record', () => {
  const record = (name: string, attributes: string) =>
    `<Record fileFormat="wav" playBeep="false" action="${scene.url(`/${name}-action`)}" callbackUrl="${scene.url(`/${name}-stop`)}" ${attributes}/><Wait length="20"/>`;

  // A late phone sends packets in bursts, and late packets are lost.
  it('ends after the caller has been silent', () =>
    onTime(async (number) => {
      const name = `quiet${number}`;
      const phone = await scene.callTo(name, record(name, 'timeout="3" maxLength="30"'), {
        // A slow machine starts the recording some 100 ms after the phone begins to speak.
        voice: joined([silence(1500), tone([900], 1000)]),
      });
      const form = await scene.reported(`/${name}-stop`);
      expect(form).toMatchObject({ RecordingEndReason: 'RecordingTimeout' });
      const { channels, left, lengthMs } = await scene.recorded(form['RecordUrl']);
      expect(channels).toBe(1);
      expect(toneMs(left, 900)).toBeGreaterThanOrEqual(900);
      expect(toneMs(left, 900)).toBeLessThanOrEqual(1100);
      expect(Math.abs(lengthMs - Number(form['RecordingDurationMs']))).toBeLessThanOrEqual(20);
      await phone.hangUp();
    }));

  it('ends at a key and reports the key', () =>
    onTime(async (number) => {
      const name = `bykey${number}`;
      const phone = await scene.callTo(name, record(name, 'finishOnKey="#" maxLength="30"'), {
        voice: tone([900], 3000),
      });
      await phone.answered;
      await scene.reported(`/${name}-action`, 'Record');
      phone.press('5#');
      expect(await scene.reported(`/${name}-stop`)).toMatchObject({
        RecordingEndReason: 'FinishedOnKey',
        Digits: '#',
      });
      await phone.hangUp();
    }));

  it('keeps both sides of a session recording in step: the caller on the left, its received audio on the right', () =>
    onTime(async (number) => {
      const name = `sides${number}`;
      const elements = `<Record recordSession="true" fileFormat="wav" playBeep="false" maxLength="60" callbackUrl="${scene.url(`/${name}-stop`)}"/><Play>${scene.sounds.low}</Play>`;
      const phone = await scene.callTo(name, elements, { voice: tone([900], 3000) });
      await phone.ended;
      const form = await scene.reported(`/${name}-stop`);
      const { channels, left, right, lengthMs } = await scene.recorded(form['RecordUrl']);
      expect(channels).toBe(2);
      expect(toneMs(right, 800)).toBeGreaterThanOrEqual(560);
      expect(toneMs(right, 900)).toBe(0);
      expect(toneMs(left, 900)).toBeGreaterThanOrEqual(lengthMs - 300);
      expect(Math.abs(lengthMs - Number(form['RecordingDurationMs']))).toBeLessThanOrEqual(20);
      await phone.close();
    }));
});

describe.concurrent('document flow', () => {
  it.each([
    ['busy', 486, 3010, 'Busy Line'],
    ['rejected', 603, 3020, 'Rejected'],
  ])('Hangup reason="%s" refuses with %i', async (reason, status, code, name) => {
    const phone = await scene.callTo(reason, `<Hangup reason="${reason}"/>`);
    expect(await phone.ended).toMatchObject({ how: 'refused', status });
    expect(await scene.reported(`/${reason}-hangup`)).toMatchObject({
      HangupCauseCode: String(code),
      HangupCauseName: name,
      HangupSource: 'Answer XML',
    });
    await phone.close();
  });

  it('Redirect continues with another document', async () => {
    const next = scene.customer.xml(
      '/next',
      `<Response><Play>${scene.sounds.high}</Play></Response>`,
    );
    const phone = await scene.callTo(
      'redirect',
      `<Redirect>${next}</Redirect><Play>${scene.sounds.low}</Play>`,
    );
    await phone.ended;
    expect(scene.customer.at('/next')[0]?.form).toMatchObject({
      Event: 'Redirect',
      CallUUID: await scene.uuidOf('redirect'),
    });
    expect(toneMs(phone.received, 1500)).toBeGreaterThan(300);
    expect(toneMs(phone.received, 800)).toBe(0);
    await phone.close();
  });
});

describe('consent', () => {
  const QUESTION = 'We record this call. Press 1 to agree.';
  const asked = (phone: Handset): Promise<true> =>
    eventually('the question', () => (loudMs(phone.received) > 300 ? true : undefined));
  const cdrOf = (uuid: string): Promise<Json> =>
    eventually('the CDR', async () => {
      const { body, status } = await scene.service.api('GET', `cdr/${uuid}`);
      return status === 200 ? ((body['data'] ?? body) as Json) : undefined;
    });
  const logOf = async (uuid: string): Promise<readonly Json[]> =>
    ((await scene.service.admin('GET', `/calls/${uuid}`)).body['log'] ?? []) as Json[];

  it('by key 1 starts the recording, and is in the call record and the timeline', async () => {
    const phone = await scene.callTo(
      'agreeing',
      `<Consent>${QUESTION}</Consent><Record recordSession="true" fileFormat="wav" maxLength="60" callbackUrl="${scene.url('/agreed-file')}"/><Wait length="60"/>`,
    );
    await asked(phone);
    const uuid = await scene.uuidOf('agreeing');
    const early = await scene.service.api('POST', `Call/${uuid}/Record/`, {});
    expect([early.status, early.text]).toEqual([
      409,
      expect.stringContaining('consent has not been given yet'),
    ]);
    phone.press('1');
    await eventually('the recording', async () =>
      (await logOf(uuid)).some(({ text }) => text === 'recording') ? true : undefined,
    );
    await phone.hangUp();
    await scene.reported('/agreed-file', 'RecordStop');
    expect(await cdrOf(uuid)).toMatchObject({
      consent: 'given',
      consent_at: expect.stringMatching(/^\d{4}-/),
    });
    const log = await logOf(uuid);
    expect(log.find(({ text }) => text === 'consent given')).toMatchObject({ facts: { key: '1' } });
  });

  it('refused by another key requests action; recordings and streams of the call are refused', async () => {
    const record = '<Record recordSession="true" maxLength="60"/>';
    scene.document('/refused', `${record}<Stream>ws://127.0.0.1:1/</Stream><Wait length="60"/>`);
    const phone = await scene.callTo(
      'refusing',
      `${record}<Consent action="${scene.url('/refused')}">${QUESTION}</Consent>`,
    );
    await asked(phone);
    phone.press('2');
    expect(await scene.reported('/refused', 'Consent')).toMatchObject({
      ConsentStatus: 'refused',
      ConsentReason: 'another key',
    });
    const uuid = await scene.uuidOf('refusing');
    const log = await eventually('both refusals', async () => {
      const entries = await logOf(uuid);
      return entries.some(({ text }) => text === 'stream refused') ? entries : undefined;
    });
    expect(log.filter(({ text }) => text === 'not recorded' || text === 'stream refused')).toEqual([
      expect.objectContaining({
        facts: { reason: 'wrongState', detail: 'consent was refused', line: 1 },
      }),
      expect.objectContaining({ facts: { reason: 'consent was refused' } }),
    ]);
    expect((await scene.service.api('POST', `Call/${uuid}/Record/`, {})).status).toBe(409);
    await phone.hangUp();
    expect(await cdrOf(uuid)).toMatchObject({ consent: 'refused' });
  });

  it('without a key ends the call', async () => {
    const phone = await scene.callTo('mute', `<Consent timeout="1">${QUESTION}</Consent>`);
    await phone.ended;
    const uuid = await scene.uuidOf('mute');
    const log = await logOf(uuid);
    expect(log.find(({ text }) => text === 'consent refused')).toMatchObject({
      facts: { reason: 'no key' },
    });
    await phone.close();
  });
});

describe('a card number typed while the recordings are paused', () => {
  it('is in the request to action only: not in the timeline, the list of requests or the log', async () => {
    scene.document('/card-action', '<ResumeRecording/><Hangup/>');
    const phone = await scene.callTo(
      'paying',
      `<Record recordSession="true" maxLength="60"/><PauseRecording/><GetDigits numDigits="8" action="${scene.url('/card-action')}"><Play>${scene.sounds.endless}</Play></GetDigits>`,
    );
    await eventually('the prompt', () => (toneMs(phone.received, 1000) > 40 ? true : undefined));
    phone.press('41112223');
    expect((await scene.reported('/card-action'))['Digits']).toBe('41112223');
    await phone.ended;
    const uuid = await scene.uuidOf('paying');
    const { text: timeline } = await scene.service.admin('GET', `/calls/${uuid}`);
    const requests = await eventually('the list of requests', async () => {
      const { text } = await scene.service.api('GET', `webhooks?call_uuid=${uuid}`);
      return text.includes('card-action') ? text : undefined;
    });
    for (const text of [timeline, requests, scene.service.program.output])
      expect(text).not.toContain('41112223');
    await phone.close();
  });
});
