/** Reads and writes WAV files with 16-bit PCM. */
import { err, ok, type Result } from '../../base/result.ts';

export interface Sound {
  /** Sample rate in Hz. */
  readonly rate: number;
  /** Mono samples. */
  readonly samples: Int16Array;
}

const HEADER_BYTES = 44;
const PCM = 1;
/** Rates in Hz. The conversion of a lower rate would need memory out of proportion to the file. */
const RATES = { min: 4000, max: 192_000 };

/** Reads a WAV file and averages its channels. The error is a readable message. */
export function readWav(bytes: Uint8Array): Result<Sound, string> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const tag = (at: number): string => String.fromCharCode(...bytes.subarray(at, at + 4));
  if (bytes.length < 12 || tag(0) !== 'RIFF' || tag(8) !== 'WAVE') return err('not a WAV file');
  let channels = 0;
  let rate = 0;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const length = view.getUint32(at + 4, true);
    if (tag(at) === 'fmt ' && at + 24 <= bytes.length) {
      if (view.getUint16(at + 8, true) !== PCM || view.getUint16(at + 22, true) !== 16) {
        return err(
          'only 16-bit PCM is supported; convert it with: sox in.wav -b 16 -r 8000 -c 1 out.wav',
        );
      }
      channels = view.getUint16(at + 10, true);
      rate = view.getUint32(at + 12, true);
      if (rate < RATES.min || rate > RATES.max)
        return err(`a sample rate of ${rate} Hz is not supported: ${RATES.min} to ${RATES.max}`);
    } else if (tag(at) === 'data') {
      if (channels === 0) return err('the WAV file has no format before its data');
      const end = Math.min(at + 8 + length, bytes.length);
      return ok({ rate, samples: mono(view, at + 8, end, channels) });
    }
    at += 8 + length + (length % 2);
  }
  return err('the WAV file has no data');
}

function mono(view: DataView, start: number, end: number, channels: number): Int16Array {
  const samples = new Int16Array(Math.floor((end - start) / (2 * channels)));
  for (let i = 0; i < samples.length; i += 1) {
    let sum = 0;
    for (let c = 0; c < channels; c += 1)
      sum += view.getInt16(start + 2 * (i * channels + c), true);
    samples[i] = Math.round(sum / channels);
  }
  return samples;
}

/** Writes a WAV file. Samples of several channels alternate. */
export function writeWav({ rate, samples }: Sound, channels = 1): Buffer {
  const data = l16Bytes(samples);
  const header = Buffer.alloc(HEADER_BYTES);
  header.write('RIFF', 0);
  header.writeUInt32LE(HEADER_BYTES - 8 + data.length, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(PCM, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * channels * 2, 28);
  header.writeUInt16LE(channels * 2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(data.length, 40);
  return Buffer.concat([header, data]);
}

/** Encodes samples as 16-bit little-endian, as used by the stream protocol (L16) and WAV. */
export function l16Bytes(samples: Int16Array): Buffer {
  const bytes = Buffer.alloc(samples.length * 2);
  for (let i = 0; i < samples.length; i += 1) bytes.writeInt16LE(samples[i] ?? 0, i * 2);
  return bytes;
}

/** Decodes 16-bit little-endian samples. Ignores an odd last byte. */
export function l16Samples(bytes: Uint8Array): Int16Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // Loops instead of `Int16Array.from` and iterators, which take ten times as long.
  const samples = new Int16Array(bytes.length >> 1);
  for (let i = 0; i < samples.length; i += 1) samples[i] = view.getInt16(i * 2, true);
  return samples;
}

/** Converts the sample rate by linear interpolation. Good enough for intelligible speech, not for measurements. */
export function convertRate({ rate, samples }: Sound, toRate: number): Int16Array {
  if (rate === toRate) return samples;
  const step = rate / toRate;
  const converted = new Int16Array(Math.floor(samples.length / step));
  for (let i = 0; i < converted.length; i += 1) {
    const at = Math.floor(i * step);
    const before = samples[at] ?? 0;
    const after = samples[at + 1] ?? before;
    converted[i] = Math.round(before + (after - before) * (i * step - at));
  }
  return converted;
}
