import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isMp3, openWav, resampler, toPcm16 } from '../../../src/protocol/audio-file/audio-file.ts';
import { isWav } from '../../../src/protocol/audio-file/sniff.ts';
import { fitSine, int16Bytes, int16Samples, rms, sine, wavFile } from './signals.ts';

const pcm16 = { format: 1, bits: 16, channels: 1, rate: 8000 } as const;

function opened(bytes: Uint8Array) {
  const source = openWav(bytes);
  if (!source.ok) throw new Error(source.error);
  return source.value;
}

describe('WAV files', () => {
  it('reads 16-bit PCM, little-endian, with full scale 1', () => {
    const wav = opened(wavFile({ ...pcm16, data: int16Bytes([0, 16384, -32768, 32767]) }));
    expect([...wav.mono(0, 10)]).toEqual([0, 0.5, -1, 32767 / 32768]);
    expect(wav.length).toBe(4);
    expect([...wav.mono(1, 2)]).toEqual([0.5, -1]);
    expect([...wav.mono(4, 2)]).toEqual([]);
  });

  it('averages the channels', () => {
    const wav = opened(
      wavFile({ ...pcm16, channels: 2, data: int16Bytes([8192, 24576, -100, 100]) }),
    );
    expect([...wav.mono(0, 2)]).toEqual([0.5, 0]);
  });

  it.each([
    ['8-bit PCM (unsigned)', 1, 8, [128, 192, 0], [0, 0.5, -1]],
    ['24-bit PCM', 1, 24, [0, 0, 0x40, 0, 0, 0x80], [0.5, -1]],
    ['32-bit PCM', 1, 32, [0, 0, 0, 0x40], [0.5]],
    ['32-bit float', 3, 32, [0, 0, 0, 0x3f, 0, 0, 0xc0, 0x7f], [0.5, 0]],
    ['mu-law', 7, 8, [0xff, 0x80, 0x00], [0, 32124 / 32768, -32124 / 32768]],
    ['A-law', 6, 8, [0xd5, 0xaa, 0x2a], [8 / 32768, 32256 / 32768, -32256 / 32768]],
  ])('reads %s', (_name, format, bits, data, expected) => {
    const wav = opened(wavFile({ ...pcm16, format, bits, data: Uint8Array.from(data) }));
    expect([...wav.mono(0, 9)]).toEqual(expected.map((value) => Math.fround(value)));
  });

  it('skips unknown chunks with padded odd lengths', () => {
    const extra = Uint8Array.from([0x4c, 0x49, 0x53, 0x54, 3, 0, 0, 0, 1, 2, 3, 0]);
    expect(opened(wavFile({ ...pcm16, extra, data: int16Bytes([16384]) })).mono(0, 1)[0]).toBe(0.5);
  });

  it('takes what is there when the stated length is larger (streamed or cut files)', () => {
    const wav = wavFile({ ...pcm16, statedBytes: 0x7ffff000, data: int16Bytes([1, 2, 3]) });
    expect(opened(wav).length).toBe(3);
  });

  it.each([
    ['not RIFF', new TextEncoder().encode('<html>not found</html>'), 'not a WAV file'],
    ['ADPCM', wavFile({ ...pcm16, format: 2, bits: 4, data: new Uint8Array(4) }), 'not supported'],
    ['a silly rate', wavFile({ ...pcm16, rate: 1, data: new Uint8Array(4) }), '1 Hz'],
    ['no channels', wavFile({ ...pcm16, channels: 0, data: new Uint8Array(4) }), '0 channels'],
    ['no audio', wavFile({ ...pcm16, data: new Uint8Array(0) }).subarray(0, 36), 'no audio'],
  ])('rejects %s with a readable error', (_name, bytes, words) => {
    const result = openWav(bytes);
    expect(result.ok ? '' : result.error).toContain(words);
  });

  it('never throws for arbitrary bytes', () => {
    const valid = wavFile({ ...pcm16, channels: 2, data: int16Bytes([1, 2, 3, 4]) });
    fc.assert(
      fc.property(fc.nat(valid.length - 1), fc.nat(255), fc.nat(valid.length), (at, value, cut) => {
        const bytes = valid.slice(0, cut);
        if (at < bytes.length) bytes[at] = value;
        const result = openWav(bytes);
        if (result.ok) result.value.mono(0, 100);
      }),
    );
  });
});

describe('sniffing', () => {
  it('detects only WAV and MP3 by their first bytes', () => {
    expect(isWav(wavFile({ ...pcm16, data: new Uint8Array(0) }))).toBe(true);
    expect(isMp3(Uint8Array.from([0xff, 0xfb, 0x90, 0x44]))).toBe(true);
    expect(isMp3(new TextEncoder().encode('ID3\u0004more'))).toBe(true);
    for (const other of ['<html>', 'OggS....', 'fLaC....', '']) {
      expect(isMp3(new TextEncoder().encode(other))).toBe(false);
      expect(isWav(new TextEncoder().encode(other))).toBe(false);
    }
    expect(isMp3(Uint8Array.from([0xff, 0xff, 0xff, 0xff]))).toBe(false);
  });
});

describe('sample rate conversion for files', () => {
  const convert = (
    samples: Float32Array,
    from: number,
    to: number,
    block: number,
  ): Float32Array => {
    const converter = resampler(from, to);
    const parts: Float32Array[] = [];
    for (let at = 0; at < samples.length; at += block)
      parts.push(converter.push(samples.subarray(at, at + block)));
    parts.push(converter.finish());
    return Float32Array.from(parts.flatMap((part) => [...part]));
  };

  it.each([8000, 11025, 16000, 22050, 24000, 32000, 44100, 48000])(
    'converts %i Hz to 8000 Hz with 70 dB SNR, correct phase and length',
    (rate) => {
      const out = convert(sine(1000, 0.5, rate, rate), rate, 8000, 1000);
      expect(out.length).toBe(8000);
      const fit = fitSine(out.subarray(400, 7600), 1000, 8000);
      expect(fit.snrDb).toBeGreaterThan(70);
      expect(fit.amplitude).toBeCloseTo(0.5, 3);
      // 400 samples are 50 whole periods, so the phase there equals that of the start.
      expect(Math.abs(fit.phase)).toBeLessThan(0.01);
    },
  );

  it('suppresses frequencies above the lower band instead of aliasing them', () => {
    for (const frequency of [4400, 5000, 7000, 11000, 20000]) {
      const out = convert(sine(frequency, 0.5, 44100, 44100), 44100, 8000, 4096);
      expect(rms(out.subarray(400, 7600))).toBeLessThan(0.5 * 10 ** (-70 / 20));
    }
  });

  it('returns the same samples for any division into blocks', () => {
    const signal = Float32Array.from({ length: 5000 }, (_, i) => Math.sin(i * i * 0.0007));
    const whole = convert(signal, 22050, 8000, 5000);
    for (const block of [1, 7, 333]) expect(convert(signal, 22050, 8000, block)).toEqual(whole);
  });

  it('returns no output without input', () => {
    expect(convert(new Float32Array(0), 44100, 8000, 10).length).toBe(0);
  });
});

describe('16-bit PCM', () => {
  it('rounds and saturates', () => {
    const bytes = toPcm16(Float32Array.from([0, 0.5, 2, -2, 1 / 65536]));
    expect([...int16Samples(bytes)]).toEqual([0, 16384, 32767, -32768, 1]);
  });
});
