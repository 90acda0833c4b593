/** Live calls in the REST API, and the actions on them. */
import type { AccountId, CallUuid, RecordingId, RequestUuid, StreamId } from '../../base/ids.ts';
import type { StreamSpeech } from '../../protocol/answer-xml/answer-xml.ts';
import type { AudioCleaning, StreamTransfer } from '../call/needs.ts';
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
  /** Hosts of the bots with an open audio stream. */
  readonly bots: readonly string[];
}

/** Reason for refusing an operation. `notFound`: unknown, ended, or owned by another account. */
export type ControlRefusal =
  | {
      readonly kind: 'notFound';
      readonly what: 'call' | 'conference' | 'member' | 'stream' | 'recording';
    }
  /** The state of the call does not allow the operation, for example no answer yet or no B leg; see `detail`. */
  | { readonly kind: 'wrongState'; readonly detail: string }
  | { readonly kind: 'tooMany'; readonly limit: number }
  /** The balance or the daily spend limit does not cover the first pulse. */
  | { readonly kind: 'insufficientFunds' | 'dailySpendLimit' }
  /** The account or the remote party may not use the operation. */
  | { readonly kind: 'notAllowed'; readonly detail: string }
  /** `ws://`, although only encrypted streams are allowed. */
  | { readonly kind: 'insecureStream' }
  /** This node lacks a component, for example a synthesizer. */
  | { readonly kind: 'notAvailable'; readonly detail: string };

export type LegChoice = 'aleg' | 'bleg' | 'both';

export interface TransferRequest {
  readonly legs: LegChoice;
  readonly aleg: CallbackTarget | undefined;
  readonly bleg: CallbackTarget | undefined;
}

/** Transfer of a bot's caller to a colleague. */
export interface HandOverRequest extends StreamTransfer {
  /** Target of the notifications about the progress. */
  readonly callback: CallbackTarget | undefined;
}

/** Request to send REFER, so that the remote party calls another destination. */
export interface ReferRequest {
  readonly destination: Destination;
  /** Time limit for the outcome, in ms. */
  readonly timeoutMs: number;
  /** Target of the notification about the outcome. */
  readonly callback: CallbackTarget | undefined;
}

export interface RecordRequest {
  readonly maxMs: number;
  readonly format: 'mp3' | 'wav';
  readonly channels: 'mono' | 'stereo';
  readonly callback: CallbackTarget | undefined;
  /** Transcription request, if the recording is to be transcribed. */
  readonly transcription?: { readonly callback: CallbackTarget | undefined } | undefined;
}
export interface StartedRecording {
  readonly recordingId: RecordingId;
  /** URL of the file once it is complete. */
  readonly url: string;
}

export interface PlayRequest {
  /** URLs of audio files, played in order. */
  readonly urls: readonly string[];
  /** Maximum duration, in ms. */
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
  /** Undefined: speech is not detected. */
  readonly speech?: StreamSpeech | undefined;
  /** Undefined: the caller's audio is not changed. */
  readonly clean?: AudioCleaning;
  readonly playPositions?: boolean;
}

/** Audio stream of a live call. */
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
