import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MPEGDecoder } from 'mpg123-decoder';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeMp3 } from '../../../src/edge/audio/encode-mp3.ts';
import { crc16, infoFrame, infoFrameBytes } from '../../../src/edge/audio/mp3-info.ts';
import { int16Bytes, wavFile } from '../../protocol/audio-file/signals.ts';

/** Position of the only peak in the source. */
const PEAK_AT = 1000;
/** Samples of a frame of MPEG-2 and 2.5, and the delay of LAME. */
const FRAME = 576;
const DELAY = 576;

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-mp3-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

/** Encodes silence with one peak. */
async function encoded(rate: number, channels: 1 | 2, samples: number): Promise<Uint8Array> {
  const [wavPath, mp3Path] = [join(folder, 'a.wav'), join(folder, 'a.mp3')];
  const audio = new Float32Array(samples * channels);
  audio.fill(30_000, PEAK_AT * channels, (PEAK_AT + 1) * channels);
  writeFileSync(wavPath, wavFile({ format: 1, bits: 16, channels, rate, data: int16Bytes(audio) }));
  const bytes = await encodeMp3({ kind: 'encodeMp3', wavPath, mp3Path });
  const mp3 = readFileSync(mp3Path);
  expect(bytes).toBe(mp3.length);
  return mp3;
}

/** Reads the fields behind the name `Info`. */
function infoOf(mp3: Uint8Array) {
  const at = Buffer.from(mp3).indexOf('Info');
  const view = new DataView(mp3.buffer, mp3.byteOffset);
  const skipped = view.getUint32(at + 137) >>> 8;
  return {
    at,
    flags: view.getUint32(at + 4),
    frames: view.getUint32(at + 8),
    bytes: view.getUint32(at + 12),
    seek: [...mp3.subarray(at + 16, at + 116)],
    encoder: Buffer.from(mp3.subarray(at + 116, at + 125)).toString(),
    delay: skipped >> 12,
    padding: skipped & 0xfff,
    musicBytes: view.getUint32(at + 144),
    musicCrc: view.getUint16(at + 148),
    crc: view.getUint16(at + 150),
  };
}

describe('the Info frame of an MP3', () => {
  it.each([
    { rate: 8000, channels: 1, samples: 24_123, size: 288 },
    { rate: 8000, channels: 2, samples: 24_123, size: 576 },
    // A frame of 144 bytes is too short for the Info frame, which has a higher bit rate.
    { rate: 16_000, channels: 1, samples: 48_001, size: 180 },
    { rate: 16_000, channels: 2, samples: 48_576, size: 288 },
    { rate: 8000, channels: 1, samples: 1001, size: 288 },
  ] as const)('declares $samples samples at $rate Hz with $channels channels', async (given) => {
    const { rate, channels, samples, size } = given;
    const mp3 = await encoded(rate, channels, samples);
    const info = infoOf(mp3);
    expect(info.at).toBe(channels === 1 ? 13 : 21);
    expect(info.flags).toBe(7);
    expect([info.bytes, info.musicBytes]).toEqual([mp3.length, mp3.length]);
    const frameBytes = (FRAME / 8) * ((channels * 32_000) / rate);
    expect(info.frames).toBe((mp3.length - size) / frameBytes);
    expect(info.frames * FRAME - info.delay - info.padding).toBe(samples);
    expect(info.delay).toBe(DELAY);
    expect(info.encoder).toBe('LAME3.100');
    expect(info.seek).toEqual([...info.seek].sort((a, b) => a - b));
    expect([info.seek[0], info.seek[50]]).toEqual([0, 128]);
    expect(info.musicCrc).toBe(crc16(mp3.subarray(size), 0));
    expect(info.crc).toBe(crc16(mp3.subarray(0, info.at + 150), 0));
  });

  it('makes a decoder return the source sample by sample', async () => {
    const mp3 = await encoded(8000, 1, 24_123);
    const decoder = new MPEGDecoder();
    await decoder.ready;
    const { channelData, sampleRate, errors } = decoder.decode(mp3);
    decoder.free();
    expect(errors).toEqual([]);
    expect(sampleRate).toBe(8000);
    const [left = new Float32Array()] = channelData;
    const peak = left.reduce((best, value, i) => (value > (left[best] ?? 0) ? i : best), 0);
    expect(peak).toBe(PEAK_AT);
    expect(left).toHaveLength(24_123);
  });

  it('is not written before bytes that are no MP3 frames', () => {
    for (const head of [[], [0xff, 0xe3, 0x08, 0xc4], [0xff, 0xeb, 0x48, 0xc4], [1, 2, 3, 4]]) {
      const bytes = Uint8Array.from(head);
      expect(infoFrameBytes(bytes)).toBeUndefined();
      expect(infoFrame({ head: bytes, bytes: 0, crc: 0, samples: 0 })).toBeUndefined();
    }
  });
});
