/** Level of a conference: many voices do not clip, and the noise of silent members does not add up. */
import { afterEach, describe, expect, it } from 'vitest';
import type { MediaEngine } from '../../../src/edge/media/engine.ts';
import { l16, manualEngine, parseRtp, purity, REMOTE, rms, rtp, sine } from './peer.ts';

const RATE = 16_000;
const SAMPLES = 320;
const L16 = { name: 'L16', clockRate: RATE, sampleRate: RATE, channels: 1 } as const;
/** −1 dBFS. */
const CEILING = 29_204;

const engines: MediaEngine[] = [];
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.stop();
});

type Voice = (from: number) => Int16Array;

const silent: Voice = () => new Int16Array(SAMPLES);
const tone =
  (hz: number, peak: number): Voice =>
  (from) =>
    sine(hz, SAMPLES, { from, rate: RATE, peak });
/** White noise, the same in every run. */
const noise = (peak: number): Voice => {
  let state = 1;
  return () =>
    Int16Array.from({ length: SAMPLES }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.round((state / 2 ** 31 - 1) * peak);
    });
};

/** Audio of the others as the first member receives it, 16 kHz. */
async function conference(ms: number, voices: readonly ((atMs: number) => Voice)[]) {
  const { media, drive } = manualEngine();
  engines.push(media);
  const room = media.openRoom({ floor: () => undefined });
  const members = [];
  for (const [index, voice] of [() => silent, ...voices].entries()) {
    const events = { dtmf: () => undefined, silent: () => undefined };
    const leg = await media.openLeg({ mediaTimeoutMs: 0 }, events);
    const port = 50_000 + 2 * index;
    leg.configure({
      ...REMOTE,
      port,
      codec: L16,
      payloadType: { send: 97, receive: 97 },
      telephoneEvent: undefined,
    });
    room.join(leg, { muted: false, deaf: false });
    members.push({ leg, port, voice });
  }
  const received: number[] = [];
  for (let at = 0, sequence = 0; at < ms; at += 20, sequence += 1) {
    for (const { leg, port, voice } of members) {
      const payload = l16(voice(at)(sequence * SAMPLES)).swap16();
      const packet = { payloadType: 97, sequence, timestamp: sequence * SAMPLES, ssrc: port };
      drive.inject(leg.port, { address: REMOTE.address, port }, rtp({ ...packet, payload }));
    }
    drive.advance(20);
    for (const { port, bytes } of drive.drain()) {
      if (port !== 50_000) continue;
      const { payload } = parseRtp(bytes);
      for (let i = 0; i + 1 < payload.length; i += 2)
        received.push((payload as Buffer).readInt16BE(i));
    }
  }
  return Int16Array.from(received);
}

describe('a conference', () => {
  it('is attenuated to 1 dB below full scale for loud voices without clipping', async () => {
    const loud = [300, 500, 700].map((hz) => () => tone(hz, 28_000));
    const received = await conference(1500, loud);
    const peak = received.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    expect(peak).toBeLessThanOrEqual(CEILING + 1);
    const lately = received.slice(-8000);
    const pure = [300, 500, 700].reduce((sum, hz) => sum + purity(lately, hz, RATE), 0);
    expect(pure).toBeGreaterThan(0.97);
  });

  it('does not add up the noise of silent members, and plays their words from the start', async () => {
    const word = (at: number): boolean => at >= 2000 && at < 2400;
    const line = noise(60);
    const speaker = (at: number): Voice => (word(at) ? tone(600, 6000) : line);
    const received = await conference(3500, [speaker]);
    const before = received.slice(24_000, 30_000);
    expect(rms(before)).toBeGreaterThan(0);
    expect(rms(before)).toBeLessThan(60 / Math.sqrt(3) / 5);
    // Find the word at any buffer delay.
    let loud = 0;
    for (let at = 0; at + 160 <= received.length; at += 160)
      loud += rms(received.subarray(at, at + 160)) > 3500 ? 1 : 0;
    expect(loud).toBeGreaterThanOrEqual(39);
  });
});
