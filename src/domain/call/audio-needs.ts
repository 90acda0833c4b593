/** What calls need to be heard: audio files of customers, speech from text, recordings made small. */
import type { Result } from '../../base/result.ts';

/** Rates at which legs and rooms work, Hz. */
export type LineRate = 8000 | 16000 | 24000 | 48000;

/** Mono PCM as little-endian int16 bytes at `rate` Hz. */
export interface Pcm {
  readonly rate: LineRate | 44100;
  readonly samples: Uint8Array;
}

export type AudioProblemKind =
  /** The URL may not be fetched: scheme, address. */
  | 'refused'
  /** No connection, connection broken, or no end within the time limit. */
  | 'unreachable'
  /** An answer other than 200. */
  | 'httpStatus'
  /** More bytes, or more seconds, than allowed. */
  | 'tooLarge'
  /** Neither WAV nor MP3, or broken beyond playing. */
  | 'notAudio'
  /** Too many fetches or conversions under way. */
  | 'busy'
  /** The conversion failed for another reason: disk, time limit, shutdown. */
  | 'failed'
  | 'aborted';

export interface AudioProblem {
  readonly kind: AudioProblemKind;
  /** In plain words, for the call's log. */
  readonly detail: string;
}

export interface SoundWish {
  /** Of whoever will hear it: nothing above its band is made. 8000 by default. */
  readonly rate?: LineRate;
  readonly signal?: AbortSignal;
}

export interface AudioLibrary {
  /**
   * A WAV or MP3 file of a customer as mono PCM, at the wished rate, or at a lower one that holds all of the file. Fetched
   * and decoded once for all calls that want it at that rate. Never rejects.
   */
  load(url: string, wish?: SoundWish): Promise<Result<Pcm, AudioProblem>>;
}

export interface EncodedRecording {
  readonly bytes: number;
}

export interface RecordingEncoder {
  /** Makes an MP3 of a WAV recording; both paths absolute. The MP3 appears complete or not at all. Never rejects. */
  encodeMp3(wavPath: string, mp3Path: string): Promise<Result<EncodedRecording, AudioProblem>>;
}

/** What to say, as the `Speak` instruction has it. */
export interface SpeechRequest {
  /** The words alone. */
  readonly text: string;
  /** The content as well-formed SSML without its `speak` root, where it has any. */
  readonly ssml: string | undefined;
  /** WOMAN, MAN or a Polly voice. */
  readonly voice: string;
  /** BCP 47, e.g. en-US. */
  readonly language: string;
}

export type SpeechProblemKind =
  /** No synthesizer on this machine, or none for the language. */
  | 'unavailable'
  /** More text than allowed. */
  | 'tooLong'
  /** The synthesizer failed or took too long. */
  | 'failed'
  /** Too many requests wait. */
  | 'busy'
  | 'aborted';

export interface SpeechProblem {
  readonly kind: SpeechProblemKind;
  readonly detail: string;
}

export interface Synthesizer {
  /**
   * The speech in pieces to be played one after the other, at the wished rate. The first comes soon, the next while it plays. After a problem
   * nothing follows. No pieces at all: there was nothing to say. Never throws.
   */
  speak(request: SpeechRequest, wish?: SoundWish): AsyncIterable<Result<Pcm, SpeechProblem>>;
}
