/** Test scene for whole calls: real calls and interpreter, with scripted phones, application and media. */

import { wallUs } from '../../../src/base/clock.ts';
import { type AccountId, asAccountId, asCallUuid } from '../../../src/base/ids.ts';
import { type Logger, silentLogger } from '../../../src/base/logger.ts';
import type { Micros } from '../../../src/base/money.ts';
import { err, ok, type Result } from '../../../src/base/result.ts';
import { Call, type CallIdentity, CallLog } from '../../../src/domain/call/call.ts';
import type {
  InboundLeg,
  LegEnd,
  LegEvents,
  Listening,
  ListenOptions,
  MediaRoom,
  OutboundLegEvents,
  Pcm,
  RecognitionProblem,
  Recognizer,
  Signalling,
  Transcript,
} from '../../../src/domain/call/needs.ts';
import type {
  CallbackParameters,
  NotificationDraft,
  StoredNotification,
} from '../../../src/domain/callback/types.ts';
import {
  type BLegRequest,
  Conferences,
  Interpreter,
  type InterpreterNeeds,
  type UnplacedLeg,
} from '../../../src/domain/interpreter/interpreter.ts';
import type {
  CallRecordRequest,
  RoomRecordRequest,
} from '../../../src/domain/interpreter/recorder.ts';
import { FakeMedia, type FakeMediaLeg } from '../../fakes/media.ts';
import { SimClock, settle } from '../../sim/clock.ts';

export const NOTHING_LEFT = {
  errors: [],
  openLegs: 0,
  openBridges: 0,
  openRooms: 0,
  takenSeats: 0,
  sounding: 0,
  nextWakeMs: undefined,
};

export const SDP = [
  'v=0',
  'o=- 1 1 IN IP4 192.0.2.1',
  's=-',
  'c=IN IP4 192.0.2.1',
  't=0 0',
  'm=audio 4000 RTP/AVP 0 101',
  'a=rtpmap:0 PCMU/8000',
  'a=rtpmap:101 telephone-event/8000',
  'a=fmtp:101 0-15',
  'a=sendrecv',
  '',
].join('\r\n');

/** SDP of a phone that sends keypad presses as in-band tones. */
export const SDP_WITHOUT_EVENTS = SDP.replace(' 0 101', ' 0').replace(
  /a=(rtpmap|fmtp):101.*\r\n/g,
  '',
);

const PCM: Pcm = { rate: 8000, samples: new Uint8Array(1600) };

interface FakeRecording<Request> {
  readonly request: Request;
  readonly stoppedWith: string[];
  readonly pauses: boolean[];
  readonly ended: Promise<void>;
  readonly end: () => void;
}

/** Recognition of one utterance; the test provides the speech. */
export class ScriptedListener {
  readonly options: ListenOptions;
  readonly #received = Promise.withResolvers<Result<Transcript, RecognitionProblem>>();
  isStopped = false;
  readonly listening: Listening;

  constructor(options: ListenOptions) {
    this.options = options;
    this.listening = {
      received: this.#received.promise,
      stop: () => {
        this.isStopped = true;
        this.#received.resolve(err({ kind: 'aborted', detail: 'no longer wanted' }));
      },
    };
  }

  async says(text: string, confidence: number | undefined = 0.9): Promise<void> {
    this.options.speaking();
    await settle();
    this.#received.resolve(ok({ text, confidence, durationMs: 1200 }));
    await settle();
  }

  async fails(problem: RecognitionProblem): Promise<void> {
    this.#received.resolve(err(problem));
    await settle();
  }
}

/** Phone at the other end of a leg. */
interface Phone {
  readonly call: Call;
  readonly media: FakeMediaLeg;
  readonly hungUpWith: string[];
  press(keys: string): void;
  ends(how: LegEnd['how'], status?: number): void;
  /** Sends REFER and returns the list that collects its progress. */
  refers(to: string, replaces?: string): string[];
}

export interface Caller extends Phone {
  readonly interpreter: Interpreter;
  readonly running: Promise<void>;
  /** Statuses of the responses to the caller, in order. */
  readonly sent: readonly number[];
}

export interface CalledPhone extends Phone {
  readonly request: BLegRequest;
  rings(): void;
  earlyMedia(): void;
  answers(sdp?: string): Promise<void>;
}

const mediaOf = (call: Call): FakeMediaLeg => call.media as unknown as FakeMediaLeg;

