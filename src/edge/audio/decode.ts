import { MPEGDecoder } from 'mpg123-decoder';
import type { LineRate } from '../../domain/call/needs.ts';
import { isMp3, openWav, resampler, toPcm16 } from '../../protocol/audio-file/audio-file.ts';
import { ConversionError, type DecodeJob } from './conversion.ts';
import { PcmSink } from './pcm-sink.ts';

/** Samples of a WAV file converted per block. */
const WAV_BLOCK = 48_000;
/** Bytes of an MP3 file decoded per block: about one second. */
const MP3_BLOCK = 16 * 1024;
/** Header of an MPEG-1 layer III frame: 32 kbit/s, 44.1 kHz, one channel. A frame with zeros as its other bytes is silence. */
const SILENT_FRAME_HEAD = [0xff, 0xfb, 0x10, 0xc4];
const SILENT_FRAME_BYTES = 104;
const SILENT_FRAMES = 77;
/** Maximum number of bytes of tags or other data before the first frame of an MP3 file. */
const MP3_SEARCH_BYTES = 1024 * 1024;

/** Decodes a complete file to mono 16-bit PCM in bounded memory. Fails when the audio exceeds the length limit. */
export async function decode(
  job: DecodeJob,
): Promise<{ readonly rate: LineRate; readonly samples: Uint8Array }> {
  const wav = openWav(job.bytes);
  if (wav.ok) {
    const source = wav.value;
    const rate = rateFor(source.rate, job.rate);
    const sink = new PcmSink(rate, job.maxMs);
    const convert = resampler(source.rate, rate);
    for (let at = 0; at < source.length; at += WAV_BLOCK) {
      sink.write(toPcm16(convert.push(source.mono(at, WAV_BLOCK))));
    }
    sink.write(toPcm16(convert.finish()));
    return { rate, samples: sink.bytes() };
  }
  if (!isMp3(job.bytes)) {
    throw new ConversionError('notAudio', `not a playable MP3 or WAV file: ${wav.error}`);
  }
  const sink = new PcmSink(job.rate, job.maxMs);
  await decodeMp3(job.bytes, job.rate, sink);
  return { rate: job.rate, samples: sink.bytes() };
}

const LINE_RATES: readonly LineRate[] = [8000, 16_000, 24_000, 48_000];

/** The lowest rate that holds all of the file's content, at most the wished one. */
const rateFor = (fileRate: number, preferred: LineRate): LineRate =>
  LINE_RATES.find((rate) => rate >= fileRate || rate >= preferred) ?? preferred;

/** Compiles the MP3 decoder and runs the whole pipeline on two seconds of silence. */
export async function warmDecoders(): Promise<void> {
  const bytes = new Uint8Array(SILENT_FRAMES * SILENT_FRAME_BYTES);
  for (let at = 0; at < bytes.length; at += SILENT_FRAME_BYTES) bytes.set(SILENT_FRAME_HEAD, at);
  await decode({ kind: 'decode', bytes, rate: 8000, maxMs: SILENT_FRAMES * 1000 });
}

async function decodeMp3(bytes: Uint8Array, rate: number, sink: PcmSink): Promise<void> {
  const decoder = new MPEGDecoder();
  await decoder.ready;
  try {
    let convert: { readonly from: number; readonly with: ReturnType<typeof resampler> } | undefined;
    for (let at = 0; at < bytes.length; at += MP3_BLOCK) {
      const block = decoder.decode(bytes.subarray(at, at + MP3_BLOCK));
      if (block.samplesDecoded === 0) {
        if (convert === undefined && at > MP3_SEARCH_BYTES) break;
        continue;
      }
      // A file may change its rate between frames. Flushes the old converter first.
      if (convert?.from !== block.sampleRate) {
        if (convert !== undefined) sink.write(toPcm16(convert.with.finish()));
        convert = { from: block.sampleRate, with: resampler(block.sampleRate, rate) };
      }
      sink.write(toPcm16(convert.with.push(average(block.channelData))));
    }
    if (convert === undefined) throw new ConversionError('notAudio', 'an MP3 file without audio');
    sink.write(toPcm16(convert.with.finish()));
  } finally {
    decoder.free();
  }
}

function average(channels: readonly Float32Array[]): Float32Array {
  const [left, right] = channels;
  if (left === undefined) return new Float32Array(0);
  if (right === undefined) return left;
  return left.map((sample, index) => (sample + (right[index] ?? 0)) / 2);
}
