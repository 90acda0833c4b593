/**
 * What the REST interface asks of running calls. Values arrive checked and in domain words: the REST interface
 * checks the ranges, the `<` lists and the digit grammar of the spec. Every operation names the account that asks; a call of
 * another account does not exist for it. A call may run on another node: whoever cannot be asked in time makes the operation reject
 * with NODE_UNREACHABLE.
 */
import type { AccountId, CallUuid, RecordingId, RequestUuid, StreamId } from '../../base/ids.ts';
import type { Result } from '../../base/result.ts';
import type { CallLogEntry } from '../call/types.ts';
import type { Conference, MemberAction, MemberChoice, PartyAction } from './control-conference.ts';
import type {
  ControlRefusal,
  LegChoice,
  LiveCall,
  LiveStream,
  PlayRequest,
  RecordRequest,
  ReferWish,
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