export class Scene {
  /** Country of the accounts of subsequently created calls. */
  country = 'US';
  answerBeforeDial = false;
  readonly clock = new SimClock();
  readonly media = new FakeMedia();
  readonly documents = new Map<string, string>();
  readonly contentTypes = new Map<string, string>();
  readonly requests: Array<{ url: string; parameters: Record<string, string> }> = [];
  readonly notifications: NotificationDraft[] = [];
  readonly called: CalledPhone[] = [];
  readonly refused = new Set<string>();
  readonly loaded: string[] = [];
  readonly retained: Call[] = [];
  readonly calls: Call[] = [];
  readonly roomRecordings: FakeRecording<RoomRecordRequest>[] = [];
  readonly recordingPauses: boolean[] = [];
  readonly callRecordings: FakeRecording<CallRecordRequest>[] = [];
  readonly dialAnswered: Call[] = [];
  /** Calls whose recordings were stopped. */
  readonly recordingStops: Call[] = [];
  readonly errors: string[] = [];
  /** Recognitions in order of their start. */
  readonly listeners: ScriptedListener[] = [];
  readonly charged: number[] = [];
  /** True if the balance does not cover speech recognition. */
  isPoor = false;
  openMeters = 0;
  /** Exhausts the balance during speech recognition. */
  exhaust: () => void = () => undefined;
  readonly needs: InterpreterNeeds;
  #count = 0;

  constructor() {
    this.needs = this.#makeNeeds();
  }

  /** Checks that all resources have been released, after all calls have ended. */
  leftovers(): Record<string, unknown> {
    return {
      errors: this.errors,
      openLegs: this.media.legs.filter(({ isClosed }) => !isClosed).length,
      openBridges: this.media.openBridges.length,
      openRooms: this.media.rooms.filter(({ isClosed }) => !isClosed).length,
      takenSeats: this.media.rooms.flatMap(({ seats }) => seats).filter(({ isFree }) => !isFree)
        .length,
      sounding: this.media.legs.flatMap(({ sounding }) => sounding).length,
      nextWakeMs: this.clock.nextMs(),
    };
  }

  /** Events sent to a callback URL, in order, with their parameters. */
  reported(url: string): Array<Record<string, string>> {
    return this.notifications
      .filter(({ target }) => target.url === url)
      .map(({ parameters }) => asRecord(parameters));
  }

  events(url: string): string[] {
    return this.reported(url).map(({ Event }) => Event ?? '');
  }

  /** Starts an inbound call with `xml` as its answer document; further documents come from `documents`. */
  async caller(
    xml: string,
    facts: {
      accountId?: AccountId;
      /** SDP offer; null for an INVITE without an offer. */
      sdp?: string | null;
      /** Settles the ACK of our 200. */
      acknowledged?: Promise<Result<void, LegEnd>>;
    } = {},
  ): Promise<Caller> {
    this.documents.set('https://app.test/answer', `<Response>${xml}</Response>`);
    const { accountId = asAccountId('MA_ONE'), sdp = SDP } = facts;
    const { acknowledged = Promise.resolve(ok(undefined)) } = facts;
    const sent: number[] = [];
    const call = this.#call('inbound', { accountId, from: '14155550100', to: '14155550199' });
    let events: LegEvents | undefined;
    const hungUpWith: string[] = [];
    const leg = {
      id: call.uuid,
      sipCallId: call.uuid,
      userAgent: 'test',
      source: { transport: 'udp', address: '192.0.2.1', port: 5060 },
      sdp: sdp ?? undefined,
      attach: (attached: LegEvents) => {
        events = attached;
      },
      ring: (early?: string) => sent.push(early === undefined ? 180 : 183),
      answer: () => {
        sent.push(200);
        return acknowledged;
      },
      hangup: (cause: string) => hungUpWith.push(cause),
    };
    call.takeInbound(leg as unknown as InboundLeg);
    const script = {
      answer: { url: 'https://app.test/answer', method: 'POST' } as const,
      fallback: undefined,
    };
    const interpreter = new Interpreter(call, script, this.needs);
    const running = interpreter.run();
    await settle();
    return {
      call,
      interpreter,
      running,
      sent,
      hungUpWith,
      get media() {
        return mediaOf(call);
      },
      press: (keys) => {
        for (const key of keys) mediaOf(call).events.dtmf(key);
      },
      ends: (how, status) => events?.ended({ by: 'remote', how, status, reason: undefined }),
      refers: (to, replaces) => refers(events, to, replaces),
    };
  }

