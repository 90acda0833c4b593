/** What the interpreter asks of the modules around it. */
import type { Clock } from '../../base/clock.ts';
import type { AccountId, Random, RecordingId } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import type { Result } from '../../base/result.ts';
import type {
  ConferenceInstruction,
  DialInstruction,
} from '../../protocol/answer-xml/answer-xml.ts';
import type { Call } from '../call/call.ts';
import type {
  AudioLibrary,
  AudioStreams,
  LineRate,
  Media,
  MediaRoom,
  Pcm,
  Recognizer,
  Synthesizer,
} from '../call/needs.ts';
import type { HangupCauseKey, HangupSource } from '../call/types.ts';
import type { CallbackClient } from '../callback/callback.ts';
import type {
  Conference,
  ControlRefusal,
  MemberAction,
  MemberChoice,
  PartyAction,
  RecordRequest,
  StartedRecording,
} from '../dispatch/types.ts';
import type { Transcriptions } from '../transcription/transcription.ts';
import type {
  CallRecordRequest,
  LiveRecording,
  RecordRefusal,
  RoomRecordRequest,
} from './recording/types.ts';

/** Keeps the stored record and the reservation of a live call true. */
export interface CallKeeping {
  /** Something that is billed or shown has changed; durable when it resolves. */
  changed(call: Call): Promise<void>;
  /** Something that is shown and not billed has changed: it is stored within two seconds, or with what is billed. */
  noted(call: Call): void;
  /** Resolves once an ended call is settled and its hangup notification is on its way. */
  settled(call: Call): Promise<void>;
  /** The live calls of all accounts. */
  live(): readonly Call[];
  /** What an ended call is not settled before; what it rejects with is nobody's matter. The returned function: it is over. */
  beforeSettling(call: Call, act: () => Promise<unknown>): () => void;
}

/** One B leg that `Dial` asked for. */
export interface BLegRequest {
  readonly parent: Call;
  /** As written in the document: digits, or a `sip:` URI. */
  readonly destination: DialInstruction['destinations'][number];
  /** Number or `sip:` user to present; undefined: derived from the A leg. */
  readonly callerId: string | undefined;
  readonly callerName: string | undefined;
  readonly sipHeaders: ReadonlyArray<readonly [name: string, value: string]>;
  /** The document of this call dials over and over. */
  readonly isRepeated: boolean;
  readonly onLeg?: (leg: Call) => void;
  /** Who asked for it with REFER (RFC 3892). */
  readonly referredBy?: string | undefined;
}

/** A B leg that was asked for and never came into being. */
export interface UnmadeLeg {
  readonly cause: HangupCauseKey;
  readonly source: HangupSource;
  /** Why, in words. */
  readonly detail: string;
  /** Caller id and destination as they were asked for. */
  readonly from: string;
  readonly to: string;
}

/** Makes B legs: admission, caller id rules, routing, records. Implemented by dispatch. */
export interface Dialer {
  /**
   * The B leg, on its way (its ports open, its INVITE sent), or why it was refused before it came into being, which
   * stands in the parent's log too. Its end comes through `Call.ended`.
   */
  dial(request: BLegRequest): Promise<Result<Call, UnmadeLeg>>;
}

export interface ReferRequest {
  /** As written: digits, or a `sip:` URI. */
  readonly destination:
    | { readonly kind: 'number'; readonly number: string }
    | { readonly kind: 'sip'; readonly uri: string };
  /** To the outcome. */
  readonly timeoutMs: number;
  /** On whose wish the call ends when it has been taken over. */
  readonly source: 'Answer XML' | 'API Request';
}

export interface ReferOutcome {
  readonly status:
    | 'completed' // the peer talks to whom we named; the call is over
    | 'failed' // whom we named did not answer, or the peer did not say
    | 'refused' // by the peer
    | 'not-permitted' // by us
    | 'timeout'
    | 'ended'; // the call, or its document, before the outcome was known
  /** SIP status of the answer to REFER. */
  readonly answered: number | undefined;
  /** SIP status that the peer told last. */
  readonly notified: number | undefined;
  readonly detail: string | undefined;
}

/** One REFER of ours that is under way. */
export interface Referral {
  /** Never rejects. */
  readonly outcome: Promise<ReferOutcome>;
  /** Nobody waits for it any more. */
  stop(): void;
}

export type ReferRefusal = { readonly kind: 'notAllowed' | 'wrongState'; readonly detail: string };

/** Asks the peer of a call, a carrier or trunk, to call somebody else itself (REFER). Implemented by dispatch. */
export interface Referrer {
  refer(call: Call, request: ReferRequest): Promise<Result<Referral, ReferRefusal>>;
}

