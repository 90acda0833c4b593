import { type FileHandle, mkdir, open, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { RecordingFolder } from '../domain/interpreter/interpreter.ts';
import type { RecordingFiles } from '../domain/recording/needs.ts';
import { openWav } from '../protocol/audio-file/audio-file.ts';

/** Size of the file head to read. Contains everything before the samples of a recording. */
const HEAD_BYTES = 4096;
const BYTES_PER_SAMPLE = 2;
/** Position of the file's size in its header, and bytes before the part of which it is the size. */
const RIFF_SIZE_AT = 4;
const RIFF_HEAD_BYTES = 8;
const SIZE_BYTES = 4;
/** Limit of the 32-bit sizes of RIFF. */
const MAX_DATA_BYTES = 0xffff_ffff - HEAD_BYTES;

/** Returns the recordings of a folder. Names are relative to it. */
export function localRecordingFiles(folder: string): RecordingFiles & RecordingFolder {
  return {
    async prepare(file) {
      const path = join(folder, file);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      return path;
    },
    async synced(file) {
      const path = join(folder, file);
      const found = await stat(path).catch(() => undefined); // does not exist
      if (found === undefined) return undefined;
      await sync(path);
      await sync(dirname(path)).catch(() => undefined); // some file systems cannot sync a folder
      return found.size;
    },
    async repairWav(file) {
      try {
        return await repairWav(join(folder, file));
      } catch (error) {
        // Other failures, such as too many open files, may be temporary.
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
    },
    remove: (file) => rm(join(folder, file), { force: true }),
  };
}

async function sync(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

async function repairWav(path: string): Promise<number | undefined> {
  const file = await open(path, 'r+');
  try {
    const head = new Uint8Array(HEAD_BYTES);
    const { bytesRead } = await file.read(head, 0, HEAD_BYTES, 0);
    const wav = openWav(head.subarray(0, bytesRead));
    if (!wav.ok) return undefined;
    const { rate, channels, dataOffset } = wav.value;
    const frameBytes = channels * BYTES_PER_SAMPLE;
    const samples = Math.floor(((await file.stat()).size - dataOffset) / frameBytes);
    if (samples < 1) return undefined;
    const dataBytes = Math.min(samples * frameBytes, MAX_DATA_BYTES);
    await writeSize(file, RIFF_SIZE_AT, dataOffset - RIFF_HEAD_BYTES + dataBytes);
    await writeSize(file, dataOffset - SIZE_BYTES, dataBytes);
    return Math.floor((samples * 1000) / rate);
  } finally {
    await file.close();
  }
}

async function writeSize(file: FileHandle, at: number, size: number): Promise<void> {
  const bytes = new Uint8Array(SIZE_BYTES);
  new DataView(bytes.buffer).setUint32(0, size, true);
  await file.write(bytes, 0, SIZE_BYTES, at);
}
