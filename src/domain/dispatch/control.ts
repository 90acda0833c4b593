/**
 * Operations of the REST API on live calls. Arguments are already validated: the REST API checks ranges, `<` lists and
 * the digit grammar of the spec. Every operation names the requesting account; calls of other accounts are not found.
 * If a call's node does not respond in time, the operation rejects with NODE_UNREACHABLE.
 */
import type { AccountId, CallUuid, RecordingId, RequestUuid, StreamId } from '../../base/ids.ts';
import type { Result } from '../../base/result.ts';
import type { CallLogEntry } from '../call/types.ts';
import type { Conference, MemberAction, MemberChoice, PartyAction } from './control-conference.ts';
import type {
  ControlRefusal,
  HandOverRequest,
  LegChoice,
  LiveCall,
  LiveStream,
  PlayRequest,
  RecordRequest,
  ReferRequest,
  SpeakRequest,
  StartedRecording,
  StreamRequest,
  TransferRequest,
} from './control-live.ts';
import type {
  DigitString,
  PlaceCallsRefusal,
  PlaceCallsRequest,
  PlacedCalls,
} from './control-placing.ts';
import type { RouteDecision, RouteQuestion } from './route-decision.ts';

export type * from './control-conference.ts';
export type * from './control-live.ts';
export type * from './control-placing.ts';

export interface CallControl {
  /** Explains the routing of a hypothetical call. Does not place a call. */
  explainRoute(question: RouteQuestion): Promise<Result<RouteDecision, ControlRefusal>>;

  placeCalls(request: PlaceCallsRequest): Promise<Result<PlacedCalls, PlaceCallsRefusal>>;

  /** Calls of the account and its sub-accounts, oldest first. */
  liveCalls(accountId: AccountId, status: 'live' | 'queued'): Promise<readonly LiveCall[]>;
  liveCall(accountId: AccountId, callUuid: CallUuid): Promise<LiveCall | undefined>;
  /** Number of calls that currently count against the account's limit. */
  runningCalls(accountId: AccountId): Promise<number>;
  callLog(
    accountId: AccountId,
    callUuid: CallUuid,
  ): Promise<Result<readonly CallLogEntry[], ControlRefusal>>;

  /** Ends a live call or withdraws a queued one. A request UUID withdraws all of its queued destinations. */
  hangup(accountId: AccountId, uuid: CallUuid | RequestUuid): Promise<Result<void, ControlRefusal>>;
  transfer(
    accountId: AccountId,
    callUuid: CallUuid,
    request: TransferRequest,
  ): Promise<Result<void, ControlRefusal>>;
  /** Transfers the caller of a bot to a colleague. Succeeds once the transfer has begun. */
  handOver(
    accountId: AccountId,
    callUuid: CallUuid,
    request: HandOverRequest,
  ): Promise<Result<void, ControlRefusal>>;
  /** Cancels the transfer in progress. The caller is with the bot again. */
  cancelHandOver(accountId: AccountId, callUuid: CallUuid): Promise<Result<void, ControlRefusal>>;
  /** Sends REFER. Succeeds once the REFER has been sent. */
  refer(
    accountId: AccountId,
    callUuid: CallUuid,
    preference: ReferRequest,
  ): Promise<Result<void, ControlRefusal>>;
  startRecording(
    accountId: AccountId,
    callUuid: CallUuid,
    request: RecordRequest,
  ): Promise<Result<StartedRecording, ControlRefusal>>;
  /** Pauses or resumes one recording; without `recordingId`, all recordings of the call. Fails if none is running. */
  pauseRecording(
    accountId: AccountId,
    callUuid: CallUuid,
    recordingId: RecordingId | undefined,
    isPaused: boolean,
  ): Promise<Result<void, ControlRefusal>>;
  /** Stops one recording; without `recordingId`, all recordings of the call. */
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
  /**
   * Stops one stream; without `streamId`, all streams of the call. With `drain`, queued audio from the bots is played
   * first.
   */
  stopStream(
    accountId: AccountId,
    callUuid: CallUuid,
    streamId: StreamId | undefined,
    drain?: boolean,
  ): Promise<Result<void, ControlRefusal>>;

  conferences(accountId: AccountId): Promise<readonly Conference[]>;
  multiPartyCalls(accountId: AccountId): Promise<readonly Conference[]>;
  /** Multi-party calls that ended within 7 days, most recent first; the history is limited in size. */
  endedMultiPartyCalls(accountId: AccountId): Promise<readonly Conference[]>;
  /** Applies an action. `id`: `uuid_` followed by the UUID, or `name_` followed by the name. */
  changeMultiPartyCall(
    accountId: AccountId,
    id: string,
    action: PartyAction,
  ): Promise<Result<void, ControlRefusal>>;
  /** Records the multi-party call, or with `member` one member; track `voice`: its voice only. */
  recordMultiPartyCall(
    accountId: AccountId,
    id: string,
    request: RecordRequest,
    member?: { readonly id: string; readonly track: 'voice' | 'all' },
  ): Promise<Result<StartedRecording, ControlRefusal>>;
  conference(accountId: AccountId, name: string): Promise<Conference | undefined>;
  /** Ends one conference; without `name`, all conferences of the account. */
  endConference(
    accountId: AccountId,
    name: string | undefined,
  ): Promise<Result<void, ControlRefusal>>;
  /** Applies an action to the chosen members and returns the IDs of those affected. */
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
