/** Files, voices and recordings of the simulated world: tones named by URL, speech as a tone, files in a folder. */
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { err, ok } from '../../src/base/result.ts';
import type {
  AudioLibrary,
  Pcm,
  RecordingEncoder,
  Synthesizer,
} from '../../src/domain/call/needs.ts';
import type { RecordingFolder } from '../../src/domain/interpreter/interpreter.ts';
import { openWav } from '../../src/protocol/audio-file/audio-file.ts';
import { l16, sine } from '../edge/media/peer.ts';
import type { SimClock } from './clock.ts';

const FETCH_MS = 35;
const SYNTHESIS_MS = 25;
/** Tone that represents speech; its duration depends on the number of letters. */
export const VOICE_HZ = 530;
const LETTER_MS = 40;

/** URL of a file with a tone of `hz` for `ms`. */
export const toneFile = (hz: number, ms: number): string =>
  `https://files.test/tone-${hz}-${ms}.wav`;

const tone = (hz: number, ms: number): Pcm => ({
  rate: 8000,
  samples: l16(sine(hz, Math.round(ms * 8))),
});

/** Tone that a party on hold hears. */
export const HOLD_MUSIC_HZ = 1100;
export const HOLD_MUSIC = tone(HOLD_MUSIC_HZ, 2000);

/** Library that contains only tones; other URLs return 404. */
export const simAudio = (clock: SimClock): AudioLibrary => ({
  async load(url, { signal } = {}) {
    const [, hz, ms] = /tone-(\d+)-(\d+)\.wav$/.exec(url) ?? [];
    try {
      await clock.sleep(FETCH_MS, signal);
    } catch {
      return err({ kind: 'aborted', detail: 'aborted' });
    }
    if (hz === undefined) return err({ kind: 'httpStatus', detail: 'HTTP status 404' });
    return ok(tone(Number(hz), Number(ms)));
  },
});

/** Synthesizes each text in two chunks. */
export const simSpeech = (clock: SimClock): Synthesizer => ({
  async *speak({ text }, { signal } = {}) {
    for (let piece = 0; piece < 2; piece += 1) {
      try {
        await clock.sleep(SYNTHESIS_MS, signal);
      } catch {
        yield err({ kind: 'aborted', detail: 'aborted' });
        return;
      }
      yield ok(tone(VOICE_HZ, (text.length * LETTER_MS) / 2));
    }
  },
});

/** An MP3 file is the WAV file under another name. */
export const simEncoder: RecordingEncoder = {
  encodeMp3(wavPath, mp3Path) {
    copyFileSync(wavPath, mp3Path);
    return Promise.resolve(ok({ bytes: statSync(mp3Path).size }));
  },
};

/** A folder with synchronous operations, because virtual time does not wait for a disk. */
export const simFolder = (folder: string): RecordingFolder => ({
  prepare(file) {
    const path = join(folder, file);
    mkdirSync(dirname(path), { recursive: true });
    return Promise.resolve(path);
  },
  synced: (file) => Promise.resolve(statSync(join(folder, file), { throwIfNoEntry: false })?.size),
  repairWav(file) {
    const path = join(folder, file);
    if (!existsSync(path)) return Promise.resolve(undefined);
    const wav = openWav(readFileSync(path));
    if (!wav.ok) return Promise.resolve(undefined);
    const { rate, channels, dataOffset } = wav.value;
    const samples = (statSync(path).size - dataOffset) / (channels * 2);
    return Promise.resolve(samples < 1 ? undefined : Math.floor((samples * 1000) / rate));
  },
  remove(file) {
    rmSync(join(folder, file), { force: true });
    return Promise.resolve();
  },
});
