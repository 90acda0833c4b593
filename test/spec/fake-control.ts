import {
  type AccountId,
  asAccountId,
  asCallUuid,
  asRecordingId,
  asRequestUuid,
  asStreamId,
  type CallUuid,
} from '../../src/base/ids.ts';
import { ok, type Result } from '../../src/base/result.ts';
import type {
  CallControl,
  Conference,
  ControlRefusal,
  LiveCall,
  LiveStream,
  PlaceCallsRefusal,
  PlaceCallsRequest,
  PlacedCalls,
  RecordRequest,
} from '../../src/domain/dispatch/types.ts';

export const REQUEST_UUID = asRequestUuid('3b1f6c1e-54c4-4a0a-9a9f-0c57a1f1d0aa');

export const aLiveCall = (over: Partial<LiveCall> = {}): LiveCall => ({
  callUuid: asCallUuid('0b6c1c3e-8f0a-4f4e-9a53-2f6f2c9d1a11'),
  requestUuid: undefined,
  accountId: asAccountId('MA_AAAAAAAAAAAAAAAAA'),
  subAccount: undefined,
  direction: 'outbound',
  status: 'in-progress',
  from: '14155550100',
  to: '14155550101',
  callerName: 'Ada',
  startUs: Date.UTC(2026, 0, 1) * 1000,
  answerUs: Date.UTC(2026, 0, 1) * 1000 + 1_000_000,
  stirVerification: 'Not Applicable',
  stirAttestation: '',
  bots: [],
  ...over,
});

/** A fake for running calls: records requests and returns what a test sets. */
export class FakeControl implements CallControl {
  readonly requested: { readonly operation: string; readonly args: readonly unknown[] }[] = [];
  placing: Result<PlacedCalls, PlaceCallsRefusal> | undefined;
  outcome: Result<void, ControlRefusal> = ok(undefined);
  calls: LiveCall[] = [];
  rooms: Conference[] = [];
  /** Audio of each live call for users who listen in. */
  audio: string | undefined;
  parties: Conference[] = [];
  endedParties: Conference[] = [];
  liveStreams: LiveStream[] = [];
  running: () => number = () => 0;

  get lastPlaced(): PlaceCallsRequest {
    const last = this.requested.findLast(({ operation }) => operation === 'placeCalls');
    if (last === undefined) throw new Error('no call was placed');
    return last.args[0] as PlaceCallsRequest;
  }

  async placeCalls(request: PlaceCallsRequest) {
    this.requested.push({ operation: 'placeCalls', args: [request] });
    return this.placing ?? ok({ requestUuid: REQUEST_UUID, callUuids: [asCallUuid(REQUEST_UUID)] });
  }
  explainRoute() {
    return Promise.resolve(
      ok({
        to: '14155550100',
        country: 'US',
        callerId: undefined,
        price: undefined,
        refusal: 'no carrier takes calls to 14155550100',
        carriers: [],
      }),
    );
  }
  async liveCalls(accountId: AccountId, status: 'live' | 'queued') {
    return this.calls.filter(
      (call) =>
        call.accountId === accountId && (call.status === 'queued') === (status === 'queued'),
    );
  }
  async liveCall(accountId: AccountId, callUuid: CallUuid) {
    return this.calls.find((call) => call.accountId === accountId && call.callUuid === callUuid);
  }
  async runningCalls() {
    return this.running();
  }
  async callLog() {
    return ok([
      {
        atUs: Date.UTC(2026, 0, 1) * 1000,
        kind: 'xml' as const,
        text: 'Speak',
        facts: { line: 2 },
      },
    ]);
  }
  hangup = this.#operation('hangup');
  transfer = this.#operation('transfer');
  stopRecording = this.#operation('stopRecording');
  pauseRecording = this.#operation('pauseRecording');
  play = this.#operation('play');
  stopPlay = this.#operation('stopPlay');
  speak = this.#operation('speak');
  stopSpeak = this.#operation('stopSpeak');
  refer = this.#operation('refer');
  handOver = this.#operation('handOver');
  cancelHandOver = this.#operation('cancelHandOver');
  sendDigits = this.#operation('sendDigits');
  stopStream = this.#operation('stopStream');
  endConference = this.#operation('endConference');
  stopRecordingConference = this.#operation('stopRecordingConference');

  async startRecording(...args: unknown[]) {
    return this.#value('startRecording', args, {
      recordingId: asRecordingId('rec-1'),
      url: 'http://x/rec-1.mp3',
    });
  }
  async recordConference(...args: unknown[]) {
    return this.#value('recordConference', args, {
      recordingId: asRecordingId('rec-2'),
      url: 'http://x/rec-2.mp3',
    });
  }
  async startStream(accountId: AccountId, callUuid: CallUuid, request: unknown) {
    return this.#value('startStream', [accountId, callUuid, request], {
      ...(this.liveStreams[0] ?? aLiveStream()),
    });
  }
  async streams() {
    return ok(this.liveStreams);
  }
  async multiPartyCalls() {
    return this.parties;
  }
  async endedMultiPartyCalls() {
    return this.endedParties;
  }
  readonly changeMultiPartyCall = this.#operation('changeMultiPartyCall');
  async recordMultiPartyCall(
    _accountId: AccountId,
    id: string,
    request: RecordRequest,
    member?: object,
  ) {
    const started = { recordingId: asRecordingId(REQUEST_UUID), url: 'https://media.test/r.mp3' };
    return this.#value('recordMultiPartyCall', [id, request, ...(member ? [member] : [])], started);
  }

  async conferences() {
    return this.rooms;
  }
  async conference(_accountId: string, name: string) {
    return this.rooms.find((room) => room.name === name);
  }
  async conferenceMembers(
    _account: string,
    name: string,
    members: readonly string[] | 'all',
    action: unknown,
  ) {
    const room = this.rooms.find((one) => one.name === name);
    const all = room?.members.map((member) => member.memberId) ?? [];
    return this.#value(
      'conferenceMembers',
      [name, members, action],
      members === 'all' ? all : members,
    );
  }

  #operation(operation: string) {
    return async (...args: unknown[]): Promise<Result<void, ControlRefusal>> => {
      this.requested.push({ operation, args });
      return this.outcome;
    };
  }

  #value<T>(operation: string, args: readonly unknown[], value: T): Result<T, ControlRefusal> {
    this.requested.push({ operation, args });
    return this.outcome.ok ? ok(value) : this.outcome;
  }
}

export const aLiveStream = (over: Partial<LiveStream> = {}): LiveStream => ({
  streamId: asStreamId('5f0e6a52-6a0e-4a52-9a0b-0d6c2f3b7c22'),
  callUuid: aLiveCall().callUuid,
  serviceUrl: 'wss://bot.example/ws',
  audioTrack: 'inbound',
  bidirectional: true,
  contentType: 'audio/x-mulaw',
  rate: 8000,
  timeoutMs: 600_000,
  statusCallback: undefined,
  status: 'in-progress',
  startUs: Date.UTC(2026, 0, 1) * 1000,
  endUs: undefined,
  ...over,
});
