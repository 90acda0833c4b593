/** Plays audio files, speech and tones on a call's leg or in a room, until done or aborted. */

import { unlessAborted } from '../../base/abort.ts';
import type { CallLogKind } from '../call/call.ts';
import type {
  AudioLibrary,
  MediaLeg,
  Pcm,
  Playback,
  SpeechRequest,
  Synthesizer,
  Tone,
} from '../call/needs.ts';

/** Audio destination with a log for failures: a `Call`, or a room with a log. */
export interface Listener {
  readonly media: Pick<MediaLeg, 'play' | 'playTone' | 'rate'>;
  readonly log: {
    add(kind: CallLogKind, text: string, facts?: Readonly<Record<string, unknown>>): void;
  };
}

export interface SoundOptions {
  /** Stops the sound; the function then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Repetitions; default 1, 0 = until aborted. */
  readonly loop?: number;
  /** True mixes the sound over other audio. False (default) replaces the far end. */
  readonly mix?: boolean;
  /** True mutes all other audio, including bots. */
  readonly alone?: boolean;
}

/**
 * Plays a WAV or MP3 file. Returns false if it cannot be loaded; the failure is logged (dialect §2.1 Play: skipped, the
 * call continues).
 */
export async function playTo(
  listener: Listener,
  needs: { readonly audio: AudioLibrary },
  url: string,
  options: SoundOptions,
): Promise<boolean> {
  const { signal } = options;
  const { rate } = listener.media;
  const loaded = await unlessAborted(signal, needs.audio.load(url, { rate, signal }));
  if (!loaded.ok) {
    listener.log.add('warning', 'audio file cannot be played', { url, ...loaded.error });
    return false;
  }
  const playback = listener.media.play(loaded.value, playOptions(options));
  await untilReceived(playback, signal);
  return true;
}

/** Speaks plain text of the service with the default voice of `Speak`. Returns false if synthesis fails. */
export const sayTo = (
  listener: Listener,
  needs: { readonly speech: Synthesizer },
  text: string,
  options: SoundOptions,
): Promise<boolean> =>
  speakTo(listener, needs, { text, ssml: undefined, voice: 'WOMAN', language: 'en-US' }, options);

/**
 * Speaks a text; each next piece is synthesized while the previous one plays. Returns false if synthesis fails; the
 * failure is logged (dialect §2.1 Speak: a warning, the call continues).
 */
export async function speakTo(
  listener: Listener,
  needs: { readonly speech: Synthesizer },
  request: SpeechRequest,
  options: SoundOptions,
): Promise<boolean> {
  const { loop = 1 } = options;
  const pieces: Pcm[] = [];
  const first = await speakOnce(listener, needs.speech, request, options, pieces);
  if (first !== 'completed' || pieces.length === 0) return first !== 'failed';
  for (let round = 1; loop === 0 || round < loop; round += 1) {
    for (const piece of pieces) {
      const playback = listener.media.play(piece, playOptions({ ...options, loop: 1 }));
      if ((await untilReceived(playback, options.signal)) === 'stopped') return true;
    }
  }
  return true;
}

/** Speaks the text once and collects the audio in `pieces`, so that repetitions need no synthesis. */
async function speakOnce(
  listener: Listener,
  speech: Synthesizer,
  request: SpeechRequest,
  options: SoundOptions,
  pieces: Pcm[],
): Promise<'completed' | 'stopped' | 'failed'> {
  const { signal } = options;
  const { rate } = listener.media;
  const iterator = speech.speak(request, { rate, signal })[Symbol.asyncIterator]();
  try {
    let upcoming = iterator.next();
    for (;;) {
      const step = await unlessAborted(signal, upcoming);
      if (step.done === true) return 'completed';
      if (!step.value.ok) {
        listener.log.add('warning', 'text cannot be spoken', { ...step.value.error });
        return 'failed';
      }
      upcoming = iterator.next();
      pieces.push(step.value.value);
      const playback = listener.media.play(step.value.value, playOptions({ ...options, loop: 1 }));
      if ((await untilReceived(playback, signal)) === 'stopped') return 'stopped';
    }
  } finally {
    // Not awaited: the signal ends a running synthesis.
    void iterator.return?.();
  }
}

export async function toneTo(
  listener: Pick<Listener, 'media'>,
  tone: Tone,
  options: SoundOptions,
): Promise<void> {
  options.signal.throwIfAborted();
  await untilReceived(listener.media.playTone(tone, playOptions(options)), options.signal);
}

/** Waits for the end of a playback. 'stopped' without an abort: a newer playback took the leg's last slot. */
async function untilReceived(
  playback: Playback,
  signal: AbortSignal,
): Promise<'completed' | 'stopped'> {
  try {
    return await unlessAborted(signal, playback.finished);
  } finally {
    playback.stop();
  }
}

const playOptions = ({ loop = 1, mix = false, alone = false }: SoundOptions) => ({
  loop,
  mix,
  alone,
});
