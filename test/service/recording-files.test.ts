import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { localRecordingFiles } from '../../src/service/recording-files.ts';
import { changesOf, powerLossMissing } from '../crash/power-loss.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'recordings-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** A WAV of 16-bit samples at 8 kHz whose header states `reported` bytes of audio and that contains `written`. */
function wav(channels: number, reported: number, written: number): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + reported, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(8000, 24);
  header.writeUInt32LE(16_000 * channels, 28);
  header.writeUInt16LE(2 * channels, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(reported, 40);
  return Buffer.concat([header, Buffer.alloc(written)]);
}

describe('the folder of recordings', () => {
  it('creates the folder of an account, readable by the owner only, and names files in it', async () => {
    const files = localRecordingFiles(folder);
    const path = await files.prepare('MA_ONE/r1.wav');
    expect(path).toBe(join(folder, 'MA_ONE', 'r1.wav'));
    expect((await stat(join(folder, 'MA_ONE'))).mode & 0o777).toBe(0o700);
    expect(await files.synced('MA_ONE/r1.wav')).toBeUndefined();
    await writeFile(path, 'abc');
    expect(await files.synced('MA_ONE/r1.wav')).toBe(3);
    await files.remove('MA_ONE/r1.wav');
    await files.remove('MA_ONE/r1.wav');
    expect(await files.synced('MA_ONE/r1.wav')).toBeUndefined();
  });

  it.skipIf(powerLossMissing !== undefined)(
    'syncs a file before its size is known (needs cc)',
    () => {
      const recordings = join(folder, 'recordings');
      const program = `
      import { writeFile } from 'node:fs/promises';
      import { localRecordingFiles } from './src/service/recording-files.ts';
      const files = localRecordingFiles('${recordings}');
      await writeFile(await files.prepare('MA_ONE/r1.wav'), 'abc');
      await files.synced('MA_ONE/r1.wav');`;
      expect(changesOf(program, recordings, folder)).toEqual([
        ...['write /MA_ONE/r1.wav', 'sync /MA_ONE/r1.wav', 'sync /MA_ONE'],
      ]);
    },
  );

  it('repairs the header of a WAV after a crash, and measures its samples', async () => {
    const files = localRecordingFiles(folder);
    await writeFile(await files.prepare('mono.wav'), wav(1, 16_000, 32_000));
    await writeFile(await files.prepare('stereo.wav'), wav(2, 0, 32_000));
    // A crash within the write of a sample.
    await writeFile(await files.prepare('torn.wav'), wav(2, 0, 32_003));
    await writeFile(await files.prepare('empty.wav'), wav(1, 0, 0));
    await writeFile(await files.prepare('other.wav'), 'not audio');
    expect(await files.repairWav('mono.wav')).toBe(2000);
    expect(await files.repairWav('stereo.wav')).toBe(1000);
    expect(await files.repairWav('torn.wav')).toBe(1000);
    for (const name of ['mono.wav', 'stereo.wav', 'torn.wav']) {
      const bytes = await readFile(join(folder, name));
      expect([bytes.readUInt32LE(4), bytes.readUInt32LE(40)]).toEqual([32_036, 32_000]);
      expect(bytes.subarray(8, 40)).toEqual(wav(name === 'mono.wav' ? 1 : 2, 0, 0).subarray(8, 40));
    }
    expect(await files.repairWav('empty.wav')).toBeUndefined();
    expect(await files.repairWav('other.wav')).toBeUndefined();
    expect(await files.repairWav('none.wav')).toBeUndefined();
    await mkdir(join(folder, 'unreadable.wav'));
    await expect(files.repairWav('unreadable.wav')).rejects.toThrow('EISDIR');
  });
});
