import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { createMp3Encoder } from 'wasm-media-encoders';
import { openWav } from '../../protocol/audio-file/audio-file.ts';
import { ConversionError, type EncodeJob } from './conversion.ts';

const BLOCK_FRAMES = 64 * 1024;
/** Maximum number of bytes before the samples of the file. */
const HEADER_BYTES = 64 * 1024;
/** Bit rate by number of channels, kbit/s. Transparent for 8 kHz speech. */
const BITRATE = { 1: 32, 2: 64 } as const;

interface Layout {
  readonly rate: number;
  readonly channels: 1 | 2;
  readonly dataOffset: number;
}

/**
 * Encodes a recording of this service (16-bit PCM, one or two channels) as MP3 with a constant bit rate, block by block.
 * Reads to the end of the file, because after a crash the header may be outdated. Returns the size.
 * Creates the target atomically.
 */
export async function encodeMp3(job: EncodeJob): Promise<number> {
  const partial = `${job.mp3Path}.part`;
  const wav = await open(job.wavPath, 'r');
  try {
    const layout = await readLayout(wav);
    const mp3 = await open(partial, 'w', 0o600);
    let bytes = 0;
    try {
      bytes = await convert(wav, layout, mp3);
    } finally {
      await mp3.close();
    }
    await rename(partial, job.mp3Path);
    return bytes;
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  } finally {
    await wav.close();
  }
}

async function readLayout(wav: FileHandle): Promise<Layout> {
  const head = new Uint8Array(HEADER_BYTES);
  const { bytesRead } = await wav.read(head, 0, HEADER_BYTES, 0);
  const source = openWav(head.subarray(0, bytesRead));
  if (!source.ok) throw new ConversionError('notAudio', source.error);
  const { rate, channels, dataOffset } = source.value;
  const bits = new DataView(head.buffer).getUint16(34, true);
  if (bits !== 16 || (channels !== 1 && channels !== 2)) {
    throw new ConversionError(
      'notAudio',
      `${channels} channels of ${bits} bits are not the format of recordings`,
    );
  }
  return { rate, channels, dataOffset };
}

async function convert(wav: FileHandle, layout: Layout, mp3: FileHandle): Promise<number> {
  const { rate, channels } = layout;
  const encoder = await createMp3Encoder();
  encoder.configure({ sampleRate: rate, channels, bitrate: BITRATE[channels] });
  const block = new Uint8Array(BLOCK_FRAMES * channels * 2);
  let position = layout.dataOffset;
  let written = 0;
  const write = async (bytes: Uint8Array): Promise<void> => {
    // The encoder reuses its output buffer, so the bytes are written before the next call.
    if (bytes.length > 0) await mp3.writeFile(bytes);
    written += bytes.length;
  };
  for (;;) {
    const { bytesRead } = await wav.read(block, 0, block.length, position);
    const frames = Math.floor(bytesRead / (channels * 2));
    if (frames === 0) break;
    position += frames * channels * 2;
    await write(encoder.encode(deinterleave(block, frames, channels)));
  }
  await write(encoder.finalize());
  return written;
}

function deinterleave(block: Uint8Array, frames: number, channels: number): Float32Array[] {
  const view = new DataView(block.buffer, block.byteOffset);
  return Array.from({ length: channels }, (_, channel) =>
    Float32Array.from(
      { length: frames },
      (_unused, i) => view.getInt16((i * channels + channel) * 2, true) / 32768,
    ),
  );
}
