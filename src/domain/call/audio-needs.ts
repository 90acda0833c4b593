/** Ports for audio: customers' audio files, speech synthesis and MP3 encoding of recordings. */

import type { Result } from '../../base/result.ts';
import type { AudioRate } from '../../protocol/sdp/sdp.ts';

/** Sample rates of legs and rooms, in Hz. */
export type LineRate = AudioRate;

/** Mono PCM: little-endian int16 samples at `rate` Hz. */
export interface Pcm {
  readonly rate: LineRate | 44100;
  readonly samples: Uint8Array;
}

export type AudioProblemKind =
  /** The scheme or address of the URL is not allowed. */
  | 'refused'
  /** The connection failed, broke or exceeded the time limit. */
  | 'unreachable'
  /** The server answered with a status other than 200. */
  | 'httpStatus'
  /** The file exceeds the limit in bytes or seconds. */
  | 'tooLarge'
  /** The file is not WAV or MP3, or is too damaged to play. */
  | 'notAudio'
  /** Too many fetches or conversions are running. */
  | 'busy'
  /** The conversion failed for another reason: disk, time limit or shutdown. */
  | 'failed'
  | 'aborted';

export interface AudioProblem {
  readonly kind: AudioProblemKind;
  /** Problem description in plain words, for the call's log. */
  readonly detail: string;
}

export interface SoundOptions {
  /** Sample rate of the listener, in Hz; the result never exceeds it. Default: 8000. */
  readonly rate?: LineRate;
  readonly signal?: AbortSignal;
}

export interface AudioLibrary {
  /**
   * Loads a customer's WAV or MP3 file as mono PCM. The result has the requested rate, or a lower one that keeps the
   * file's full bandwidth. All calls that request the same URL and rate share one fetch and one decoding. Never
   * rejects.
   */
  load(url: string, preference?: SoundOptions): Promise<Result<Pcm, AudioProblem>>;
}

interface EncodedRecording {
  readonly bytes: number;
}

export interface RecordingEncoder {
  /**
   * Converts a WAV recording to MP3. Both paths are absolute. The MP3 file appears complete or not at all. Never
   * rejects.
   */
  encodeMp3(wavPath: string, mp3Path: string): Promise<Result<EncodedRecording, AudioProblem>>;
}

/** Speech to synthesize, as given by a `Speak` element. */
export interface SpeechRequest {
  /** Plain text without markup. */
  readonly text: string;
  /** Well-formed SSML without its `speak` root, or undefined if the element has plain text only. */
  readonly ssml: string | undefined;
  /** Voice: WOMAN, MAN or the name of a Polly voice. */
  readonly voice: string;
  /** BCP 47 language tag, e.g. en-US. */
  readonly language: string;
}

export type SpeechProblemKind =
  /** This machine has no synthesizer, or none for the language. */
  | 'unavailable'
  /** The text exceeds the length limit. */
  | 'tooLong'
  /** The synthesizer failed or timed out. */
  | 'failed'
  /** The queue of requests is full. */
  | 'busy'
  | 'aborted';

export interface SpeechProblem {
  readonly kind: SpeechProblemKind;
  readonly detail: string;
}

export interface Synthesizer {
  /**
   * Returns the speech as consecutive pieces at the requested rate. Each next piece is synthesized while the previous
   * one plays. A problem is the last item. Text without speech yields no items. Never throws.
   */
  speak(
    request: SpeechRequest,
    preference?: SoundOptions,
  ): AsyncIterable<Result<Pcm, SpeechProblem>>;
}