  #call(
    direction: 'inbound' | 'outbound',
    of: { accountId: AccountId; from: string; to: string; parent?: string },
  ): Call {
    this.#count += 1;
    const callUuid = asCallUuid(`00000000-0000-4000-8000-${String(this.#count).padStart(12, '0')}`);
    const identity: CallIdentity = {
      callUuid,
      accountId: of.accountId,
      subAccount: undefined,
      country: this.country,
      context: direction === 'inbound' ? 'inbound' : 'outbound',
      parentCallUuid: of.parent,
      endpointId: undefined,
      trunkId: undefined,
      terminatedTo: undefined,
      facts: {
        callUuid,
        requestUuid: undefined,
        direction,
        from: of.from,
        to: of.to,
        callerName: '',
        parentAuthId: of.accountId,
        routeType: 'pstn',
        sessionStartUs: wallUs(this.clock),
        stirVerification: 'Not Applicable',
        stirAttestation: '',
        forwardedFrom: '',
        sipHeaders: [],
        machine: undefined,
      },
    } as unknown as CallIdentity;
    const price = {
      currency: 'USD',
      perMinute: 6500 as Micros,
      pulseMs: 60_000,
      streamPerMinute: 0 as Micros,
      streamPulseMs: 60_000,
    };
    const log = new CallLog({ callUuid, accountId: of.accountId }, 1000, {
      clock: this.clock,
      closed: () => undefined,
    });
    const call = new Call(
      { identity, price, hangupTarget: undefined },
      {
        media: this.media.asMedia,
        clock: this.clock,
        sessionId: () => 1,
        bytes: (length) => new Uint8Array(length),
        srtp: { policy: 'optional', offered: false },
        codecs: { phones: ['PCMU', 'PCMA'], carriers: ['PCMU', 'PCMA'] },
        mediaTimeoutMs: 60_000,
        judgeRtp: () => ({ kind: 'send' }),
        log,
      },
    );
    this.calls.push(call);
    return call;
  }

  async #dial(request: BLegRequest): Promise<Result<Call, UnplacedLeg>> {
    const { destination, parent } = request;
    const to = destination.kind === 'number' ? destination.number : destination.uri;
    if (this.refused.has(to)) {
      const requested = { from: request.callerId ?? parent.facts.from, to };
      return err({
        cause: 'endpointNotRegistered',
        source: 'Error',
        detail: 'not there',
        ...requested,
      });
    }
    const { accountId } = parent.identity;
    const from = request.callerId ?? parent.facts.from;
    const call = this.#call('outbound', { accountId, from, to, parent: parent.uuid });
    request.onLeg?.(call);
    let events: OutboundLegEvents | undefined;
    const hungUpWith: string[] = [];
    const signalling: Signalling = {
      invite: (_target, _options, attached) => {
        events = attached;
        return {
          id: call.uuid,
          sipCallId: call.uuid,
          hangup: (cause) => hungUpWith.push(cause),
        };
      },
      onInbound: () => undefined,
      isRegistered: () => true,
      isSecured: () => false,
      isDown: () => false,
      isBrowser: () => false,
    };
    await call.dial(signalling, {
      targets: [{ kind: 'carrier', carrier: 'test', number: to }],
      from: { user: from, displayName: '' },
      headers: [],
    });
    this.called.push({
      call,
      request,
      hungUpWith,
      get media() {
        return mediaOf(call);
      },
      press: (keys) => {
        for (const key of keys) mediaOf(call).events.dtmf(key);
      },
      ends: (how, status) => events?.ended({ by: 'remote', how, status, reason: undefined }),
      refers: (to, replaces) => refers(events, to, replaces),
      rings: () => events?.progress(180, undefined),
      earlyMedia: () => events?.progress(183, SDP),
      answers: async (sdp = SDP) => {
        events?.connected(sdp);
        await settle();
      },
    });
    return ok(call);
  }

  /** Recognizes the speech that a test provides. */
  readonly recognizer: Recognizer = {
    listen: (_leg, options) => {
      const listener = new ScriptedListener(options);
      this.listeners.push(listener);
      return listener.listening;
    },
    transcribe: () => Promise.resolve(err({ kind: 'unavailable', detail: 'not in this test' })),
  };

  readonly transcriptions = {
    meter: () => {
      if (this.isPoor) return Promise.resolve(err('insufficientFunds' as const));
      this.openMeters += 1;
      return Promise.resolve(
        ok({
          begin: (exhausted: () => void) => {
            this.exhaust = exhausted;
          },
          close: (usedMs: number) => {
            this.openMeters -= 1;
            if (usedMs > 0) this.charged.push(usedMs);
            return Promise.resolve({ amount: 1500 as Micros, perMinute: 6000 as Micros });
          },
        }),
      );
    },
  };

  #makeNeeds(): InterpreterNeeds {
    const { clock } = this;
    const scene = this;
    const random = {
      bytes: (length: number) => new Uint8Array(length).fill(7),
      integer: () => 0,
    };
    const logger: Logger = {
      ...silentLogger,
      error: (facts, text) => this.errors.push(`${text}: ${String(facts['error'])}`),
    };
    const record = <R>(recordings: FakeRecording<R>[], request: R) => {
      const { promise: ended, resolve: end } = Promise.withResolvers<void>();
      const recording = {
        request,
        stoppedWith: [] as string[],
        pauses: [] as boolean[],
        ended,
        end,
      };
      recordings.push(recording);
      return Promise.resolve(
        ok({
          recordingId: `rec-${recordings.length}`,
          url: `https://media.test/rec-${recordings.length}.mp3`,
          ended: recording.ended,
          parameters: () => [['RecordingID', `rec-${recordings.length}`]],
          pause: (isPaused: boolean) => recording.pauses.push(isPaused),
          stop: (reason: string) => recording.stoppedWith.push(reason),
        }),
      );
    };
    const recorder = {
      dialAnswered: (call: Call) => this.dialAnswered.push(call),
      start: (_call: Call, request: CallRecordRequest) => record(this.callRecordings, request),
      stop: (call: Call) => {
        this.recordingStops.push(call);
        return this.callRecordings.length > 0;
      },
      pause: (_call: Call, isPaused: boolean) => {
        this.recordingPauses.push(isPaused);
        return this.callRecordings.length;
      },
      startRoom: (_room: MediaRoom, request: RoomRecordRequest) =>
        record(this.roomRecordings, request),
    };
    const callbacks = {
      fetchDocument: (target: { url: string }, parameters: CallbackParameters) => {
        this.requests.push({ url: target.url, parameters: asRecord(parameters) });
        const body = this.documents.get(target.url);
        if (body === undefined) {
          return Promise.resolve({
            ok: false,
            error: { kind: 'badStatus', detail: 'HTTP status 404' },
          });
        }
        const contentType = this.contentTypes.get(target.url) ?? 'application/xml';
        return Promise.resolve(ok({ body, contentType, url: target.url, usedFallback: false }));
      },
      notify: (draft: NotificationDraft) => this.notifications.push(draft),
      notifyStored: (notification: StoredNotification) => this.notifications.push(notification),
    };
    return {
      callbacks,
      media: this.media.asMedia,
      audio: {
        load: (url: string) => {
          this.loaded.push(url);
          return Promise.resolve(ok(PCM));
        },
      },
      holdMusic: () => Promise.resolve(undefined),
      speech: {
        speak: async function* () {
          yield ok(PCM);
        },
      },
      recognizer: this.recognizer,
      transcriptions: this.transcriptions,
      recorder,
      conferences: new Conferences({
        media: this.media.asMedia,
        recorder,
        clock,
        random,
        logger,
      } as unknown as ConstructorParameters<typeof Conferences>[0]),
      dialer: { dial: (request: BLegRequest) => this.#dial(request) },
      keeping: {
        noted: (call: Call) => void this.retained.push(call),
        changed: (call: Call) => {
          this.retained.push(call);
          return Promise.resolve();
        },
        settled: () => Promise.resolve(),
        beforeSettling: () => () => undefined,
        live: () => this.calls.filter((call) => !call.isEnded),
      },
      clock,
      random,
      logger,
      settings: {
        allowInsecureStreams: true,
        redirectsPerMinute: 10,
        ringTimeoutMs: 120_000,
        get answerBeforeDial() {
          return scene.answerBeforeDial;
        },
        referFrom: 'all',
        streamQueueMs: 60_000,
        platformName: 'Carillon',
      },
    } as unknown as InterpreterNeeds;
  }
}

function refers(events: LegEvents | undefined, to: string, replaces?: string): string[] {
  const reported: string[] = [];
  const notify = (what: string) => () => void reported.push(what);
  events?.referred?.({
    to,
    replaces,
    referredBy: undefined,
    accept: notify('accepted'),
    refuse: notify('refused'),
    ringing: notify('ringing'),
    succeeded: notify('succeeded'),
    failed: (cause: string) => void reported.push(cause),
  });
  return reported;
}

const asRecord = (parameters: CallbackParameters): Record<string, string> =>
  Object.fromEntries(parameters);
