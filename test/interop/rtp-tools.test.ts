/** ffmpeg, GStreamer and a capture played by SIPp: audio in both directions with independent RTP and SRTP implementations. */
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findEcho } from '../../src/phone/audio/echo-delay.ts';
import { PCMA } from '../../src/phone/audio/g711.ts';
import { Customer } from '../e2e/customer.ts';
import { makeUser } from '../e2e/phone.ts';
import { eventually, newPlace, removePlace, Service, type ServicePlace } from '../e2e/service.ts';
import { joined, silence } from '../e2e/tones.ts';
import { l16, purity, rms, sine } from '../edge/media/peer.ts';
import { CODECS, EAR_RATE, lacksElements, ToolCall } from './rtp-tools.ts';
import { missing, sipp, workFolder } from './tools.ts';

/** Sample rate of the bot's audio in both directions, Hz. */
const BOT_RATE = 16_000;
const BOT_SAYS_RATE = 24_000;
/** Seconds of tone to queue ahead in the service, so that a slow machine causes no gap. */
const AHEAD_S = 4;
const CAPTURE = '/usr/share/sip-tester/g711a.pcap';

let place: ServicePlace;
let service: Service;
let customer: Customer;
let folder: ReturnType<typeof workFolder>;
beforeAll(async () => {
  if (missing('sox')) return;
  folder = workFolder();
  place = await newPlace();
  service = await Service.start(place);
  customer = await Customer.listen();
});
afterAll(async () => {
  if (folder === undefined) return;
  await customer.close();
  await service.kill();
  removePlace(place);
  folder.remove();
});

/** Creates a user whose bot receives the caller's audio at 16 kHz and plays a tone for the whole call. */
async function userOf(name: string, hz?: number) {
  const received: Buffer[] = [];
  const second =
    hz === undefined ? Buffer.alloc(0) : l16(sine(hz, BOT_SAYS_RATE, { rate: BOT_SAYS_RATE }));
  const media = {
    contentType: 'audio/x-l16',
    sampleRate: BOT_SAYS_RATE,
    payload: second.toString('base64'),
  };
  const bot = customer.bot(`/${name}`, (socket) => {
    let bytes = 0;
    const say = (): void => {
      if (hz !== undefined) socket.send(JSON.stringify({ event: 'playAudio', media }));
    };
    socket.on('message', (data) => {
      const message = JSON.parse(String(data));
      if (message.event === 'start') for (let i = 0; i < AHEAD_S; i += 1) say();
      if (message.event !== 'media') return;
      const part = Buffer.from(message.media.payload, 'base64');
      const seconds = (): number => Math.floor(bytes / (2 * BOT_RATE));
      const before = seconds();
      received.push(part);
      bytes += part.length;
      if (seconds() > before) say();
    });
  });
  const stream = `<Stream bidirectional="true" keepCallAlive="true" contentType="audio/x-l16;rate=${BOT_RATE}">${bot}</Stream>`;
  const answer_url = customer.xml(`/${name}-answer`, `<Response>${stream}</Response>`);
  return {
    user: await makeUser(service, name, { answer_url }),
    received: () => Buffer.concat(received),
  };
}

const samplesOf = (bytes: Buffer): Int16Array =>
  Int16Array.from({ length: Math.floor(bytes.length / 2) }, (_, i) => bytes.readInt16LE(2 * i));

/** Waits until the last second of audio is this tone, pure and loud. */
async function toneIn(who: string, bytes: () => Buffer, hz: number, rate: number): Promise<void> {
  let last = new Int16Array(0);
  await eventually(`${hz} Hz at ${who}`, () => {
    last = samplesOf(bytes()).slice(-rate);
    return (last.length === rate && purity(last, hz, rate) > 0.8 && rms(last) > 3000) || undefined;
  }).catch((error) => {
    const figures = `purity ${purity(last, hz, rate)}, RMS ${rms(last)} of ${last.length} samples`;
    throw new Error(`${error.message}: ${figures}`);
  });
}

/** Required elements from the plugin sets base, good, bad and libav. */
const ELEMENTS = ['opusenc', 'rtpopuspay', 'srtpenc', 'avenc_g722'];

describe.each([
  ['ffmpeg', missing('sox', 'ffmpeg')],
  ['gstreamer', missing('sox', 'gst-launch-1.0') || lacksElements(...ELEMENTS)],
] as const)('%s', (tool, isMissing) => {
  it.skipIf(isMissing).each([
    ['PCMU', 'RTP', 1000, 1700],
    ['G722', 'RTP', 6900, 5300],
    ['OPUS', 'RTP', 6900, 11_000],
    ['PCMU', 'SRTP', 1000, 1700],
    ['OPUS', 'SRTP', 6900, 11_000],
  ] as const)(
    "%s with %s: its %i Hz reach the bot, and the bot's %i Hz reach it",
    async (name, by, said, says) => {
      const bot = await userOf(`${tool}${name.toLowerCase()}${by.toLowerCase()}`, says);
      const codec = CODECS[name];
      const options = { tool, codec, secure: by === 'SRTP', hz: said, folder: folder.path };
      const call = await ToolCall.begin(service, bot.user, options);
      try {
        await toneIn('the bot', bot.received, said, BOT_RATE);
        await toneIn(tool, () => call.received, says, EAR_RATE);
      } catch (error) {
        throw new Error(`${(error as Error).message}\n${call.complaints}`);
      } finally {
        await call.end();
      }
      const cdr = await service.cdrOf(call.sipCallId);
      expect(cdr).toMatchObject({ codec: name, hangup_cause_code: 4000 });
    },
  );
});

/** Concatenates the RTP payloads of a libpcap file with Ethernet frames, little-endian. */
function voiceIn(file: string): Uint8Array {
  const bytes = readFileSync(file);
  const parts: Uint8Array[] = [];
  // Header sizes in bytes: file 24, record 16, Ethernet 14, IPv4 20, UDP 8, RTP 12.
  for (let at = 24; at + 16 < bytes.length; ) {
    const length = bytes.readUInt32LE(at + 8);
    parts.push(bytes.subarray(at + 16 + 54, at + 16 + length));
    at += 16 + length;
  }
  return Buffer.concat(parts);
}

/** Whether SIPp cannot play a capture: it needs the capture file and a raw socket. */
function cannotPlay(): boolean {
  if (missing('sipp', 'sox')) return true;
  const why = existsSync(CAPTURE) ? 'only root may open a raw socket' : `no ${CAPTURE}`;
  const cannot = process.getuid?.() !== 0 || !existsSync(CAPTURE);
  if (cannot) console.log(`skipped: ${why}`);
  return cannot;
}

describe.skipIf(cannotPlay())('SIPp', () => {
  it('plays a capture of a PCMA call with 30 ms packets, and all its audio arrives', async () => {
    const { user, received } = await userOf('capture');
    const said = PCMA.decode(voiceIn(CAPTURE));
    const pauseMs = Math.ceil(said.length / 8) + 1000;
    const put = { capture: CAPTURE };
    const target = service.sipPort;
    const scenario = 'plays-capture';
    await sipp({ folder: folder.path, scenario, target, calls: 1, user, pauseMs, put });
    // Takes every other sample: an 8 kHz call has no energy at frequencies that would alias.
    const narrow = samplesOf(received()).filter((_, i) => i % 2 === 0);
    // The bot's stream may start after the first packet, so a second of silence is prepended.
    const found = findEcho(said, joined([silence(1000), narrow]), 2000);
    expect(found?.likeness ?? 0).toBeGreaterThan(0.85);
    expect(found?.foundPart).toBe(1);
  });
});
