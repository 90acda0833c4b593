/** What the conversion threads are asked and answer. */
import type { LineRate } from '../../domain/call/needs.ts';

export interface DecodeJob {
  readonly kind: 'decode';
  /** A whole WAV or MP3 file. */
  readonly bytes: Uint8Array;
  /** Of what comes back, unless a lower one holds all of the file. */
  readonly rate: LineRate;
  readonly maxMs: number;
}

export interface EncodeJob {
  readonly kind: 'encodeMp3';
  readonly wavPath: string;
  readonly mp3Path: string;
}

/** Loads what the first real job would have to wait for. */
export interface WarmJob {
  readonly kind: 'warm';
}

export type Job = DecodeJob | EncodeJob | WarmJob;

export type JobFailureKind = 'tooLarge' | 'notAudio' | 'busy' | 'failed';

export type JobReply =
  | { readonly kind: 'decoded'; readonly rate: LineRate; readonly samples: Uint8Array }
  | { readonly kind: 'warmed' }
  | { readonly kind: 'encoded'; readonly bytes: number }
  | { readonly kind: 'failed'; readonly failure: JobFailureKind; readonly detail: string };

/** Expected failures inside a conversion. */
export class ConversionError extends Error {
  readonly failure: JobFailureKind;

  constructor(failure: JobFailureKind, message: string) {
    super(message);
    this.name = 'ConversionError';
    this.failure = failure;
  }
}
