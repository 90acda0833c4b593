/**
 * What the REST interface asks of running calls. Values arrive checked and in domain words: the REST interface
 * checks the ranges, the `<` lists and the digit grammar of the spec. Every operation names the account that asks; a call of
 * another account does not exist for it. A call may run on another node: whoever cannot be asked in time makes the operation reject
 * with NODE_UNREACHABLE.
 */
import type { AccountId, CallUuid, RecordingId, RequestUuid, StreamId } from '../../base/ids.ts';
import type { Result } from '../../base/result.ts';
import type { CallLogEntry } from '../call/types.ts';
import type { CallbackTarget } from '../callback/types.ts';
import type { CallDirection } from '../cdr/types.ts';
import type { RouteDecision, RouteQuestion } from './route-decision.ts';

// ---------------------------------------------------------------- placing calls

export type Destination =
  /** E.164 or national digits without `+`, spaces and dashes. */
  | { readonly kind: 'number'; readonly number: string }
  /** `sip:user@host[:port][;transport=…]` as typed. */
  | { readonly kind: 'sip'; readonly uri: string };

/** Keypad digits with waits (`w` 0.5 s, `W` 1 s), sent after connect; `toneMs` is the length of each tone. */
export interface DigitString {
  readonly digits: string;
  readonly toneMs: number;
}

/** Spec "Make call", `machine_detection*`; times in milliseconds. */
export interface MachineDetectionRequest {
  /** `hangup` ends the call when a machine answered. */
  readonly mode: 'detect' | 'hangup';
  /** Asynchronous when set: the document is fetched at once and the result is told here. */
  readonly callback: CallbackTarget | undefined;
  readonly totalMs: number;
  readonly maximumSpeechMs: number;
  readonly initialSilenceMs: number;
  readonly maximumWords: number;
  readonly initialGreetingMs: number;
}

export interface PlaceCallsRequest {
  /** Main account: money and limits. */
  readonly accountId: AccountId;
  readonly subAccount: AccountId | undefined;
  /** Caller id, digits without `+`. */
  readonly from: string;
  /** 1 to 1000. */
  readonly destinations: readonly Destination[];
  readonly answer: CallbackTarget;
  readonly ring: CallbackTarget | undefined;
  readonly hangup: CallbackTarget | undefined;
  readonly fallback: CallbackTarget | undefined;
  readonly machineDetection: MachineDetectionRequest | undefined;
  /** Undefined: the caller id's own name. At most 50 characters. */
  readonly callerName: string | undefined;
  readonly sendDigits: DigitString | undefined;
  readonly sendOnPreanswer: boolean;
  /** After the answer; at most a day. */
  readonly timeLimitMs: number;
  /** From the first 18x; undefined: no limit of its own. */
  readonly hangupOnRingMs: number | undefined;
  /** Undefined: the service's default. */
  readonly ringTimeoutMs: number | undefined;
  /** Custom SIP headers without their prefix. */
  readonly sipHeaders: ReadonlyArray<readonly [name: string, value: string]>;
  /** Optional `Idempotency-Key`: the same key of the same account answers the first request again. */
  readonly idempotencyKey: string | undefined;
}

export interface PlacedCalls {
  /** Equals the call UUID when there is one destination; a batch id otherwise. */
  readonly requestUuid: RequestUuid;
  /** One per destination, in order. */
  readonly callUuids: readonly CallUuid[];
}

export type PlaceCallsRefusal =
  | { readonly kind: 'insufficientFunds' }
  | { readonly kind: 'dailySpendLimit' }
  | {
      readonly kind: 'concurrency' | 'cps';
      readonly limit: number;
      readonly retryAfterMs: number;
    }
  /** The queue of bulk destinations of this account is full. */
  | { readonly kind: 'queueFull'; readonly retryAfterMs: number }
  /** The service drains, or this node is full. */
  | { readonly kind: 'unavailable'; readonly retryAfterMs: number }
  | { readonly kind: 'accountInactive' }
  /** The same idempotency key with another request. */
  | { readonly kind: 'idempotencyConflict' };

