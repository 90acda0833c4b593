import { afterEach, describe, expect, it } from 'vitest';
import { asStreamId } from '../../../src/base/ids.ts';
import type { AudioCleaning } from '../../../src/domain/call/needs.ts';
import type { MediaEngine } from '../../../src/edge/media/engine.ts';
import { loadNative } from '../../../src/edge/media/native.ts';
import { FRAME, l16, manualEngine, Peer, REMOTE, rms, sine } from './peer.ts';

const engines: MediaEngine[] = [];
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.stop();
});

const OFF: AudioCleaning = { noise: false, echo: false, gain: false };
const isInstalled = loadNative().cleaningProblem() === '';

/** Levels of the audio that the bot receives in the last second of `seconds`. */
async function heardLevel(
  clean: Partial<AudioCleaning> | undefined,
  seconds: number,
  frameOf: (i: number) => Int16Array,
  bot?: Int16Array,
  rate: 8000 | 16000 = 8000,
): Promise<number> {
  const { media, drive } = manualEngine();
  engines.push(media);
  const leg = await media.openLeg(
    { mediaTimeoutMs: 0 },
    { dtmf: () => undefined, silent: () => undefined },
  );
  leg.configure(REMOTE);
  const frames: Int16Array[] = [];
  const stream = leg.openStream(
    {
      streamId: asStreamId('5f0e6a52-6a0e-4a52-9a0b-0d6c2f3b7c22'),
      encoding: 'audio/x-l16',
      rate,
      tracks: 'inbound',
      bidirectional: true,
      extraHeadersJson: '"{}"',
      queueMs: 60_000,
      ...(clean && { clean: { ...OFF, ...clean } }),
    },
    {
      media: (batch) => {
        for (const bytes of batch) {
          const text = Buffer.from(bytes).toString();
          const payload = /"payload":"([^"]*)"/.exec(text)?.[1] ?? '';
          const pcm = Buffer.from(payload, 'base64');
          frames.push(
            new Int16Array(pcm.buffer.slice(pcm.byteOffset, pcm.byteOffset + pcm.length)),
          );
        }
      },
      played: () => undefined,
      degraded: () => undefined,
      dtmf: () => undefined,
    },
  );
  if (bot !== undefined) stream.enqueue('audio/x-l16', 8000, l16(bot));
  const peer = new Peer(drive, leg.port);
  for (let i = 0; i < seconds * 50; i += 1) {
    drive.advance(20);
    peer.send(frameOf(i));
  }
  const last = frames.slice(-50).map((frame) => rms(frame));
  return last.reduce((sum, one) => sum + one, 0) / last.length;
}

/** Uniform noise; the same for each call. */
function noise(peak: number) {
  let state = 1;
  return () =>
    Int16Array.from({ length: FRAME }, () => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return Math.round(((state >>> 8) / 2 ** 23 - 1) * peak);
    });
}

describe.runIf(isInstalled)('audio cleaning', () => {
  it.each([8000, 16_000] as const)('suppresses steady noise at %i Hz', async (rate) => {
    const before = await heardLevel(undefined, 3, noise(1000), undefined, rate);
    const after = await heardLevel({ noise: true }, 3, noise(1000), undefined, rate);
    expect(20 * Math.log10(after / before)).toBeLessThan(-10);
  });

  it('cancels the echo of the bot', async () => {
    const make = noise(6000);
    const bot = Int16Array.from({ length: 6 * 50 }, () => 0).reduce<number[]>(
      (all) => all.concat([...make()]),
      [],
    );
    const sent = Int16Array.from(bot);
    const delay = 4;
    const echo = (i: number): Int16Array => {
      const at = (i - delay) * FRAME;
      return Int16Array.from({ length: FRAME }, (_, j) => Math.round((sent[at + j] ?? 0) / 8));
    };
    const before = await heardLevel(undefined, 5, echo, sent);
    const after = await heardLevel({ echo: true }, 5, echo, sent);
    expect(20 * Math.log10(after / before)).toBeLessThan(-12);
  });

  it('raises quiet audio', async () => {
    const quiet = (i: number) => {
      const speaks = Math.floor(i / 10) % 2 === 0;
      return sine(400, FRAME, { from: i * FRAME, peak: speaks ? 600 : 5 });
    };
    const before = await heardLevel(undefined, 8, quiet);
    const after = await heardLevel({ gain: true }, 8, quiet);
    expect(after / before).toBeGreaterThan(1.5);
  });
});

it('leaves the audio unchanged without cleaning', async () => {
  const tone = (i: number) => sine(400, FRAME, { from: i * FRAME, peak: 4000 });
  expect(await heardLevel(undefined, 2, tone)).toBeCloseTo(4000 / Math.SQRT2, -2);
});
