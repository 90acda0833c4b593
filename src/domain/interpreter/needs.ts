/** Ports that the interpreter uses. */
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

/** Keeps the stored record and the reservation of a live call up to date. */
export interface CallKeeping {
  /** Stores a billed or visible change. Durable once it resolves. */
  changed(call: Call): Promise<void>;
  /** Stores a visible, unbilled change within 2 s, or together with the next billed change. */
  noted(call: Call): void;
  /** Resolves once an ended call is settled and its hangup notification is queued. */
  settled(call: Call): Promise<void>;
  /** All live calls of all accounts. */
  live(): readonly Call[];
  /**
   * Delays settlement of an ended call until `act` settles; rejections are ignored. The returned function cancels the
   * registration.
   */
  beforeSettling(call: Call, act: () => Promise<unknown>): () => void;
}

/** B leg requested by `Dial`. */
export interface BLegRequest {
  readonly parent: Call;
  /** Destination as written in the document: digits or a `sip:` URI. */
  readonly destination: DialInstruction['destinations'][number];
  /** Number or `sip:` user to present; undefined: derived from the A leg. */
  readonly callerId: string | undefined;
  readonly callerName: string | undefined;
  readonly sipHeaders: ReadonlyArray<readonly [name: string, value: string]>;
  /** True if several Dials of this call in a row have failed. */
  readonly isRepeated: boolean;
  readonly onLeg?: (leg: Call) => void;
  /** Party that requested the call with REFER (RFC 3892). */
  readonly referredBy?: string | undefined;
}

/** Requested B leg that was never created. */
export interface UnplacedLeg {
  readonly cause: HangupCauseKey;
  readonly source: HangupSource;
  /** Explanation in plain words. */
  readonly detail: string;
  /** Requested caller ID and destination. */
  readonly from: string;
  readonly to: string;
}

/** Creates B legs: admission, caller ID rules, routing and records. Implemented by dispatch. */
export interface Dialer {
  /**
   * Returns the B leg after its ports are open and its INVITE is sent, or the reason for a refusal. The refusal is also
   * in the parent's log. Its end is reported through `Call.ended`.
   */
  dial(request: BLegRequest): Promise<Result<Call, UnplacedLeg>>;
}

export interface ReferRequest {
  /** Destination as written: digits or a `sip:` URI. */
  readonly destination:
    | { readonly kind: 'number'; readonly number: string }
    | { readonly kind: 'sip'; readonly uri: string };
  /** Time limit for the outcome, in ms. */
  readonly timeoutMs: number;
  /** Hangup source of the call once the transfer has succeeded. */
  readonly source: 'Answer XML' | 'API Request';
}

export interface ReferOutcome {
  readonly status:
    | 'completed' // the transfer target answered, and the call has ended
    | 'failed' // the transfer target did not answer, or the peer did not report it
    | 'refused' // the peer refused the REFER
    | 'not-permitted' // this node refused the REFER
    | 'timeout'
    | 'ended'; // the call or its document ended before the outcome was known
  /** SIP status of the response to REFER. */
  readonly answered: number | undefined;
  /** Last SIP status that the peer reported by NOTIFY. */
  readonly notified: number | undefined;
  readonly detail: string | undefined;
}

/** REFER in progress. */
export interface Referral {
  /** Never rejects. */
  readonly outcome: Promise<ReferOutcome>;
  /** Stops waiting for the outcome. */
  stop(): void;
}

export type ReferRefusal = { readonly kind: 'notAllowed' | 'wrongState'; readonly detail: string };

/** Sends REFER to the peer of a call, a carrier or trunk, so that it calls another party. Implemented by dispatch. */
export interface Referrer {
  refer(call: Call, request: ReferRequest): Promise<Result<Referral, ReferRefusal>>;
}

