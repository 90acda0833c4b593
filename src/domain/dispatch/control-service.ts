/** Control of live calls for the REST API. Calls of other accounts are treated as not found. */
import {
  type AccountId,
  asCallUuid,
  type CallUuid,
  type RecordingId,
  type RequestUuid,
  type StreamId,
} from '../../base/ids.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { Call, CallLogs } from '../call/call.ts';
import type { CallLogEntry, HangupCauseKey } from '../call/types.ts';
import type { CallLogStore } from '../cdr/needs.ts';
import { dialOf } from '../interpreter/interpreter.ts';
import { cancelHandOver, handOverForApplication } from './application-hand-over.ts';
import { referForApplication } from './application-refer.ts';
import { confirmed } from './confirmed.ts';
import type {
  CallControl,
  Conference,
  ControlRefusal,
  DigitString,
  HandOverRequest,
  LegChoice,
  LiveCall,
  LiveStream,
  MemberAction,
  MemberChoice,
  PartyAction,
  PlaceCallsRefusal,
  PlaceCallsRequest,
  PlacedCalls,
  PlayRequest,
  RecordRequest,
  ReferRequest,
  SpeakRequest,
  StartedRecording,
  StreamRequest,
  TransferRequest,
} from './control.ts';
import { LegSounds } from './leg-sounds.ts';
import { liveCallOf } from './live-call.ts';
import { listStreams, startStream, stopStreams } from './live-streams.ts';
import type { DispatchNeeds } from './needs.ts';
import type { Outbound } from './outbound.ts';
import type { RouteDecision, RouteQuestion } from './route-decision.ts';
import { explainRoute } from './route-test.ts';
import { transferCall } from './transfer.ts';

/** Gap between two sent digits, in ms (dialect §6). */
const DIGIT_GAP_MS = 80;

export interface ControlNeeds extends DispatchNeeds {
  readonly outbound: Outbound;
  /** Timelines of live and recently ended calls. */
  readonly logs: CallLogs;
  readonly storedLogs: CallLogStore;
}

type Done = Promise<Result<void, ControlRefusal>>;

const NOT_FOUND: Result<never, ControlRefusal> = err({ kind: 'notFound', what: 'call' });
const DONE: Result<void, never> = ok(undefined);

export class ControlService implements CallControl {
  readonly #needs: ControlNeeds;
  readonly #sounds: LegSounds;

  constructor(needs: ControlNeeds) {
    this.#needs = needs;
    this.#sounds = new LegSounds(needs);
  }

  placeCalls(request: PlaceCallsRequest): Promise<Result<PlacedCalls, PlaceCallsRefusal>> {
    return this.#needs.outbound.placeCalls(request);
  }

  // ---------------------------------------------------------------- queries

