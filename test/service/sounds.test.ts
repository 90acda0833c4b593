import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import { err } from '../../src/base/result.ts';
import { createAudio, holdMusic } from '../../src/edge/audio/audio-library.ts';
import { createHoldMusic, warmSounds } from '../../src/service/sounds.ts';
import { int16Bytes, sine, wavFile } from '../protocol/audio-file/signals.ts';
import { SimClock } from '../sim/clock.ts';

let folder: string;
let audio: ReturnType<typeof createAudio>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-sounds-'));
  const fetch = () => Promise.resolve(err({ kind: 'connect', detail: 'nothing there' } as const));
  audio = createAudio({ fetch, clock: new SimClock() });
});
afterEach(async () => {
  await audio.stop();
  rmSync(folder, { recursive: true });
});

const samplesOf = ({ samples }: { readonly samples: Uint8Array }): Int16Array =>
  new Int16Array(samples.buffer, samples.byteOffset, samples.byteLength / 2);

describe('hold music', () => {
  it('has a default of about 20 s, quieter than speech, without a seam or gap', async () => {
    const music = samplesOf(await holdMusic());
    expect(music.length / 8000).toBeCloseTo(19.2, 1);
    const rms = Math.sqrt(music.reduce((sum, value) => sum + value ** 2, 0) / music.length);
    const dbfs = 20 * Math.log10(rms / 32_768);
    expect(dbfs).toBeGreaterThan(-28);
    expect(dbfs).toBeLessThan(-18);
    const steps = [...music].map((value, i) => Math.abs(value - (music.at(i - 1) ?? 0)));
    const seam = steps[0] ?? 0;
    const largest = steps.slice(1).reduce((most, step) => Math.max(most, step), 0);
    expect(seam).toBeLessThanOrEqual(largest);
    for (let at = 0; at < music.length; at += 800)
      expect(Math.max(...music.subarray(at, at + 800))).toBeGreaterThan(300);
  });

  it('can be silence, or a file of the operator that is read once', async () => {
    expect(await createHoldMusic('silence', audio, silentLogger)(8000)).toBeUndefined();
    const file = join(folder, 'own.wav');
    const data = int16Bytes(sine(440, 9000, 16_000, 16_000));
    writeFileSync(file, wavFile({ format: 1, bits: 16, channels: 1, rate: 16_000, data }));
    const music = createHoldMusic(file, audio, silentLogger);
    const [one, two] = await Promise.all([music(8000), music(8000)]);
    expect(one?.samples).toHaveLength(16_000);
    expect(two).toBe(one);
    const wide = await music(24_000);
    expect([wide?.rate, wide?.samples.length]).toEqual([16_000, 32_000]);
  });

  it('prevents the start if the file is missing, and is silent if the file has no audio', async () => {
    const missing = join(folder, 'missing.mp3');
    expect(() => createHoldMusic(missing, audio, silentLogger)).toThrow('calls.holdMusic');
    const file = join(folder, 'text.wav');
    writeFileSync(file, 'no audio');
    expect(await createHoldMusic(file, audio, silentLogger)(8000)).toBeUndefined();
  });
});

describe('preloading of Play and Speak', () => {
  it('prepares decoders, voices and music sequentially', async () => {
    const order: string[] = [];
    const warmed = { ...audio, warm: async () => void order.push(String(await audio.warm())) };
    const speech = { warm: async () => void order.push('voices') } as never;
    await warmSounds({ audio: warmed as never, speech }, async () => {
      order.push('music');
      return undefined;
    });
    expect(order).toEqual(['true', 'voices', 'music']);
  });
});