// ---------------------------------------------------------------- live calls

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

// ---------------------------------------------------------------- conferences

export interface ConferenceMember {
  /** Small decimal number, unique in its conference. */
  readonly memberId: string;
  readonly callUuid: CallUuid;
  readonly from: string;
  readonly to: string;
  readonly callerName: string;
  readonly direction: CallDirection;
  readonly muted: boolean;
  readonly deaf: boolean;
  /** How long it has been in the room. */
  readonly inRoomMs: number;
  /** Of a multi-party call. */
  readonly party?: {
    readonly role: 'agent' | 'supervisor' | 'customer';
    readonly onHold: boolean;
    readonly coaching: boolean;
    readonly recording: RecordingState;
    readonly joinedUs: number;
    readonly startsOnEnter: boolean;
    readonly endsOnExit: boolean;
    /** Set once it has left. */
    readonly leftUs?: number;
    readonly leftBecause?: string;
  };
}
type RecordingState = 'not-recording' | 'recording' | 'paused';
/** Why a multi-party call has ended. */
export type PartyEndCause = 'empty' | 'alone' | 'maxDuration' | 'api';

export interface Conference {
  readonly uuid: string;
  readonly name: string;
  readonly runningMs: number;
  /** Its members hear each other. */
  readonly hasBegun?: boolean;
  readonly members: readonly ConferenceMember[];
  /** Of a multi-party call. */
  readonly party?: {
    readonly createdUs: number;
    readonly startedUs: number | undefined;
    readonly recording: RecordingState;
    /** Who has left it, the latest first. */
    readonly former: readonly ConferenceMember[];
    /** Set once it has ended. */
    readonly endedUs?: number;
    readonly cause?: PartyEndCause;
  };
}

/** What is done to a multi-party call; `member`: an id, or a call's UUID. */
export type PartyAction =
  | { readonly kind: 'begin' }
  | { readonly kind: 'end' }
  /** Without `member` the recording of the whole call. */
  | {
      readonly kind: 'stopRecording' | 'pauseRecording' | 'resumeRecording';
      readonly member?: string;
    }
  | { readonly kind: 'kick' | 'silence'; readonly member: string }
  | { readonly kind: 'play'; readonly member: string; readonly url: string }
  | {
      readonly kind: 'member';
      readonly member: string;
      readonly change: {
        readonly mute?: boolean | undefined;
        readonly hold?: boolean | undefined;
        readonly coachMode?: boolean | undefined;
      };
    };

/** One member, several, or all of them. */
export type MemberChoice = readonly string[] | 'all';

export type MemberAction =
  | { readonly kind: 'mute' | 'unmute' | 'deaf' | 'undeaf' }
  /** `kick`: out of the room, its document goes on; `hangup`: its call ends. */
  | { readonly kind: 'kick' | 'hangup' }
  | { readonly kind: 'play'; readonly url: string }
  | { readonly kind: 'stopPlay' }
  | {
      readonly kind: 'speak';
      readonly text: string;
      readonly voice: string;
      readonly language: string;
    }
  | { readonly kind: 'stopSpeak' };

export interface CallControl {
  /** Where a call would go, and why; nobody is called. */
  explainRoute(question: RouteQuestion): Promise<Result<RouteDecision, ControlRefusal>>;

  placeCalls(request: PlaceCallsRequest): Promise<Result<PlacedCalls, PlaceCallsRefusal>>;

  /** Calls of the account, its sub-accounts included, oldest first. */
  liveCalls(accountId: AccountId, status: 'live' | 'queued'): Promise<readonly LiveCall[]>;
  liveCall(accountId: AccountId, callUuid: CallUuid): Promise<LiveCall | undefined>;
  /** Calls that count against the account's limit at this moment. */
  runningCalls(accountId: AccountId): Promise<number>;
  callLog(
    accountId: AccountId,
    callUuid: CallUuid,
  ): Promise<Result<readonly CallLogEntry[], ControlRefusal>>;

