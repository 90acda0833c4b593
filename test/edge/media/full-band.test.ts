/** Audio above 12 kHz from an Opus sender to an Opus receiver, checked with an independent decoder. */
import { OpusDecoder } from 'opus-decoder';
import { afterEach, describe, expect, it } from 'vitest';
import type { MediaLeg, MediaSession, SessionCodec } from '../../../src/domain/call/needs.ts';
import type { MediaEngine } from '../../../src/edge/media/engine.ts';
import { l16, manualEngine, parseRtp, purity, REMOTE, rms, sine } from './peer.ts';

const RATE = 48_000;
const HIGH_HZ = 15_000;
const STEP_MS = 10;
const STEPS = 200;
const OPUS: SessionCodec = {
  name: 'OPUS',
  clockRate: RATE,
  sampleRate: RATE,
  channels: 1,
  opus: { bitrate: 0, fec: true, dtx: false },
};
const LISTENER_PORT = 50_002;

const engines: MediaEngine[] = [];
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.stop();
});

const session = (codec: SessionCodec, port: number, ptimeMs = 20): MediaSession => ({
  ...REMOTE,
  port,
  codec,
  ptimeMs,
  payloadType: { send: 96, receive: 96 },
  telephoneEvent: undefined,
});

type Joined = (media: MediaEngine, talker: MediaLeg, listener: MediaLeg) => void;

/** Connects an Opus sender to the receiver and returns the receiver's audio at 48 kHz. */
async function received(join: Joined, listenerMs = 20): Promise<Int16Array> {
  const { media, drive } = manualEngine();
  engines.push(media);
  const open = (): Promise<MediaLeg> =>
    media.openLeg({ mediaTimeoutMs: 0 }, { dtmf: () => undefined, silent: () => undefined });
  const [device, talker, listener] = [await open(), await open(), await open()];
  device.configure(session(OPUS, talker.port));
  talker.configure(session(OPUS, device.port));
  listener.configure(session(OPUS, LISTENER_PORT, listenerMs));
  const tone = l16(sine(HIGH_HZ, (RATE * STEPS * STEP_MS) / 1000, { rate: RATE }));
  device.play({ rate: RATE, samples: tone }, { loop: 1, mix: false });
  join(media, talker, listener);
  const payloads: Uint8Array[] = [];
  for (let step = 0; step < STEPS; step += 1) {
    drive.advance(STEP_MS);
    for (const { localPort, port, bytes } of drive.drain()) {
      if (port === LISTENER_PORT) payloads.push(parseRtp(bytes).payload);
      else drive.inject(port, { address: REMOTE.address, port: localPort }, bytes);
    }
  }
  const decoder = new OpusDecoder({ channels: 1 });
  await decoder.ready;
  const samples = payloads.flatMap((payload) => [
    ...(decoder.decodeFrame(payload).channelData[0] ?? []),
  ]);
  decoder.free();
  return Int16Array.from(samples.slice(-RATE / 2), (value) => value * 32_768);
}

describe('15 kHz pass from an Opus sender to an Opus receiver', () => {
  const flags = { muted: false, deaf: false };
  it.each<[string, Joined, number]>([
    ['relayed', (media, talker, listener) => media.bridge(talker, listener), 20],
    [
      'decoded, for another packet time',
      (media, talker, listener) => media.bridge(talker, listener),
      40,
    ],
    [
      'in a conference',
      (media, talker, listener) => {
        const room = media.openRoom({ floor: () => undefined });
        for (const leg of [talker, listener]) room.join(leg, flags);
      },
      20,
    ],
  ])('%s', async (_, join, listenerMs) => {
    const samples = await received(join, listenerMs);
    expect(purity(samples, HIGH_HZ, RATE)).toBeGreaterThan(0.9);
    expect(rms(samples)).toBeGreaterThan(3000);
  });
});
