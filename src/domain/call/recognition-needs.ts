/** Words from speech: of a caller as he speaks, and of recordings. */
import type { Result } from '../../base/result.ts';

/** How speech is to be understood, as `GetInput` has it (dialect §2.1). */
export interface RecognitionRequest {
  /** BCP 47, e.g. en-US. */
  readonly language: string;
  readonly model: 'default' | 'command_and_search' | 'phone_call';
  /** Phrases that are likely. */
  readonly hints: readonly string[];
  /** Rude words are shown by their first letter alone. */
  readonly profanityFilter: boolean;
}

export interface Transcript {
  /** '' when nothing was understood. */
  readonly text: string;
  /** 0 to 1; undefined where the recogniser does not say. */
  readonly confidence: number | undefined;
  /** Length of the audio that was recognised. */
  readonly durationMs: number;
}

export type RecognitionProblemKind =
  /** No recogniser is set up, or none for the language. */
  | 'unavailable'
  /** It failed, could not be reached, or took too long. */
  | 'failed'
  /** Too many are listened to. */
  | 'busy'
  | 'aborted';

export interface RecognitionProblem {
  readonly kind: RecognitionProblemKind;
  /** In plain words, for the call's log and for callbacks. Without addresses and keys. */
  readonly detail: string;
}

/** What has been understood so far: what will hardly change, and what may. */
export interface InterimTranscript {
  readonly stable: string;
  readonly unstable: string;
  /** 0 to 1: how likely it is that the words stay. */
  readonly stability: number;
}

export interface ListenOptions extends RecognitionRequest {
  /** Silence that ends the speech. */
  readonly endSilenceMs: number;
  /** Of one utterance. */
  readonly maxMs: number;
  /** The caller has begun to speak; at most once. */
  readonly speaking: () => void;
  /** Undefined: nobody wants to know. */
  readonly interim: ((words: InterimTranscript) => void) | undefined;
}

/** One utterance of one caller. */
export interface Listening {
  /** What was said, once it is over. Never rejects, and does not settle while nothing is said. */
  readonly heard: Promise<Result<Transcript, RecognitionProblem>>;
  /** `heard` comes to 'aborted', where it has not settled. */
  stop(): void;
}