  /** Ends a live call, or withdraws a queued one; a request UUID withdraws all of its queued destinations. */
  hangup(accountId: AccountId, uuid: CallUuid | RequestUuid): Promise<Result<void, ControlRefusal>>;
  transfer(
    accountId: AccountId,
    callUuid: CallUuid,
    request: TransferRequest,
  ): Promise<Result<void, ControlRefusal>>;
  /** Succeeds when the REFER is on its way. */
  refer(
    accountId: AccountId,
    callUuid: CallUuid,
    wish: ReferWish,
  ): Promise<Result<void, ControlRefusal>>;
  startRecording(
    accountId: AccountId,
    callUuid: CallUuid,
    request: RecordRequest,
  ): Promise<Result<StartedRecording, ControlRefusal>>;
  /** `recordingId` undefined stops all of the call's recordings. */
  stopRecording(
    accountId: AccountId,
    callUuid: CallUuid,
    recordingId: RecordingId | undefined,
  ): Promise<Result<void, ControlRefusal>>;
  play(
    accountId: AccountId,
    callUuid: CallUuid,
    request: PlayRequest,
  ): Promise<Result<void, ControlRefusal>>;
  stopPlay(accountId: AccountId, callUuid: CallUuid): Promise<Result<void, ControlRefusal>>;
  speak(
    accountId: AccountId,
    callUuid: CallUuid,
    request: SpeakRequest,
  ): Promise<Result<void, ControlRefusal>>;
  stopSpeak(accountId: AccountId, callUuid: CallUuid): Promise<Result<void, ControlRefusal>>;
  sendDigits(
    accountId: AccountId,
    callUuid: CallUuid,
    digits: DigitString,
    leg: LegChoice,
  ): Promise<Result<void, ControlRefusal>>;

  startStream(
    accountId: AccountId,
    callUuid: CallUuid,
    request: StreamRequest,
  ): Promise<Result<LiveStream, ControlRefusal>>;
  streams(
    accountId: AccountId,
    callUuid: CallUuid,
  ): Promise<Result<readonly LiveStream[], ControlRefusal>>;
  /** `streamId` undefined stops all of the call's streams; `drain`: once the audio that bots have queued was played. */
  stopStream(
    accountId: AccountId,
    callUuid: CallUuid,
    streamId: StreamId | undefined,
    drain?: boolean,
  ): Promise<Result<void, ControlRefusal>>;

  conferences(accountId: AccountId): Promise<readonly Conference[]>;
  multiPartyCalls(accountId: AccountId): Promise<readonly Conference[]>;
  /** Those that have ended within a week, as far as they are remembered, the latest first. */
  endedMultiPartyCalls(accountId: AccountId): Promise<readonly Conference[]>;
  /** `id`: `uuid_` and its UUID, or `name_` and its name. */
  changeMultiPartyCall(
    accountId: AccountId,
    id: string,
    action: PartyAction,
  ): Promise<Result<void, ControlRefusal>>;
  /** `member`: its recording instead of the whole call's; `voice`: what it says alone. */
  recordMultiPartyCall(
    accountId: AccountId,
    id: string,
    request: RecordRequest,
    member?: { readonly id: string; readonly track: 'voice' | 'all' },
  ): Promise<Result<StartedRecording, ControlRefusal>>;
  conference(accountId: AccountId, name: string): Promise<Conference | undefined>;
  /** `name` undefined ends all conferences of the account. */
  endConference(
    accountId: AccountId,
    name: string | undefined,
  ): Promise<Result<void, ControlRefusal>>;
  /** The members that it was done to. */
  conferenceMembers(
    accountId: AccountId,
    name: string,
    members: MemberChoice,
    action: MemberAction,
  ): Promise<Result<readonly string[], ControlRefusal>>;
  recordConference(
    accountId: AccountId,
    name: string,
    request: RecordRequest,
  ): Promise<Result<StartedRecording, ControlRefusal>>;
  stopRecordingConference(
    accountId: AccountId,
    name: string,
  ): Promise<Result<void, ControlRefusal>>;
}