/** Records calls and conferences. */
export interface Recorder {
  /** Records a call that is answered or has early media, until it is stopped or the call ends. Never rejects. */
  start(call: Call, request: CallRecordRequest): Promise<Result<LiveRecording, RecordRefusal>>;
  /** Records the mixed audio of a conference, until it is stopped or the conference closes. Never rejects. */
  startRoom(
    room: MediaRoom,
    request: RoomRecordRequest,
  ): Promise<Result<LiveRecording, RecordRefusal>>;
  /** Stops one recording of the call, or all of them. Returns false if none was running. */
  stop(call: Call, recordingId?: RecordingId): boolean;
  /**
   * Pauses or resumes one recording of the call, or all of them. Paused audio is not recorded or charged. While a
   * recording is paused, the call's timeline does not show input. Returns the number of recordings concerned.
   */
  pause(call: Call, isPaused: boolean, recordingId?: RecordingId): number;
  /** Runs `start` when the next `Dial` of this call is answered (`Record startOnDialAnswer`). */
  whenDialAnswered(call: Call, start: () => void): void;
  /** Starts the recordings that wait for a `Dial`. Called once both parties hear each other. */
  dialAnswered(call: Call): void;
}

/** Reason why a member left its conference. */
export type LeaveReason =
  | 'callOver' // the call ended or received another document
  | 'star'
  | 'timeLimit'
  | 'kicked'
  | 'alone' // the last remaining member, without stayAlone
  | 'roomEnded'
  | 'moved'; // the conference continues on another node

/** Membership of a call in a conference, on this node or another. */
export interface Participation {
  readonly room: {
    readonly uuid: string;
    readonly name: string;
    /** The active recording, or the most recent one. */
    readonly recording: Pick<LiveRecording, 'recordingId' | 'url'> | undefined;
    /** True once the members hear each other. */
    readonly hasBegun: boolean;
  };
  readonly member: {
    readonly id: string;
    /** Resolves when the member has left the conference. */
    readonly left: Promise<LeaveReason>;
  };
  /** Removes the call from the conference. Resolves once the conference has been notified. Never rejects. */
  leave(): Promise<void>;
}

/** Conferences of all accounts, by account and case-sensitive name. */
export interface ConferenceDirectory {
  /** Adds a call to the conference of that name in its account; undefined if it is full. */
  enter(
    instruction: ConferenceInstruction,
    context: VerbContext,
  ): Promise<Participation | undefined>;
  /** True if the call is in a conference where it may hear other members. */
  connects(call: Call): boolean;
  list(accountId: AccountId): readonly Conference[];
  /** Multi-party calls, which `list` does not include. */
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
  /** Hangs up all members of a conference. Without `name`, ends all conferences of the account, if any. */
  end(accountId: AccountId, name: string | undefined): Result<void, ControlRefusal>;
  /** Applies an action to the chosen members and returns their IDs. Returns notFound if all of them have left. */
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
  /** Stops the recording. Succeeds if none is running (dialect §3.4: stop operations are idempotent). */
  stopRecording(accountId: AccountId, name: string): Result<void, ControlRefusal>;
}

interface InterpreterSettings {
  readonly allowInsecureStreams: boolean;
  /** Maximum number of documents that one call may fetch per minute. */
  readonly redirectsPerMinute: number;
  readonly ringTimeoutMs: number;
  /** True: `Dial` answers the caller before it calls. False: the caller is answered together with the called party. */
  readonly answerBeforeDial: boolean;
  /** Peers whose REFER is accepted. The account pays for the resulting call as for a `Dial`. */
  readonly referFrom: 'endpoints' | 'all' | 'nobody';
  readonly streamQueueMs: number;
  /** Refuses bidirectional streams of calls that have not heard a disclosure. Default false. */
  readonly requireDisclosure?: boolean;
  /** Hangup source shown when the platform ended a leg (DialBLegHangupSource). */
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
  /** Music for a held party; undefined: silence. */
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

/** Context of a verb. */
export interface VerbContext {
  readonly call: Call;
  readonly needs: InterpreterNeeds;
  /** Aborted when the call ends or is transferred. The verb then releases its resources and rejects. */
  readonly signal: AbortSignal;
  /** Answers the call if necessary; rejects if that fails. Inside PreAnswer, early media suffices. */
  ready(): Promise<void>;
}
