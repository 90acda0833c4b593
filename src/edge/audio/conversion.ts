/** Messages to and from the conversion threads. */
import type { LineRate } from '../../domain/call/needs.ts';

export interface DecodeJob {
  readonly kind: 'decode';
  /** A complete WAV or MP3 file. */
  readonly bytes: Uint8Array;
  /** Output rate. A lower rate is used if it holds all of the file's content. */
  readonly rate: LineRate;
  readonly maxMs: number;
}

export interface EncodeJob {
  readonly kind: 'encodeMp3';
  readonly wavPath: string;
  readonly mp3Path: string;
}

/** Path of the file while it is written. */
export const partOf = ({ mp3Path }: EncodeJob): string => `${mp3Path}.part`;

/** Loads the code that the first job would otherwise wait for. */
interface WarmJob {
  readonly kind: 'warm';
}

export type Job = DecodeJob | EncodeJob | WarmJob;

export type JobFailureKind = 'tooLarge' | 'notAudio' | 'busy' | 'failed';

export type JobReply =
  | { readonly kind: 'decoded'; readonly rate: LineRate; readonly samples: Uint8Array }
  | { readonly kind: 'warmed' }
  | { readonly kind: 'encoded'; readonly bytes: number }
  | { readonly kind: 'failed'; readonly failure: JobFailureKind; readonly detail: string };

/** An expected failure of a conversion. */
export class ConversionError extends Error {
  readonly failure: JobFailureKind;

  constructor(failure: JobFailureKind, message: string) {
    super(message);
    this.name = 'ConversionError';
    this.failure = failure;
  }
}
