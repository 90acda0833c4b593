/** Bots that speak while an element plays: `playedStream` arrives only after the caller has heard the confirmed audio. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PCMU } from '../../src/phone/audio/g711.ts';
import { onTime } from '../on-time.ts';
import type { Handset } from './handset.ts';
import { Scene } from './scene.ts';
import { eventually } from './service.ts';
import { tone, toneMs } from './tones.ts';

const BOT_HZ = 2300;
/** Minimum share of the bot's tone in audio that mixes it with another sound. */
const SHARE = 0.15;
const SAID_MS = 600;

let scene: Scene;
beforeAll(async () => {
  scene = await Scene.open();
});
afterAll(() => scene.close());

interface Background {
  readonly element: string;
  /** Plays the bot's tone and sends a checkpoint. Resolves when `playedStream` confirms it. */
  say(): Promise<void>;
  readonly confirmed: () => boolean;
}

function botOf(name: string): Background {
  let send: ((message: object) => void) | undefined;
  let confirmed = false;
  const url = scene.customer.bot(`/${name}-bot`, (socket) => {
    socket.on('message', (data) => {
      const message = JSON.parse(String(data));
      if (message.event === 'start') send = (own) => socket.send(JSON.stringify(own));
      if (message.event === 'playedStream') confirmed = true;
    });
  });
  const payload = Buffer.from(PCMU.encode(tone([BOT_HZ], SAID_MS))).toString('base64');
  return {
    element: `<Stream bidirectional="true" contentType="audio/x-mulaw;rate=8000">${url}</Stream>`,
    say: async () => {
      const notify = await eventually('the stream', () => send);
      notify({
        event: 'playAudio',
        media: { contentType: 'audio/x-mulaw', sampleRate: 8000, payload },
      });
      notify({ event: 'checkpoint', name: 'said' });
    },
    confirmed: () => confirmed,
  };
}

const botMs = (phone: Handset): number => toneMs(phone.received, BOT_HZ, SHARE);

/** Tolerance in ms: on a busy machine the test reads the confirmation before RTP packets that arrived earlier. */
const UNREAD_MS = 150;

/** Verifies that at the confirmation the phone has heard the bot's tone, except for a few packets in transit. */
async function expectHeardWhenConfirmed(phone: Handset, bot: Background): Promise<void> {
  await eventually('playedStream', () => bot.confirmed() || undefined);
  const isHeard = (): true | undefined => botMs(phone) >= SAID_MS - 60 || undefined;
  await eventually('all of it', isHeard, UNREAD_MS);
  expect(botMs(phone)).toBeLessThanOrEqual(SAID_MS + 40);
}

describe.concurrent('background bot audio is heard and then confirmed while another element runs', () => {
  it.each<[string, string, () => string]>([
    ['Play', 'besideplay', () => `<Play>${scene.sounds.endless}</Play>`],
    ['Speak', 'besidespeak', () => `<Speak loop="20">One two three four five six</Speak>`],
    ['Wait', 'besidewait', () => '<Wait length="20"/>'],
    ['Record and its beep', 'besiderecord', () => '<Record playBeep="true" maxLength="20"/>'],
    [
      'Conference, including its sounds',
      'besideconf',
      () =>
        `<Conference waitSound="${scene.url('/waitsound')}" enterSound="beep:2">besides</Conference>`,
    ],
    [
      'Gather and its prompt',
      'besidegather',
      () => `<Gather timeout="20"><Play>${scene.sounds.endless}</Play></Gather>`,
    ],
  ])('%s', (_, prefix, elements) =>
    onTime(async (number) => {
      const name = `${prefix}${number}`;
      scene.document('/waitsound', `<Play>${scene.sounds.endless}</Play>`);
      const bot = botOf(name);
      const phone = await scene.callTo(name, `${bot.element}${elements()}`);
      await phone.answered;
      await eventually('a sound', () => (phone.received.length > 4000 ? true : undefined));
      await bot.say();
      await expectHeardWhenConfirmed(phone, bot);
      await phone.hangUp();
    }),
  );

  it('Dial: the caller hears the bot over the callee, and the callee hears no bot audio', () =>
    onTime(async (number) => {
      const name = `besidedial${number}`;
      const bot = botOf(name);
      const callee = await scene.waiting(`besidecallee${number}`, { voice: tone([800], 20_000) });
      const phone = await scene.callTo(name, `${bot.element}<Dial>${callee.element}</Dial>`);
      await eventually('the callee', () => (toneMs(phone.received, 800) > 200 ? true : undefined));
      await bot.say();
      await expectHeardWhenConfirmed(phone, bot);
      expect(botMs(callee.phone)).toBe(0);
      await phone.hangUp();
      await callee.phone.close();
    }));

  it("REST play without mix: the bot's audio waits until the playback ends", () =>
    onTime(async (number) => {
      const name = `besiderest${number}`;
      const bot = botOf(name);
      const phone = await scene.callTo(name, `${bot.element}<Wait length="30"/>`);
      await phone.answered;
      const path = `Call/${await scene.uuidOf(name)}/Play/`;
      const urls = scene.sounds.endless;
      const played = await scene.service.api('POST', path, { urls, length: 2, mix: false });
      expect(played.status, played.text).toBe(202);
      await eventually('the sound', () => (toneMs(phone.received, 1000) > 200 ? true : undefined));
      await bot.say();
      // A busy machine conceals some packets of the 2 s.
      await eventually('its last part', () =>
        toneMs(phone.received, 1000) > 1500 ? true : undefined,
      );
      expect(bot.confirmed()).toBe(false);
      expect(botMs(phone)).toBe(0);
      await expectHeardWhenConfirmed(phone, bot);
      await phone.hangUp();
    }));
});
