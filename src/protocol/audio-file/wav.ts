/**
 * Reader for WAV (RIFF) files: linear PCM of 8 to 32 bits, float, mu-law and A-law, with any sample rate and channel
 * count.
 */
import alawmulaw from 'alawmulaw';
import { err, ok, type Result } from '../../base/result.ts';
import { isWav } from './sniff.ts';

export interface WavSource {
  readonly rate: number;
  readonly channels: number;
  /** Samples per channel. */
  readonly length: number;
  /** Byte position of the first sample in the file. */
  readonly dataOffset: number;
  /** Returns up to `count` samples from `start`, averaged over the channels, full scale -1 … 1. */
  mono(start: number, count: number): Float32Array;
}

const FORMAT_TAGS = { pcm: 1, float: 3, aLaw: 6, muLaw: 7, extensible: 0xfffe } as const;
const MIN_RATE = 4000;
const MAX_RATE = 192_000;
const MAX_CHANNELS = 8;
/** Maximum number of chunks before the audio; real files have about five. */
const MAX_CHUNKS = 100;

/** Reads one sample at a byte position, full scale -1 … 1. */
type ReadSample = (view: DataView, at: number) => number;

const READERS: Readonly<Record<string, ReadSample>> = {
  'pcm 8': (view, at) => (view.getUint8(at) - 128) / 128,
  'pcm 16': (view, at) => view.getInt16(at, true) / 32768,
  'pcm 24': (view, at) => ((view.getInt8(at + 2) << 16) | view.getUint16(at, true)) / 0x800000,
  'pcm 32': (view, at) => view.getInt32(at, true) / 0x80000000,
  'float 32': (view, at) => finite(view.getFloat32(at, true)),
  'float 64': (view, at) => finite(view.getFloat64(at, true)),
  'aLaw 8': (view, at) => alawmulaw.alaw.decodeSample(view.getUint8(at)) / 32768,
  'muLaw 8': (view, at) => alawmulaw.mulaw.decodeSample(view.getUint8(at)) / 32768,
};

interface Format {
  readonly channels: number;
  readonly rate: number;
  readonly bits: number;
  readonly read: ReadSample;
}

/** Parses the headers. The error text can be shown to users. */
export function openWav(bytes: Uint8Array): Result<WavSource, string> {
  if (!isWav(bytes)) return err('not a WAV file');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let format: Format | undefined;
  let at = 12;
  for (let chunk = 0; chunk < MAX_CHUNKS && at + 8 <= bytes.length; chunk += 1) {
    const name = String.fromCharCode(...bytes.subarray(at, at + 4));
    const length = view.getUint32(at + 4, true);
    const body = at + 8;
    if (name === 'fmt ') {
      const parsed = readFormat(view, body, length);
      if (!parsed.ok) return parsed;
      format = parsed.value;
    } else if (name === 'data') {
      if (format === undefined) return err('its audio comes before its format');
      // A stated length beyond the end means that the file was cut, or that its writer could not update the header.
      return ok(source(view, format, body, Math.min(length, bytes.length - body)));
    }
    at = body + length + (length % 2);
  }
  return err('has no audio');
}

function readFormat(view: DataView, at: number, length: number): Result<Format, string> {
  if (length < 16 || at + length > view.byteLength) return err('its format chunk is cut short');
  const channels = view.getUint16(at + 2, true);
  const rate = view.getUint32(at + 4, true);
  const bits = view.getUint16(at + 14, true);
  const tag = view.getUint16(at, true);
  // WAVE_FORMAT_EXTENSIBLE: the first two bytes of the sub-format's GUID are the plain tag.
  const plain =
    tag === FORMAT_TAGS.extensible && length >= 40 ? view.getUint16(at + 24, true) : tag;
  const name =
    Object.entries(FORMAT_TAGS).find(([, value]) => value === plain)?.[0] ?? `format ${plain}`;
  const read = READERS[`${name} ${bits}`];
  if (read === undefined) return err(`its encoding (${name}, ${bits} bits) is not supported`);
  if (rate < MIN_RATE || rate > MAX_RATE) return err(`its sample rate is ${rate} Hz`);
  if (channels < 1 || channels > MAX_CHANNELS) return err(`it has ${channels} channels`);
  return ok({ channels, rate, bits, read });
}

function source(view: DataView, format: Format, dataOffset: number, dataBytes: number): WavSource {
  const { channels, rate, read } = format;
  const sampleBytes = format.bits / 8;
  const frameBytes = sampleBytes * channels;
  const length = Math.floor(dataBytes / frameBytes);
  return {
    rate,
    channels,
    length,
    dataOffset,
    mono: (start, count) => {
      const size = Math.max(0, Math.min(count, length - start));
      const out = new Float32Array(size);
      for (let i = 0; i < size; i += 1) {
        const frame = dataOffset + (start + i) * frameBytes;
        let sum = 0;
        for (let channel = 0; channel < channels; channel += 1) {
          sum += read(view, frame + channel * sampleBytes);
        }
        out[i] = sum / channels;
      }
      return out;
    },
  };
}

const finite = (value: number): number => (Number.isFinite(value) ? value : 0);
