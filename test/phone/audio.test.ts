import alawmulaw from 'alawmulaw';
import { describe, expect, it } from 'vitest';
import { findEcho } from '../../src/phone/audio/echo-delay.ts';
import { PCMA, PCMU } from '../../src/phone/audio/g711.ts';
import { convertRate, readWav, writeWav } from '../../src/phone/audio/wav.ts';

const CODES = Uint8Array.from({ length: 256 }, (_, i) => i);

describe('G.711 (ITU-T G.191)', () => {
  it('decodes every code like an independent implementation', () => {
    expect([...PCMU.decode(CODES)]).toEqual([...alawmulaw.mulaw.decode(CODES)]);
    expect([...PCMA.decode(CODES)]).toEqual([...alawmulaw.alaw.decode(CODES)]);
  });

  it.each([PCMU, PCMA])('$name: encoding a decoded sample returns its code', (codec) => {
    const again = codec.encode(codec.decode(CODES));
    // mu-law has two codes for zero.
    if (codec === PCMU) again[0x7f] = 0x7f;
    expect([...again]).toEqual([...CODES]);
  });

  it.each([PCMU, PCMA])('$name: limits the error to half a step of the segment', (codec) => {
    const samples = Int16Array.from({ length: 65_536 }, (_, i) => i - 32_768);
    const received = codec.decode(codec.encode(samples));
    samples.forEach((sample, i) => {
      const off = Math.abs(sample - (received[i] ?? 0));
      if (off > Math.max(16, Math.abs(sample) / 16)) expect([sample, off]).toBe('near');
    });
  });
});

describe('WAV files', () => {
  const sound = { rate: 8000, samples: Int16Array.from([0, 1, -1, 32_767, -32_768]) };

  it('reads back what it wrote', () => {
    expect(readWav(writeWav(sound))).toEqual({ ok: true, value: sound });
  });

  it.each([1, 3999, 192_001, 4_294_967_295])('refuses a rate of %i Hz', (rate) => {
    const file = writeWav(sound);
    file.writeUInt32LE(rate, 24);
    expect(readWav(file)).toEqual({
      ok: false,
      error: `a sample rate of ${rate} Hz is not supported: 4000 to 192000`,
    });
  });

  it('averages channels and skips other chunks', () => {
    const stereo = writeWav({ rate: 8000, samples: Int16Array.from([100, 200, -100, 100]) });
    stereo.writeUInt16LE(2, 22);
    const list = Buffer.from('LIST\x03\x00\x00\x00abc\x00', 'latin1');
    const file = Buffer.concat([stereo.subarray(0, 12), list, stereo.subarray(12)]);
    expect(readWav(file)).toEqual({
      ok: true,
      value: { rate: 8000, samples: Int16Array.from([150, 0]) },
    });
  });

  it('ends with the file if a data chunk claims more bytes', () => {
    const file = writeWav(sound);
    file.writeUInt32LE(0xffff_ffff, 40);
    expect(readWav(file)).toEqual({ ok: true, value: sound });
  });

  it.each([
    ['empty', Buffer.alloc(0)],
    ['no WAV', Buffer.from('ID3 something else, an MP3 perhaps')],
    ['no data', writeWav(sound).subarray(0, 36)],
    ['8-bit', Buffer.concat([writeWav(sound).subarray(0, 34), Buffer.from([8, 0])])],
  ])('refuses %s with a clear message', (_what, file) => {
    expect(readWav(file)).toMatchObject({ ok: false, error: expect.any(String) });
  });

  it('preserves the duration when converting sample rates', () => {
    const samples = Int16Array.from({ length: 800 }, (_, i) => 1000 * Math.sin(i / 10));
    const doubled = convertRate({ rate: 8000, samples }, 16_000);
    expect(doubled.length).toBe(1600);
    expect(Math.abs((doubled[200] ?? 0) - (samples[100] ?? 0))).toBeLessThan(2);
  });
});

describe('echo detection', () => {
  /** Noise with the envelope of syllables, from a seed for reproducible runs. */
  function speech(seconds: number, seed: number): Int16Array {
    let state = seed;
    return Int16Array.from({ length: seconds * 8000 }, (_, i) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return ((state / 2 ** 32) * 2 - 1) * 8000 * Math.abs(Math.sin(i / 1500));
    });
  }
  const delayed = (samples: Int16Array, by: number, gain: number): Int16Array =>
    Int16Array.from({ length: samples.length + by }, (_, i) => (samples[i - by] ?? 0) * gain);

  it('measures the delay exactly, through a codec and at another level', () => {
    const said = speech(4, 7);
    const received = PCMU.decode(PCMU.encode(delayed(said, 1234, 0.3)));
    expect(findEcho(said, received, 1000)).toMatchObject({
      delayMs: 1234 / 8,
      likeness: expect.closeTo(1, 1),
      foundPart: 1,
    });
  });

  it('rejects other speech and silence', () => {
    const said = speech(4, 7);
    expect(findEcho(said, speech(6, 99), 1000)?.foundPart).toBe(0);
    expect(findEcho(said, new Int16Array(48_000), 1000)).toMatchObject({
      likeness: 0,
      foundPart: 0,
    });
  });

  it('reports which part was echoed', () => {
    const said = speech(4, 7);
    const received = delayed(said, 800, 1);
    received.fill(0, 800 + 16_000);
    expect(findEcho(said, received, 1000)?.foundPart).toBe(0.5);
  });

  it('tolerates a delay that changes, if the segments are short', () => {
    const said = speech(2, 7);
    const received = delayed(said, 800, 1);
    received.copyWithin(8160, 8000);
    received.copyWithin(16_160, 16_000);
    expect(findEcho(said, received, 1000)?.likeness).toBeLessThan(0.9);
    expect(findEcho(said, received, 1000, 100)).toMatchObject({
      likeness: expect.closeTo(1, 2),
      foundPart: 1,
    });
  });

  it('finds no echo of silence', () => {
    expect(findEcho(new Int16Array(16_000), speech(2, 1), 1000)).toBeUndefined();
  });
});
