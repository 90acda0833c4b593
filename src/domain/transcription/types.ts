import type { AccountId, CallUuid, RecordingId } from '../../base/ids.ts';
import type { Micros } from '../../base/money.ts';
import type { CallbackTarget } from '../callback/types.ts';

/** A transcription: requested when its recording starts, run once the file is complete, then charged and reported. */
export interface Transcription {
  readonly transcriptionId: string;
  readonly recordingId: RecordingId;
  readonly accountId: AccountId;
  /** Sub-account that owns the call, or undefined for the main account. */
  readonly subAccount: AccountId | undefined;
  readonly callUuid: CallUuid | undefined;
  /** Ordering key of its callback: the call or the conference. */
  readonly subject: string;
  /** BCP 47 language tag. */
  readonly language: string;
  readonly currency: string;
  /** Callback URL. Undefined if there is no callback. */
  readonly target: CallbackTarget | undefined;
  readonly status: 'waiting' | 'ready' | 'failed';
  /** Recognized text, or '' until it is ready. */
  readonly text: string;
  /** Reason of a failure, in plain words. */
  readonly error: string | undefined;
  /** Length of the recognized audio, in milliseconds. */
  readonly durationMs: number;
  /** Amount charged, and the price per minute. */
  readonly charge: Micros;
  readonly perMinute: Micros;
  readonly createdUs: number;
  readonly endedUs: number | undefined;
}

export type TranscriptionPatch = {
  readonly [Key in
    | 'status'
    | 'text'
    | 'error'
    | 'durationMs'
    | 'charge'
    | 'perMinute'
    | 'endedUs']?: Transcription[Key];
};

/** Request in `Record` and in the REST interface. */
export interface TranscriptionRequest {
  /** Language tag. Undefined selects the service's language. */
  readonly language?: string | undefined;
  readonly callback: CallbackTarget | undefined;
}
