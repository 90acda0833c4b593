/**
 * baresip with G.722 and Opus: audio above the telephone band, from a 24 kHz bot to baresip and from baresip to a 16 kHz
 * bot.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Customer } from '../e2e/customer.ts';
import { makeUser } from '../e2e/phone.ts';
import { eventually, newPlace, removePlace, Service, type ServicePlace } from '../e2e/service.ts';
import { l16, purity, rms, sine } from '../edge/media/peer.ts';
import { int16Bytes, wavFile } from '../protocol/audio-file/signals.ts';
import { Baresip, dumpOf } from './baresip.ts';
import { missing, workFolder } from './tools.ts';

/** Frequency of the phone's tone, Hz; within the G.722 band. */
const SAID_HZ = 6900;
const TALK_BYTES = 16_000 * 2 * 4;

describe.skipIf(missing('baresip', 'sox'))('above the telephone band, with baresip', () => {
  let place: ServicePlace;
  let service: Service;
  let customer: Customer;
  let folder: ReturnType<typeof workFolder>;
  beforeAll(async () => {
    folder = workFolder();
    place = await newPlace();
    service = await Service.start(place);
    customer = await Customer.listen();
  });
  afterAll(async () => {
    await customer.close();
    await service.kill();
    removePlace(place);
    folder.remove();
  });

  it.each([
    ['G722/16000/1', 16_000, 6900],
    ['opus/48000/2', 48_000, 11_000],
  ])('%s', async (codec, rate, receivedHz) => {
    const name = codec.slice(0, 4).toLowerCase();
    const received: Buffer[] = [];
    const payload = l16(sine(receivedHz, 8 * 24_000, { rate: 24_000 })).toString('base64');
    const bot = customer.bot(`/${name}`, (socket) => {
      socket.on('message', (data) => {
        const message = JSON.parse(String(data));
        if (message.event === 'media') received.push(Buffer.from(message.media.payload, 'base64'));
        if (message.event !== 'start') return;
        const media = { contentType: 'audio/x-l16', sampleRate: 24_000, payload };
        socket.send(JSON.stringify({ event: 'playAudio', media }));
      });
    });
    const stream = `<Stream bidirectional="true" keepCallAlive="true" contentType="audio/x-l16;rate=16000">${bot}</Stream>`;
    const answer_url = customer.xml(`/${name}-answer`, `<Response>${stream}</Response>`);
    const user = await makeUser(service, name, { answer_url });
    const home = join(folder.path, name);
    mkdirSync(home);
    const says = join(home, 'high.wav');
    const data = int16Bytes(sine(SAID_HZ, 8 * rate, { rate }));
    writeFileSync(says, wavFile({ format: 1, bits: 16, channels: 1, rate, data }));
    const server = `127.0.0.1:${service.sipPort}`;
    const phone = await Baresip.start(
      home,
      `<sip:${user.username}@${server}>;auth_pass=${user.password};regint=60;audio_codecs=${codec}`,
      { says, rate },
    );
    try {
      await eventually('the registration', async () => {
        const { body } = await service.admin('GET', '/registrations');
        return JSON.stringify(body).includes(user.username) || undefined;
      });
      phone.do('dial', `sip:1000@${server}`);
      await eventually(
        'four seconds of audio',
        () => received.reduce((sum, { length }) => sum + length, 0) > TALK_BYTES || undefined,
      );
      phone.do('hangup');
      await phone.event('CALL_CLOSED');
    } finally {
      await phone.stop();
    }
    const bytes = Buffer.concat(received);
    const last = new Int16Array(
      bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
    );
    const byBot = last.slice(-8000);
    expect(purity(byBot, SAID_HZ, 16_000)).toBeGreaterThan(0.8);
    expect(rms(byBot)).toBeGreaterThan(3000);
    const byPhone = dumpOf(home, 'dec', 48_000).slice(2 * 48_000, 3 * 48_000);
    expect(purity(byPhone, receivedHz, 48_000)).toBeGreaterThan(0.8);
    expect(rms(byPhone)).toBeGreaterThan(3000);
  });
});
