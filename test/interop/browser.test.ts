/** Calls between Chromium browsers, phones, bots and conference rooms: ICE, DTLS-SRTP and audio in both directions. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { PCMU } from '../../src/phone/audio/g711.ts';
import { writeWav } from '../../src/phone/audio/wav.ts';
import { BrowserPhone, type BrowserStatistics } from '../e2e/browser-phone.ts';
import { type Customer, streamXml } from '../e2e/customer.ts';
import { makeUser, type SipUser } from '../e2e/phone.ts';
import { openPair, type Pair } from '../e2e/scene.ts';
import { eventually, type Json, type Service } from '../e2e/service.ts';
import { tone, toneMs } from '../e2e/tones.ts';
import { Baresip, dumpOf } from './baresip.ts';
import { missing, workFolder } from './tools.ts';

const A_HZ = 600;
const B_HZ = 1500;
const PHONE_HZ = 1000;
const BOT_HZ = 2300;
/** Largest share of concealed samples per window, at 48 kHz. */
const CONCEALED_MAX = 0.01;
const WINDOW_SAMPLES = 5 * 48_000;

describe.skipIf(missing('chromium', 'baresip', 'sox'))('Chromium', () => {
  let pair: Pair;
  let service: Service;
  let customer: Customer;
  let folder: ReturnType<typeof workFolder>;
  let a: BrowserPhone;
  let b: BrowserPhone;
  const stopping: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    folder = workFolder();
    pair = await openPair();
    ({ service, customer } = pair);
  });
  afterAll(async () => {
    await pair.close();
    folder.remove();
  });
  afterEach(async () => {
    for (const stop of stopping.splice(0)) await stop();
  });

  async function browser(user: SipUser, hz: number): Promise<BrowserPhone> {
    const made = await BrowserPhone.start(hz);
    stopping.push(() => made.stop());
    await made.register(`${service.baseUrl.replace('http', 'ws')}/sip`, user);
    return made;
  }

  const userWith = (name: string, elements: string) =>
    makeUser(service, name, {
      answer_url: customer.xml(`/${name}`, `<Response>${elements}</Response>`),
    });
  const dial = ({ username }: SipUser): string =>
    `<Dial redirect="false" action="http://${customer.authority}/over"><User>sip:${username}@127.0.0.1</User></Dial>`;

  /** Starts a baresip that plays a tone, registered as this user. */
  async function phone(user: SipUser, more = ''): Promise<{ phone: Baresip; home: string }> {
    const home = join(folder.path, user.username);
    const says = join(folder.path, `${PHONE_HZ}.wav`);
    writeFileSync(says, writeWav({ rate: 8000, samples: tone([PHONE_HZ], 60_000) }));
    const server = `127.0.0.1:${service.sipPort}`;
    const account = `<sip:${user.username}@${server}>;auth_pass=${user.password};regint=60;audio_codecs=PCMU/8000${more}`;
    const made = await Baresip.start(home, account, { says });
    stopping.push(() => made.stop());
    await eventually('the registration', async () => {
      const { body } = await service.admin('GET', '/registrations');
      return (body['registrations'] as Json[]).find(({ username }) => username === user.username);
    });
    return { phone: made, home };
  }

  /** Waits for 5 s with nearly no concealment. Returns the statistics at the end of that window. */
  async function clean(one: BrowserPhone): Promise<BrowserStatistics> {
    let before = await one.statistics();
    return eventually(
      'five seconds of sound without concealment',
      async () => {
        const now = await one.statistics();
        const samples = now.samples - before.samples;
        if (samples < WINDOW_SAMPLES) return undefined;
        if (now.concealed - before.concealed <= CONCEALED_MAX * samples) return now;
        before = now;
        return undefined;
      },
      30_000,
    );
  }

  async function expectSound(one: BrowserPhone): Promise<void> {
    const reported = await clean(one);
    expect(reported).toMatchObject({ dtlsState: 'connected' });
    expect(reported.srtpCipher).toMatch(/AES/);
    expect(reported.packets).toBeGreaterThan(200);
    expect(reported.codecs).toContain('audio/opus');
  }

  it('two browsers call each other: each hears the other but not itself, without gaps', async () => {
    const bob = await userWith('bob', '');
    const adam = await userWith('adam', dial(bob));
    [a, b] = await Promise.all([browser(adam, A_HZ), browser(bob, B_HZ)]);
    await a.call('sip:1000@127.0.0.1');
    await Promise.all([a.received(B_HZ), b.received(A_HZ)]);
    await Promise.all([expectSound(a), expectSound(b)]);
    expect([await a.hears(A_HZ), await b.hears(B_HZ)]).toEqual([[false], [false]]);
    await b.hangup();
    const cdrs = await eventually('the records', async () => {
      const data = (await service.api('GET', 'cdr?per_page=2')).body['data'] as Json[];
      return data.length === 2 ? data : undefined;
    });
    expect(cdrs.map(({ codec }) => codec)).toEqual(['OPUS', 'OPUS']);
    expect(cdrs.map(({ context }) => context).toSorted()).toEqual(['dial', 'sip-endpoint']);
  });

  it("answers baresip's call through Dial: each hears the other's tone", async () => {
    const carol = await userWith('carol', '');
    const caller = await userWith('caller', dial(carol));
    a = await browser(carol, A_HZ);
    const { phone: other, home } = await phone(caller);
    other.do('dial', `sip:1000@127.0.0.1:${service.sipPort}`);
    await other.event('CALL_ESTABLISHED');
    await a.received(PHONE_HZ);
    await expectSound(a);
    other.do('hangup');
    await other.event('CALL_CLOSED');
    const received = dumpOf(home, 'dec');
    expect(toneMs(received, A_HZ)).toBeGreaterThan(4500);
    expect(toneMs(received, PHONE_HZ)).toBe(0);
  });

  it("calls baresip through Dial: each hears the other's tone", async () => {
    const dave = await userWith('dave', '');
    const erin = await userWith('erin', dial(dave));
    const { home, phone: called } = await phone(dave, ';answermode=auto');
    a = await browser(erin, A_HZ);
    await a.call('sip:1000@127.0.0.1');
    await a.received(PHONE_HZ);
    await expectSound(a);
    await a.hangup();
    await called.event('CALL_CLOSED');
    expect(toneMs(dumpOf(home, 'dec'), A_HZ)).toBeGreaterThan(4500);
  });

  it('interrupts a bot, which clears its queued audio and falls silent', async () => {
    const payload = Buffer.from(PCMU.encode(tone([BOT_HZ], 40_000))).toString('base64');
    // State since the bot starts to evaluate the browser's audio: tone heard, and number of silent chunks since then.
    let [cares, toneHeard, quiet, cleared] = [false, 0, 0, 0];
    const bot = customer.bot('/barge-bot', (socket) => {
      const say = (message: object): void => socket.send(JSON.stringify(message));
      socket.on('message', (data) => {
        const message = JSON.parse(String(data));
        if (message.event === 'start') {
          const media = { contentType: 'audio/x-mulaw', sampleRate: 8000, payload };
          say({ event: 'playAudio', media });
        }
        if (message.event === 'clearedAudio') cleared += 1;
        if (message.event !== 'media') return;
        const received = PCMU.decode(Buffer.from(message.media.payload, 'base64'));
        const ms = toneMs(received, A_HZ);
        quiet = ms > 0 ? 0 : quiet + received.length / 8;
        if (!cares || toneHeard >= 100) return;
        toneHeard += ms;
        if (toneHeard >= 100) say({ event: 'clearAudio', streamId: message.streamId });
      });
    });
    const frank = await makeUser(service, 'frank', {
      answer_url: customer.xml('/frank', streamXml(bot)),
    });
    a = await browser(frank, A_HZ);
    await a.call('sip:1000@127.0.0.1');
    await a.received(BOT_HZ);
    await a.mute();
    await eventually('silence of the browser', () => (quiet > 200 ? true : undefined));
    cares = true;
    // Forty seconds of audio are queued, so that only the bot's clearAudio can stop the playback.
    expect(cleared).toBe(0);
    await a.unmute();
    await eventually('clearedAudio', () => (cleared === 1 ? true : undefined));
    await a.silent(BOT_HZ);
    await a.hangup();
  });

  it('two browsers and a phone in one room: each hears the other two but not itself', async () => {
    const room = '<Conference beep="false">Browsers</Conference>';
    const users = [await userWith('grace', room), await userWith('heidi', room)] as const;
    const third = await userWith('ivan', room);
    [a, b] = await Promise.all([browser(users[0], A_HZ), browser(users[1], B_HZ)]);
    const { phone: other, home } = await phone(third);
    other.do('dial', `sip:1000@127.0.0.1:${service.sipPort}`);
    await other.event('CALL_ESTABLISHED');
    await a.call('sip:1000@127.0.0.1');
    await b.call('sip:1000@127.0.0.1');
    await Promise.all([a.received(B_HZ, PHONE_HZ), b.received(A_HZ, PHONE_HZ)]);
    await Promise.all([expectSound(a), expectSound(b)]);
    expect([await a.hears(A_HZ), await b.hears(B_HZ)]).toEqual([[false], [false]]);
    await Promise.all([a.hangup(), b.hangup()]);
    other.do('hangup');
    await other.event('CALL_CLOSED');
    const received = dumpOf(home, 'dec');
    for (const hz of [A_HZ, B_HZ]) expect(toneMs(received, hz, 0.3), `${hz}`).toBeGreaterThan(4000);
    expect(toneMs(received, PHONE_HZ, 0.3)).toBe(0);
  });
});
