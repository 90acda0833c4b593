/** Audio of the scripted callers: spoken by espeak-ng or read from WAV files. All of it is prepared before any call. */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { FileFaults } from '../config/checked-file.ts';
import { processRunner } from '../edge/speech/process.ts';
import { convertRate, readWav, type Sound } from '../phone/audio/wav.ts';
import type { Rehearsal, Step } from './rehearsal-file.ts';

/** Sounds of one rehearsal at the stream's rate, by key. */
export type Voices = ReadonlyMap<string, Int16Array>;

const run = processRunner({ timeLimitMs: 20_000, maxOutputBytes: 64 * 1024 * 1024 });

export const keyOf = ({ say, play }: Pick<Step, 'say' | 'play'>): string =>
  say === undefined ? `file ${play}` : `text ${say}`;

/** @throws FileFaults if a sound cannot be made */
export async function prepareVoices(rehearsal: Rehearsal, rate: number): Promise<Voices> {
  const voices = new Map<string, Int16Array>();
  const faults: string[] = [];
  for (const [index, step] of rehearsal.steps.entries()) {
    const spoken = step.interrupt ?? step;
    if (spoken.say === undefined && spoken.play === undefined) continue;
    const key = keyOf(spoken);
    if (voices.has(key)) continue;
    const sound = await soundOf(spoken, rehearsal);
    if (typeof sound === 'string') faults.push(`${rehearsal.file}: steps[${index}]: ${sound}`);
    else voices.set(key, convertRate(sound, rate));
  }
  if (faults.length > 0) throw new FileFaults(faults);
  return voices;
}

async function soundOf(
  { say, play }: Pick<Step, 'say' | 'play'>,
  { file, voice }: Rehearsal,
): Promise<Sound | string> {
  if (say !== undefined) {
    const spoken = await run('espeak-ng', ['--stdout', '--stdin', '-v', voice], say);
    if (!spoken.ok)
      return spoken.error.kind === 'absent'
        ? 'say needs espeak-ng: sudo apt-get install espeak-ng, or use play'
        : `espeak-ng failed: ${spoken.error.detail}`;
    return trimmed(read(withLength(spoken.value)));
  }
  try {
    return read(readFileSync(resolve(dirname(file), play ?? '')));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** espeak-ng does not know the length when it writes the header to a pipe. */
function withLength(bytes: Uint8Array): Uint8Array {
  const copy = Buffer.from(bytes);
  if (copy.length >= 44) copy.writeUInt32LE(copy.length - 44, 40);
  return copy;
}

function read(bytes: Uint8Array): Sound | string {
  const sound = readWav(bytes);
  return sound.ok ? sound.value : sound.error;
}

const QUIET = 200;

/** Removes silence at both ends, so that latency counts from the last word. */
function trimmed(sound: Sound | string): Sound | string {
  if (typeof sound === 'string') return sound;
  const { rate, samples } = sound;
  const isLoud = (sample: number): boolean => Math.abs(sample) > QUIET;
  const first = samples.findIndex(isLoud);
  return first < 0
    ? sound
    : { rate, samples: samples.slice(first, samples.findLastIndex(isLoud) + 1) };
}
