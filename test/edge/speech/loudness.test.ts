import { describe, expect, it } from 'vitest';
import { normalised } from '../../../src/edge/speech/loudness.ts';

const RATE = 8000;
const SYLLABLE = 1600;

/** Decaying pulses like syllables with a crest factor of about 15 dB, and `pauseMs` of near silence after every fourth one. */
function voice(level: number, pauseMs: number): { pcm: Int16Array; speech: boolean[] } {
  const pause = (pauseMs * RATE) / 1000;
  const pcm: number[] = [];
  const speech: boolean[] = [];
  for (let syllable = 0; syllable < 24; syllable += 1) {
    const pitch = 60 + (syllable % 5) * 7;
    for (let i = 0; i < SYLLABLE; i += 1) {
      const pulse = Math.exp(-(i % pitch) / 9) * Math.cos((i % pitch) / 1.7);
      pcm.push(Math.round(level * pulse * Math.sin((Math.PI * (i + 300)) / (SYLLABLE + 600))));
      speech.push(true);
    }
    if (syllable % 4 !== 3) continue;
    for (let i = 0; i < pause; i += 1) {
      pcm.push(i % 2);
      speech.push(false);
    }
  }
  return { pcm: Int16Array.from(pcm), speech };
}

async function loudness(level: number, pauseMs: number) {
  const { pcm, speech } = voice(level, pauseMs);
  const bytes = await normalised(new Uint8Array(pcm.buffer), RATE);
  const out = new Int16Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 2);
  const spoken = out.filter((_, i) => speech[i]);
  const power = spoken.reduce((sum, sample) => sum + sample ** 2, 0) / spoken.length;
  return {
    dbfs: 20 * Math.log10(Math.sqrt(power) / 32_768),
    peak: out.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0),
    length: out.length - pcm.length,
  };
}

describe('normalizes voices to -16 ± 1 dBFS RMS of speech', () => {
  it.each([
    [1500, 0],
    [6000, 600],
    [20_000, 0],
    [32_000, 600],
    [32_000, 3000],
  ])('peaks of %i, pauses of %i ms', async (level, pauseMs) => {
    const { dbfs, peak, length } = await loudness(level, pauseMs);
    expect(Math.abs(dbfs + 16)).toBeLessThan(1);
    expect(peak).toBeLessThanOrEqual(29_204);
    expect(length).toBe(0);
  });

  it('keeps silence, and no word becomes empty', async () => {
    expect(await normalised(new Uint8Array(3200), RATE)).toEqual(new Uint8Array(3200));
    expect(await normalised(new Uint8Array(0), RATE)).toHaveLength(0);
  });
});