  explainRoute(question: RouteQuestion): Promise<Result<RouteDecision, ControlRefusal>> {
    return explainRoute(question, this.#needs);
  }

  async liveCalls(accountId: AccountId, status: 'live' | 'queued'): Promise<readonly LiveCall[]> {
    if (status === 'queued') return this.#needs.outbound.queued(accountId);
    return this.#needs.callBilling
      .live()
      .filter((call) => !call.isEnded && call.identity.accountId === accountId)
      .map(liveCallOf);
  }

  async liveCall(accountId: AccountId, callUuid: CallUuid): Promise<LiveCall | undefined> {
    const call = this.#find(accountId, callUuid);
    if (call !== undefined) return liveCallOf(call);
    return this.#needs.outbound.queued(accountId).find((queued) => queued.callUuid === callUuid);
  }

  runningCalls(accountId: AccountId): Promise<number> {
    return this.#needs.admission.running(accountId);
  }

  async callLog(
    accountId: AccountId,
    callUuid: CallUuid,
  ): Promise<Result<readonly CallLogEntry[], ControlRefusal>> {
    const { logs, storedLogs } = this.#needs;
    const log = logs.get(callUuid);
    if (log?.accountId === accountId) return ok(log.entries());
    const stored = await storedLogs.read(callUuid);
    return stored?.accountId === accountId ? ok(stored.lines) : NOT_FOUND;
  }

  // ---------------------------------------------------------------- call operations

  async hangup(accountId: AccountId, uuid: CallUuid | RequestUuid): Done {
    // The request UUID of a single call equals its call UUID.
    const call = this.#find(accountId, asCallUuid(uuid));
    if (call !== undefined) {
      await confirmed(call, this.#needs.clock);
      if (call.isEnded) return NOT_FOUND;
      call.hangup(hangupCause(call), 'API Request');
      return DONE;
    }
    return this.#needs.outbound.withdraw(accountId, uuid) ? DONE : NOT_FOUND;
  }

  async transfer(accountId: AccountId, callUuid: CallUuid, request: TransferRequest): Done {
    const call = this.#find(accountId, callUuid);
    return call === undefined ? NOT_FOUND : transferCall(call, request, this.#needs);
  }

  async handOver(accountId: AccountId, callUuid: CallUuid, request: HandOverRequest): Done {
    const call = await this.#answered(accountId, callUuid);
    return call.ok ? handOverForApplication(call.value, request, this.#needs.interpreter()) : call;
  }

  async cancelHandOver(accountId: AccountId, callUuid: CallUuid): Done {
    const call = this.#find(accountId, callUuid);
    return call === undefined ? NOT_FOUND : cancelHandOver(call);
  }

  async refer(accountId: AccountId, callUuid: CallUuid, preference: ReferRequest): Done {
    const call = await this.#answered(accountId, callUuid);
    return call.ok ? referForApplication(call.value, preference, this.#needs.interpreter()) : call;
  }

  async sendDigits(
    accountId: AccountId,
    callUuid: CallUuid,
    { digits, toneMs }: DigitString,
    choice: LegChoice,
  ): Done {
    const legs = await this.#answeredLegs(accountId, callUuid, choice);
    if (!legs.ok) return legs;
    for (const leg of legs.value) {
      const options = { toneMs, gapMs: DIGIT_GAP_MS, inband: false };
      leg.media.sendDigits(digits, options).catch((error: unknown) => {
        leg.log.add('warning', 'digits not sent', { error: String(error) });
      });
    }
    return DONE;
  }

  // ---------------------------------------------------------------- recording and sound

  async startRecording(
    accountId: AccountId,
    callUuid: CallUuid,
    request: RecordRequest,
  ): Promise<Result<StartedRecording, ControlRefusal>> {
    const found = await this.#answered(accountId, callUuid);
    if (!found.ok) return found;
    const call = found.value;
    const started = await this.#needs.interpreter().recorder.start(call, {
      format: request.format,
      channels: request.channels,
      maxMs: request.maxMs,
      callback: request.callback,
      transcription: request.transcription,
    });
    if (!started.ok) return started;
    const { recordingId, url } = started.value;
    return ok({ recordingId, url });
  }

  /** Stops recordings. Without an ID, succeeds even if none is running (dialect §3.4). With an unknown ID, fails. */
  async stopRecording(
    accountId: AccountId,
    callUuid: CallUuid,
    recordingId: RecordingId | undefined,
  ): Done {
    const call = this.#find(accountId, callUuid);
    if (call === undefined) return NOT_FOUND;
    const stopped = this.#needs.interpreter().recorder.stop(call, recordingId);
    if (stopped || recordingId === undefined) return DONE;
    return err({ kind: 'notFound', what: 'recording' });
  }

  async pauseRecording(
    accountId: AccountId,
    callUuid: CallUuid,
    recordingId: RecordingId | undefined,
    isPaused: boolean,
  ): Done {
    const call = this.#find(accountId, callUuid);
    if (call === undefined) return NOT_FOUND;
    const paused = this.#needs.interpreter().recorder.pause(call, isPaused, recordingId);
    return paused > 0 ? DONE : err({ kind: 'notFound', what: 'recording' });
  }

  async play(accountId: AccountId, callUuid: CallUuid, request: PlayRequest): Done {
    const legs = await this.#answeredLegs(accountId, callUuid, request.legs);
    if (!legs.ok) return legs;
    for (const leg of legs.value) this.#sounds.play(leg, request);
    return DONE;
  }

  async stopPlay(accountId: AccountId, callUuid: CallUuid): Done {
    return this.#silence(accountId, callUuid, 'play');
  }

  async speak(accountId: AccountId, callUuid: CallUuid, request: SpeakRequest): Done {
    const legs = await this.#answeredLegs(accountId, callUuid, request.legs);
    if (!legs.ok) return legs;
    for (const leg of legs.value) this.#sounds.speak(leg, request);
    return DONE;
  }

  async stopSpeak(accountId: AccountId, callUuid: CallUuid): Done {
    return this.#silence(accountId, callUuid, 'speak');
  }

  // ---------------------------------------------------------------- streams

  async startStream(
    accountId: AccountId,
    callUuid: CallUuid,
    request: StreamRequest,
  ): Promise<Result<LiveStream, ControlRefusal>> {
    const call = await this.#answered(accountId, callUuid);
    return call.ok ? startStream(call.value, request, this.#needs.interpreter()) : call;
  }

  async streams(
    accountId: AccountId,
    callUuid: CallUuid,
  ): Promise<Result<readonly LiveStream[], ControlRefusal>> {
    const call = this.#find(accountId, callUuid);
    return call === undefined ? NOT_FOUND : ok(listStreams(call));
  }

  async stopStream(
    accountId: AccountId,
    callUuid: CallUuid,
    streamId: StreamId | undefined,
    drain = false,
  ): Done {
    const call = this.#find(accountId, callUuid);
    if (call === undefined) return NOT_FOUND;
    if (stopStreams(call, streamId, drain) || streamId === undefined) return DONE;
    return err({ kind: 'notFound', what: 'stream' });
  }

  // ---------------------------------------------------------------- conferences

  async multiPartyCalls(accountId: AccountId): Promise<readonly Conference[]> {
    return this.#needs.interpreter().conferences.parties(accountId);
  }

  async endedMultiPartyCalls(accountId: AccountId): Promise<readonly Conference[]> {
    return this.#needs.interpreter().conferences.endedParties(accountId);
  }

  async changeMultiPartyCall(accountId: AccountId, id: string, action: PartyAction): Done {
    return this.#needs.interpreter().conferences.changeParty(accountId, id, action);
  }

  async recordMultiPartyCall(
    accountId: AccountId,
    id: string,
    request: RecordRequest,
    member?: { readonly id: string; readonly track: 'voice' | 'all' },
  ): Promise<Result<StartedRecording, ControlRefusal>> {
    return this.#needs.interpreter().conferences.recordParty(accountId, id, request, member);
  }

  async conferences(accountId: AccountId): Promise<readonly Conference[]> {
    return this.#needs.interpreter().conferences.list(accountId);
  }

  async conference(accountId: AccountId, name: string): Promise<Conference | undefined> {
    return this.#needs.interpreter().conferences.get(accountId, name);
  }

  async endConference(accountId: AccountId, name: string | undefined): Done {
    return this.#needs.interpreter().conferences.end(accountId, name);
  }

  async conferenceMembers(
    accountId: AccountId,
    name: string,
    members: MemberChoice,
    action: MemberAction,
  ): Promise<Result<readonly string[], ControlRefusal>> {
    return this.#needs.interpreter().conferences.act(accountId, name, members, action);
  }

  async recordConference(
    accountId: AccountId,
    name: string,
    request: RecordRequest,
  ): Promise<Result<StartedRecording, ControlRefusal>> {
    return this.#needs.interpreter().conferences.record(accountId, name, request);
  }

  async stopRecordingConference(accountId: AccountId, name: string): Done {
    return this.#needs.interpreter().conferences.stopRecording(accountId, name);
  }

  // ---------------------------------------------------------------- lookup

  #find(accountId: AccountId, callUuid: CallUuid): Call | undefined {
    const call = this.#needs.callBilling.get(callUuid);
    return call?.identity.accountId === accountId && !call.isEnded ? call : undefined;
  }

  async #answered(accountId: AccountId, callUuid: CallUuid): Promise<Result<Call, ControlRefusal>> {
    const call = this.#find(accountId, callUuid);
    if (call !== undefined) await confirmed(call, this.#needs.clock);
    if (call === undefined || call.isEnded) return NOT_FOUND;
    return call.isAnswered ? ok(call) : NOT_ANSWERED;
  }

  /** Returns the chosen connected legs. The B leg is the one that a `Dial` has connected. */
  async #answeredLegs(
    accountId: AccountId,
    callUuid: CallUuid,
    choice: LegChoice,
  ): Promise<Result<readonly Call[], ControlRefusal>> {
    const found = await this.#answered(accountId, callUuid);
    if (!found.ok) return found;
    const call = found.value;
    if (choice === 'aleg') return ok([call]);
    const bLeg = dialOf(call)?.leg;
    if (bLeg === undefined) return err({ kind: 'wrongState', detail: 'the call has no B leg' });
    return ok(choice === 'bleg' ? [bLeg] : [call, bLeg]);
  }

  #silence(
    accountId: AccountId,
    callUuid: CallUuid,
    kind: 'play' | 'speak',
  ): Result<void, ControlRefusal> {
    const call = this.#find(accountId, callUuid);
    if (call === undefined) return NOT_FOUND;
    for (const leg of [call, dialOf(call)?.leg])
      if (leg !== undefined) this.#sounds.stop(leg, kind);
    return DONE;
  }
}

const NOT_ANSWERED: Result<never, ControlRefusal> = err({
  kind: 'wrongState',
  detail: 'the call has not been answered',
});

/** Hangup cause of an API request. Before the answer, an outbound call is canceled and an inbound call is rejected. */
function hangupCause(call: Call): HangupCauseKey {
  if (call.isAnswered) return 'normal';
  return call.facts.direction === 'outbound' ? 'canceled' : 'rejected';
}