/** Records calls and conferences. */
export interface Recorder {
  /** Records a call that is answered or has early media, until it is stopped or the call ends. Never rejects. */
  start(call: Call, request: CallRecordRequest): Promise<Result<LiveRecording, RecordRefusal>>;
  /** Records all that is heard in a conference, until it is stopped or the conference closes. Never rejects. */
  startRoom(
    room: MediaRoom,
    request: RoomRecordRequest,
  ): Promise<Result<LiveRecording, RecordRefusal>>;
  /** Stops one recording of the call, or all; false: there was none. */
  stop(call: Call, recordingId?: RecordingId): boolean;
  /** `start` runs when the next `Dial` of this call is answered (`Record startOnDialAnswer`). */
  whenDialAnswered(call: Call, start: () => void): void;
  /** A `Dial` of this call was answered: to be told by it, once both parties hear each other. */
  dialAnswered(call: Call): void;
}

/** Why a member has left its conference. */
export type LeaveReason =
  | 'callOver' // its call has ended, or has been given another document
  | 'star'
  | 'timeLimit'
  | 'kicked'
  | 'alone' // nobody else was left, and it would not stay alone
  | 'roomEnded'
  | 'moved'; // the conference goes on at another node

/** A call that has entered a conference, of this node or of another. */
export interface Participation {
  readonly room: {
    readonly uuid: string;
    readonly name: string;
    /** The recording that runs, or the last one that did. */
    readonly recording: Pick<LiveRecording, 'recordingId' | 'url'> | undefined;
    /** Its members hear each other. */
    readonly hasBegun: boolean;
  };
  readonly member: {
    readonly id: string;
    /** Resolves when the member is out of the conference. */
    readonly left: Promise<LeaveReason>;
  };
  /** The call is over, or has been given another document. Resolves once the conference knows. Never rejects. */
  leave(): Promise<void>;
}

/** The conferences of all accounts, by account and case-sensitive name. */
export interface ConferenceDirectory {
  /** Takes a call into the conference of its account with that name; undefined: it is full. */
  enter(
    instruction: ConferenceInstruction,
    context: VerbContext,
  ): Promise<Participation | undefined>;
  /** The call hears, or may hear, others in one. */
  connects(call: Call): boolean;
  list(accountId: AccountId): readonly Conference[];
  /** Multi-party calls, which are no conferences. */
  parties(accountId: AccountId): readonly Conference[];
  endedParties(accountId: AccountId): readonly Conference[];
  changeParty(accountId: AccountId, id: string, action: PartyAction): Result<void, ControlRefusal>;
  recordParty(
    accountId: AccountId,
    id: string,
    request: RecordRequest,
    member?: { readonly id: string; readonly track: 'voice' | 'all' },
  ): Promise<Result<StartedRecording, ControlRefusal>>;
  get(accountId: AccountId, name: string): Conference | undefined;
  /** Hangs up on everybody in it; `name` undefined: all conferences of the account, of which there may be none. */
  end(accountId: AccountId, name: string | undefined): Result<void, ControlRefusal>;
  /** The members that it was done to; none of those named is there: notFound. */
  act(
    accountId: AccountId,
    name: string,
    choice: MemberChoice,
    action: MemberAction,
  ): Result<readonly string[], ControlRefusal>;
  record(
    accountId: AccountId,
    name: string,
    request: RecordRequest,
  ): Promise<Result<StartedRecording, ControlRefusal>>;
  /** Succeeds when no recording runs (dialect §3.4: stop operations are idempotent). */
  stopRecording(accountId: AccountId, name: string): Result<void, ControlRefusal>;
}

export interface InterpreterSettings {
  readonly allowInsecureStreams: boolean;
  /** Documents that one call may fetch within a minute. */
  readonly redirectsPerMinute: number;
  readonly ringTimeoutMs: number;
  /** `Dial` answers the caller before it calls anybody; else the caller is answered when the called party is. */
  readonly answerBeforeDial: boolean;
  /** Whose REFER is obeyed. What is called for it is paid by the account, as if a `Dial` had named it. */
  readonly referFrom: 'endpoints' | 'all' | 'nobody';
  readonly streamQueueMs: number;
  /** Told where the platform itself ended a leg (DialBLegHangupSource). */
  readonly platformName: string;
}

export interface InterpreterNeeds {
  readonly callbacks: CallbackClient;
  readonly streams: AudioStreams;
  readonly media: Media;
  readonly audio: AudioLibrary;
  readonly speech: Synthesizer;
  readonly recognizer: Recognizer;
  readonly transcriptions: Pick<Transcriptions, 'meter'>;
  /** What a party hears that the other side of its bridge holds; undefined: silence. */
  readonly holdMusic: (rate: LineRate) => Promise<Pcm | undefined>;
  readonly recorder: Recorder;
  readonly conferences: ConferenceDirectory;
  readonly dialer: Dialer;
  readonly referrer: Referrer;
  readonly keeping: CallKeeping;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly settings: InterpreterSettings;
}

/** What a verb works with. */
export interface VerbContext {
  readonly call: Call;
  readonly needs: InterpreterNeeds;
  /** Aborted by the end of the call and by a transfer: the verb gives everything back and rejects. */
  readonly signal: AbortSignal;
  /** Answers the call if it is not answered yet; rejects when it cannot be. Early media suffices inside PreAnswer. */
  ready(): Promise<void>;
}
