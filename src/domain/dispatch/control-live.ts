/** Running calls as a REST client sees them, and what it may do to one. */
import type { AccountId, CallUuid, RecordingId, RequestUuid, StreamId } from '../../base/ids.ts';
import type { CallbackTarget } from '../callback/types.ts';
import type { CallDirection } from '../cdr/types.ts';
import type { Destination } from './control-placing.ts';

export interface LiveCall {
  readonly callUuid: CallUuid;
  readonly requestUuid: RequestUuid | undefined;
  readonly accountId: AccountId;
  readonly subAccount: AccountId | undefined;
  readonly direction: CallDirection;
  readonly status: 'queued' | 'ringing' | 'in-progress';
  readonly from: string;
  readonly to: string;
  readonly callerName: string;
  readonly startUs: number;
  readonly answerUs: number | undefined;
  readonly stirVerification: string;
  readonly stirAttestation: string;
  /** Hosts of the bots that it talks to. */
  readonly bots: readonly string[];
}

/** `notFound`: unknown, ended, or of another account. */
export type ControlRefusal =
  | {
      readonly kind: 'notFound';
      readonly what: 'call' | 'conference' | 'member' | 'stream' | 'recording';
    }
  /** The call is not in a state for it: not answered yet, no B leg, already recording … `detail` says which. */
  | { readonly kind: 'wrongState'; readonly detail: string }
  | { readonly kind: 'tooMany'; readonly limit: number }
  /** The balance, or the daily spend limit, does not cover its first pulse. */
  | { readonly kind: 'insufficientFunds' | 'dailySpendLimit' }
  /** The account or the other end may not do that. */
  | { readonly kind: 'notAllowed'; readonly detail: string }
  /** `ws://` where only encrypted streams are allowed. */
  | { readonly kind: 'insecureStream' }
  /** A part that this node does not have (for example no synthesizer). */
  | { readonly kind: 'notAvailable'; readonly detail: string };

export type LegChoice = 'aleg' | 'bleg' | 'both';

export interface TransferRequest {
  readonly legs: LegChoice;
  readonly aleg: CallbackTarget | undefined;
  readonly bleg: CallbackTarget | undefined;
}

/** The other end is asked to call somebody else itself (REFER). */
export interface ReferWish {
  readonly destination: Destination;
  /** To the outcome. */
  readonly timeoutMs: number;
  /** Told the outcome. */
  readonly callback: CallbackTarget | undefined;
}

export interface RecordRequest {
  readonly maxMs: number;
  readonly format: 'mp3' | 'wav';
  readonly channels: 'mono' | 'stereo';
  readonly callback: CallbackTarget | undefined;
  /** Its words are wanted too. */
  readonly transcription?: { readonly callback: CallbackTarget | undefined } | undefined;
}
export interface StartedRecording {
  readonly recordingId: RecordingId;
  /** Where the file can be fetched once it is complete. */
  readonly url: string;
}

export interface PlayRequest {
  /** Fetched and played one after the other. */
  readonly urls: readonly string[];
  /** After which it stops. */
  readonly lengthMs: number;
  readonly legs: LegChoice;
  readonly loop: boolean;
  readonly mix: boolean;
}
export interface SpeakRequest {
  readonly text: string;
  readonly voice: string;
  readonly language: string;
  readonly legs: LegChoice;
  readonly loop: boolean;
  readonly mix: boolean;
}

export interface StreamRequest {
  readonly serviceUrl: string;
  readonly bidirectional: boolean;
  readonly audioTrack: 'inbound' | 'outbound' | 'both';
  readonly timeoutMs: number;
  readonly encoding: 'audio/x-l16' | 'audio/x-mulaw';
  readonly rate: 8000 | 16000;
  readonly statusCallback: CallbackTarget | undefined;
  readonly extraHeaders: ReadonlyArray<readonly [name: string, value: string]>;
}

/** A stream of a call that lives. */
export interface LiveStream {
  readonly streamId: StreamId;
  readonly callUuid: CallUuid;
  readonly serviceUrl: string;
  readonly audioTrack: string;
  readonly bidirectional: boolean;
  readonly contentType: string;
  readonly rate: number;
  readonly timeoutMs: number;
  readonly statusCallback: CallbackTarget | undefined;
  readonly status: 'initiated' | 'in-progress' | 'completed' | 'failed';
  readonly startUs: number;
  readonly endUs: number | undefined;
}
