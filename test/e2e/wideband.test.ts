/** An Opus caller with an independent decoder: audio above the telephone band reaches the caller from bots and files. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { OpusDecoder } from 'opus-decoder';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemRandom as random } from '../../src/base/system-random.ts';
import { systemClock as clock } from '../../src/edge/clock/system-clock.ts';
import { SipLine } from '../../src/phone/sip-line.ts';
import { l16, parseRtp, purity, rms, sine } from '../edge/media/peer.ts';
import { int16Bytes, wavFile } from '../protocol/audio-file/signals.ts';
import { streamXml } from './customer.ts';
import { makeUser, type SipUser } from './phone.ts';
import { openPair, type Pair } from './scene.ts';
import { eventually } from './service.ts';

const HIGH_HZ = 11_000;
const RATE = 48_000;
const PACKETS = 60;

let pair: Pair;
beforeAll(async () => {
  pair = await openPair();
});
afterAll(() => pair.close());

/** Places a call and hangs up after 0.5 s of loud audio. Returns that audio at 48 kHz. */
async function receivedByOpus(user: SipUser): Promise<Int16Array> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const payloads: Uint8Array[] = [];
  const line = await SipLine.open({
    ...user,
    host: '127.0.0.1',
    port: pair.service.sipPort,
    transport: 'udp',
    clock,
    random,
  });
  socket.on('message', (bytes) => {
    const packet = parseRtp(bytes);
    // Opus frames of silence are small.
    if (packet.payloadType === 111 && packet.payload.length > 30) payloads.push(packet.payload);
  });
  const offer = [
    ...['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 'c=IN IP4 127.0.0.1', 't=0 0'],
    `m=audio ${socket.address().port} RTP/AVP 111`,
    ...['a=rtpmap:111 opus/48000/2', 'a=ptime:20', ''],
  ].join('\r\n');
  const ended = Promise.withResolvers<void>();
  const call = line.call('1000', offer, {
    ringing: () => undefined,
    connected: () => undefined,
    offered: () => undefined,
    ended: () => ended.resolve(),
  });
  try {
    await eventually('the tone', () => payloads.length >= PACKETS || undefined);
  } finally {
    call.hangup();
    await ended.promise;
    await line.close();
    socket.close();
  }
  const decoder = new OpusDecoder({ channels: 1 });
  await decoder.ready;
  const received = payloads.flatMap((payload) => [
    ...(decoder.decodeFrame(payload).channelData[0] ?? []),
  ]);
  decoder.free();
  return Int16Array.from(received.slice(-RATE / 2), (value) => value * 32_768);
}

/** Returns the SDP answer, or the status that refused the offer. */
async function answerTo(user: SipUser, lines: readonly string[]): Promise<string> {
  const { service } = pair;
  const way = { host: '127.0.0.1', port: service.sipPort, transport: 'udp' } as const;
  const line = await SipLine.open({ ...user, ...way, clock, random });
  const outcome = Promise.withResolvers<string>();
  const ended = Promise.withResolvers<void>();
  const session = ['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 'c=IN IP4 127.0.0.1', 't=0 0'];
  const call = line.call('1000', [...session, ...lines, ''].join('\r\n'), {
    ringing: () => undefined,
    connected: (sdp = '') => outcome.resolve(sdp),
    offered: () => undefined,
    ended: ({ status }) => {
      outcome.resolve(String(status));
      ended.resolve();
    },
  });
  const received = await outcome.promise;
  call.hangup();
  await ended.promise;
  await line.close();
  return received;
}

it("applies the operator's codecs and SRTP settings of an endpoint", async () => {
  const answer_url = pair.customer.xml('/policy', '<Response><Speak>Hi</Speak></Response>');
  const user = await makeUser(pair.service, 'policy', { answer_url });
  const path = `/media-policies/endpoint/${user.username}`;
  const plain = ['m=audio 40000 RTP/AVP 0 8 9', 'a=ptime:20'];
  expect(await answerTo(user, plain)).toContain('RTP/AVP 0\r\n');
  expect((await pair.service.admin('PUT', path, { codecs: ['PCMA'] })).status).toBe(200);
  expect(await answerTo(user, plain)).toContain('RTP/AVP 8\r\n');
  expect((await pair.service.admin('PUT', path, { srtp: 'required' })).status).toBe(200);
  expect(await answerTo(user, plain)).toBe('488');
  const key = Buffer.alloc(30, 7).toString('base64');
  const secure = ['m=audio 40000 RTP/SAVP 0', `a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${key}`];
  expect(await answerTo(user, secure)).toContain('RTP/SAVP 0\r\n');
  expect((await pair.service.admin('PUT', path, { srtp: 'off' })).status).toBe(200);
  expect(await answerTo(user, secure)).toBe('488');
  expect((await pair.service.admin('PUT', path, { srtp: 'perhaps' })).status).toBe(400);
  expect((await pair.service.admin('PUT', path, { codecs: ['CN'] })).status).toBe(400);
  expect((await pair.service.admin('PUT', path, { codecs: ['CN', 'PCMA'] })).status).toBe(200);
  expect((await pair.service.admin('DELETE', path)).status).toBe(204);
  expect(await answerTo(user, secure)).toContain('RTP/SAVP 0\r\n');
});

function expectTone(samples: Int16Array): void {
  expect(purity(samples, HIGH_HZ, RATE)).toBeGreaterThan(0.9);
  expect(rms(samples)).toBeGreaterThan(3000);
}

it("plays 11 kHz of a bot's playAudio with rate=24000", async () => {
  const payload = l16(sine(HIGH_HZ, 3 * 24_000, { rate: 24_000 })).toString('base64');
  const url = pair.customer.bot('/high', (socket) => {
    socket.on('message', (data) => {
      if (JSON.parse(String(data)).event !== 'start') return;
      const media = { contentType: 'audio/x-l16', sampleRate: 24_000, payload };
      socket.send(JSON.stringify({ event: 'playAudio', media }));
    });
  });
  const answer_url = pair.customer.xml('/high-answer', streamXml(url));
  expectTone(await receivedByOpus(await makeUser(pair.service, 'highbot', { answer_url })));
});

it('plays 11 kHz of a 48 kHz WAV file', async () => {
  const data = int16Bytes(sine(HIGH_HZ, 3 * RATE, { rate: RATE }));
  const wav = wavFile({ format: 1, bits: 16, channels: 1, rate: RATE, data });
  const url = pair.customer.page('/high.wav', (response) => void response.end(wav));
  const answer_url = pair.customer.xml('/high-play', `<Response><Play>${url}</Play></Response>`);
  expectTone(await receivedByOpus(await makeUser(pair.service, 'highfile', { answer_url })));
});
