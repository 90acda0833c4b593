import { mkdir, open, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { RecordingFolder } from '../domain/interpreter/interpreter.ts';
import type { RecordingFiles } from '../domain/recording/needs.ts';
import { openWav } from '../protocol/audio-file/audio-file.ts';

/** Size of the file head to read. Contains everything before the samples of a recording. */
const HEAD_BYTES = 4096;
const BYTES_PER_SAMPLE = 2;

/** Returns the recordings of a folder. Names are relative to it. */
export function localRecordingFiles(folder: string): RecordingFiles & RecordingFolder {
  return {
    async prepare(file) {
      const path = join(folder, file);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      return path;
    },
    async size(file) {
      try {
        return (await stat(join(folder, file))).size;
      } catch {
        return undefined; // does not exist
      }
    },
    async wavDurationMs(file) {
      try {
        return await measureWav(join(folder, file));
      } catch {
        return undefined; // does not exist
      }
    },
    remove: (file) => rm(join(folder, file), { force: true }),
  };
}

/** Measures a WAV by its file size, because after a crash the header may state less than was written. */
async function measureWav(path: string): Promise<number | undefined> {
  const file = await open(path, 'r');
  try {
    const head = new Uint8Array(HEAD_BYTES);
    const { bytesRead } = await file.read(head, 0, HEAD_BYTES, 0);
    const wav = openWav(head.subarray(0, bytesRead));
    if (!wav.ok) return undefined;
    const { rate, channels, dataOffset } = wav.value;
    const samples = ((await file.stat()).size - dataOffset) / (channels * BYTES_PER_SAMPLE);
    return samples < 1 ? undefined : Math.floor((samples * 1000) / rate);
  } finally {
    await file.close();
  }
}
