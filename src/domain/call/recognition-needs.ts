/** Ports for speech recognition, of live callers and of recordings. */
import type { Result } from '../../base/result.ts';

/** Recognition parameters of a `GetInput` element (dialect §2.1). */
export interface RecognitionRequest {
  /** BCP 47 language tag, e.g. en-US. */
  readonly language: string;
  readonly model: 'default' | 'command_and_search' | 'phone_call';
  /** Phrases that the speaker is likely to use. */
  readonly hints: readonly string[];
  /** True masks profanity except for its first letter. */
  readonly profanityFilter: boolean;
}

export interface Transcript {
  /** Recognized words; '' if none were recognized. */
  readonly text: string;
  /** Confidence from 0 to 1; undefined if the recognizer gives none. */
  readonly confidence: number | undefined;
  /** Length of the recognized audio, in ms. */
  readonly durationMs: number;
}

export type RecognitionProblemKind =
  /** No recognizer is configured, or none for the language. */
  | 'unavailable'
  /** The recognizer failed, was unreachable or timed out. */
  | 'failed'
  /** Too many recognitions are running. */
  | 'busy'
  | 'aborted';

export interface RecognitionProblem {
  readonly kind: RecognitionProblemKind;
  /** Problem description in plain words for the call's log and callbacks, without addresses and keys. */
  readonly detail: string;
}

/** Interim result: words that are nearly final, and words that may still change. */
export interface InterimTranscript {
  readonly stable: string;
  readonly unstable: string;
  /** Probability from 0 to 1 that the words stay unchanged. */
  readonly stability: number;
}

export interface ListenOptions extends RecognitionRequest {
  /** Silence that ends the utterance, in ms. */
  readonly endSilenceMs: number;
  /** Maximum length of one utterance, in ms. */
  readonly maxMs: number;
  /** Called at most once, when the caller begins to speak. */
  readonly speaking: () => void;
  /** Receives interim results; undefined if they are not needed. */
  readonly interim: ((words: InterimTranscript) => void) | undefined;
}

/** Recognition of one utterance. */
export interface Listening {
  /** Result of the utterance. Never rejects, and does not settle before speech has ended. */
  readonly received: Promise<Result<Transcript, RecognitionProblem>>;
  /** Stops the recognition: `received` settles with 'aborted' if it is still pending. */
  stop(): void;
}
