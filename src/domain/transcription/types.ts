import type { AccountId, CallUuid, RecordingId } from '../../base/ids.ts';
import type { Micros } from '../../base/money.ts';
import type { CallbackTarget } from '../callback/types.ts';

/** Words of a recording: asked for when it begins, made once its file stands, charged, told. */
export interface Transcription {
  readonly transcriptionId: string;
  readonly recordingId: RecordingId;
  readonly accountId: AccountId;
  /** Whose call it is of, when not the main account's own. */
  readonly subAccount: AccountId | undefined;
  readonly callUuid: CallUuid | undefined;
  /** What its callback is ordered by: the call, or the conference. */
  readonly subject: string;
  /** BCP 47. */
  readonly language: string;
  readonly currency: string;
  /** Who is told; undefined: nobody. */
  readonly target: CallbackTarget | undefined;
  readonly status: 'waiting' | 'ready' | 'failed';
  /** '' until it is ready. */
  readonly text: string;
  /** Why it failed, in plain words. */
  readonly error: string | undefined;
  /** Length of what was recognised. */
  readonly durationMs: number;
  /** What it cost, and the price of a minute. */
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

/** As `Record` and the REST interface ask for it. */
export interface TranscriptionRequest {
  /** Undefined: the language of the service. */
  readonly language?: string | undefined;
  readonly callback: CallbackTarget | undefined;
}
