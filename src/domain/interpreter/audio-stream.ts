/** Audio streams of calls, opened by a `Stream` element or through the REST API. */
import { newStreamId, type StreamId } from '../../base/ids.ts';
import { withoutUserInfo } from '../../base/mask.ts';
import type { Call } from '../call/call.ts';
import type {
  StreamSocket,
  StreamSocketEnd,
  StreamSocketEvents,
  StreamSocketOptions,
  StreamStopReason,
  StreamTransfer,
  TransferProgress,
} from '../call/needs.ts';
import { mayKeepAudio } from '../call/types.ts';
import { partyParameter } from '../callback/callback.ts';
import type { CallbackParameters } from '../callback/types.ts';
import type { StreamTermination } from '../cdr/types.ts';
import { notify } from './call-callbacks.ts';
import { disclosedAt } from './disclosure.ts';
import type { InterpreterNeeds } from './needs.ts';
import type {
  AudioStreamEnd,
  AudioStreamRequest,
  FailedAudioStream,
  LiveAudioStream,
  StopKind,
  TransferHandler,
} from './stream.ts';
import { streamParameters } from './stream-callback.ts';
import { factsOf, limitOfStreams } from './stream-record.ts';
import { Turns } from './turns.ts';

const STOP_REASON: Readonly<Record<StopKind, StreamStopReason>> = {
  timeout: 'stream_timeout',
  apiRequest: 'api_request',
  callEnded: 'call_hangup',
  transferred: 'transfer',
};
const TERMINATION: Readonly<Record<AudioStreamEnd['kind'], StreamTermination>> = {
  stopRequested: 'API request',
  apiRequest: 'API request',
  timeout: 'Stream timeout',
  callEnded: 'Call hangup',
  transferred: 'API request',
  dropped: 'Connection error',
};
/** Delay before the first reconnect, in ms; doubled for each further attempt. */
const RECONNECT_MS = 250;

/** Failed streams kept per call until its end; the oldest are dropped beyond that. */
const MAX_FAILED = 20;

const NOT_DISCLOSED = 'streams.requireDisclosure: no disclosure was played before the stream';

const live = new WeakMap<Call, Set<AudioStream>>();
const failed = new WeakMap<Call, readonly FailedAudioStream[]>();

export const streamsOf = (call: Call): readonly LiveAudioStream[] => [...(live.get(call) ?? [])];

/** Streams of the call whose connection never succeeded. */
export const failedStreamsOf = (call: Call): readonly FailedAudioStream[] => failed.get(call) ?? [];

function keepFailed(call: Call, { streamId, request, startUs }: LiveAudioStream): void {
  const one = { streamId, request, startUs, endUs: call.nowUs() };
  failed.set(call, [...failedStreamsOf(call), one].slice(-MAX_FAILED));
}

/** Returns why a bidirectional stream needs a disclosure first; undefined if the call may have the stream. */
export const undisclosed = (
  call: Call,
  { bidirectional }: Pick<AudioStreamRequest, 'bidirectional'>,
  { settings }: Pick<InterpreterNeeds, 'settings'>,
): string | undefined =>
  settings.requireDisclosure && bidirectional && disclosedAt(call) === undefined
    ? NOT_DISCLOSED
    : undefined;

/** Opens an audio stream. Returns undefined if the call may not have it, has ended or has reached its stream limit. */
export function openAudioStream(
  call: Call,
  request: AudioStreamRequest,
  needs: InterpreterNeeds,
): LiveAudioStream | undefined {
  if (call.isEnded) return undefined;
  const agreed = mayKeepAudio(call);
  const refusal = agreed.ok
    ? (limitOfStreams(streamsOf(call), request.bidirectional) ?? undisclosed(call, request, needs))
    : agreed.error.detail;
  if (refusal !== undefined) {
    call.log.add('warning', 'stream refused', { reason: refusal });
    return undefined;
  }
  const streams = live.get(call) ?? new Set<AudioStream>();
  live.set(call, streams);
  const stream = new AudioStream(call, request, needs);
  streams.add(stream);
  void stream.ended.then(() => streams.delete(stream));
  return stream;
}

class AudioStream implements LiveAudioStream {
  readonly request: AudioStreamRequest;
  readonly startUs: number;
  readonly ended: Promise<AudioStreamEnd>;
  readonly #call: Call;
  readonly #needs: InterpreterNeeds;
  #resolve: (end: AudioStreamEnd) => void = () => undefined;
  #socket: StreamSocket | undefined;
  /** Stream IDs, one per connection, newest last: at most maxRetries + 1. */
  readonly #ids: StreamId[] = [];
  #currentId: StreamId;
  #retriesLeft: number;
  #connected = false;
  /** Stream ID of the first connection. In records, all connections form one stream. */
  #recordId: StreamId | undefined;
  #over = false;
  #draining: StopKind | undefined;
  readonly #turns = new Turns();
  /** Latest billed moment of the stream (µs, call timeline), even if its timer fires late. */
  readonly #limitUs: number;
  #transferHandler: TransferHandler | undefined;
  /** Latest progress of a transfer that the bot has not received, because it was not connected. */
  #untold: TransferProgress | undefined;
  #cancelTimeout: () => void;

  constructor(call: Call, request: AudioStreamRequest, needs: InterpreterNeeds) {
    this.#call = call;
    this.#needs = needs;
    this.request = request;
    this.#untold = request.failedTransfer;
    this.startUs = call.nowUs();
    this.#currentId = this.#newId();
    this.#retriesLeft = request.maxRetries;
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#limitUs = this.startUs + request.timeoutMs * 1000;
    this.#cancelTimeout = needs.clock.at(call.msAt(this.#limitUs), () => this.stop('timeout'));
    const onCallEnd = (): void => this.stop('callEnded');
    call.signal.addEventListener('abort', onCallEnd, { once: true });
    void this.ended.then(() => call.signal.removeEventListener('abort', onCallEnd));
    this.#open();
  }

  get connected(): boolean {
    return this.#connected;
  }

  get streamId(): StreamId {
    return this.#currentId;
  }

  isCalled(streamId: StreamId): boolean {
    return this.#ids.includes(streamId);
  }

  stop(kind: StopKind, { drain } = { drain: false }): void {
    if (this.#over) return;
    const socket = this.#socket;
    if (drain && this.#connected) {
      this.#draining ??= kind;
      socket?.close(STOP_REASON[kind], { drain });
      return;
    }
    this.#finish({ kind });
    socket?.close(STOP_REASON[kind]);
  }

  onTransfer(handler: TransferHandler): void {
    this.#transferHandler = handler;
  }

  transferProgress(progress: TransferProgress): void {
    if (!this.request.transfers) return;
    if (this.#connected) this.#socket?.transferProgress?.(progress);
    else this.#untold = progress;
  }

  #transferTo(transfer: StreamTransfer): void {
    const { mode, to } = transfer;
    this.#call.log.add('stream', 'transfer requested', { mode, to });
    this.#transferHandler?.begin(transfer);
  }

  #newId(): StreamId {
    const id = newStreamId(this.#needs.random);
    this.#ids.push(id);
    return id;
  }

  #open(): void {
    this.#call.log.add('stream', 'connecting', {
      streamId: this.#currentId,
      url: withoutUserInfo(this.request.url),
    });
    this.#socket = this.#needs.streams.open(
      this.#socketOptions(),
      this.#call.media,
      this.#events(),
    );
  }

  #socketOptions(): StreamSocketOptions {
    const { request } = this;
    const { identity } = this.#call;
    return {
      url: request.url,
      streamId: this.#currentId,
      callUuid: this.#call.uuid,
      accountId: identity.subAccount ?? identity.accountId,
      ownerId: identity.accountId,
      encoding: request.encoding,
      rate: request.rate,
      tracks: request.audioTrack,
      bidirectional: request.bidirectional,
      extraHeaders: request.extraHeaders,
      from: partyParameter(identity.facts.from),
      to: partyParameter(identity.facts.to),
      direction: identity.facts.direction,
      callStartMs: Math.floor(identity.facts.sessionStartUs / 1000),
      ...(request.speech && { speech: request.speech }),
      ...(request.clean && { clean: request.clean }),
      positions: request.playPositions,
      notes: request.notes,
      transfers: request.transfers,
    };
  }

  #events(): StreamSocketEvents {
    return {
      started: () => this.#started(this.#call.nowUs()),
      played: (name) => this.#notify('PlayedStream', [['Name', name]]),
      cleared: () => this.#notify('ClearedAudio'),
      notCleaned: (reason) =>
        this.#call.log.add('warning', 'audio is not cleaned', {
          streamId: this.#currentId,
          reason,
        }),
      interrupted: (at) => {
        this.#turns.interrupted();
        this.#call.log.add('stream', 'caller interrupted the bot', { ...at });
      },
      turn: (latencyMs) => {
        this.#turns.took(latencyMs);
        this.#call.log.add('stream', 'turn', { latencyMs });
      },
      degraded: (percent) =>
        this.#notify('DegradedStream', [['Level', String(percent)]], 'connection degraded'),
      missed: (ms) =>
        this.#call.log.add('warning', 'audio dropped: the bot did not read its socket', {
          streamId: this.#currentId,
          ms,
        }),
      sendDigits: (digits) => this.#sendDigits(digits),
      pauseRecording: (isPaused) => {
        const count = this.#needs.recorder.pause(this.#call, isPaused);
        if (count === 0) this.#call.log.add('warning', 'bot: no recording is running');
        return count;
      },
      note: ({ kind, speaker, text }) => {
        const facts = speaker === undefined ? { text } : { speaker, text };
        this.#call.log.add('stream', kind === 'agent' ? 'agent' : 'transcript', facts);
      },
      transfer: (transfer) => this.#transferTo(transfer),
      cancelTransfer: () => this.#transferHandler?.cancel(),
      fault: (code, detail) => this.#call.log.add('stream', `bot fault: ${code}`, { detail }),
      ended: (end) => this.#socketEnded(end),
    };
  }

  #started(startUs: number): void {
    this.#connected = true;
    this.#call.log.add('stream', 'connected', { streamId: this.#currentId });
    if (this.#recordId === undefined) {
      this.#recordId = this.#currentId;
      this.#call.streams.opened(factsOf(this.request, this.#recordId), startUs);
    } else {
      this.#call.streams.resumed(this.#recordId, startUs);
    }
    this.#persist();
    this.#notify('StartStream');
    const untold = this.#untold;
    this.#untold = undefined;
    if (untold !== undefined) this.transferProgress(untold);
  }

  #socketEnded(end: StreamSocketEnd): void {
    if (this.#over) return;
    this.#socket = undefined;
    if (end.kind === 'stopRequested') {
      this.#finish({ kind: 'stopRequested' });
      return;
    }
    if (end.kind === 'closed' && this.#draining !== undefined) {
      this.#finish({ kind: this.#draining });
      return;
    }
    const detail = 'detail' in end ? end.detail : 'closed';
    this.#call.log.add('stream', end.kind, { streamId: this.#currentId, detail });
    const isWanted = this.#draining === undefined && !this.#call.isEnded;
    if (this.#retriesLeft > 0 && isWanted) this.#reconnect();
    else this.#finish({ kind: 'dropped', detail });
  }

  /** Reconnects for the same call with another socket and stream ID (dialect §1.5, maxRetries). */
  #reconnect(): void {
    const attempt = this.request.maxRetries - this.#retriesLeft;
    this.#retriesLeft -= 1;
    this.#lost();
    void this.#needs.clock.sleep(RECONNECT_MS * 2 ** attempt, this.#call.signal).then(
      () => {
        if (this.#over) return;
        this.#currentId = this.#newId();
        this.#open();
      },
      () => undefined, // the call and with it this stream ended during the pause
    );
  }

  /** Records a lost connection: the stream is not billed until it reconnects. */
  #lost(): void {
    if (!this.#connected) return;
    this.#connected = false;
    if (this.#recordId === undefined) return;
    if (this.#call.streams.lost(this.#recordId, this.#bookedUs())) this.#persist();
  }

  #finish(end: AudioStreamEnd): void {
    this.#over = true;
    this.#cancelTimeout();
    this.#keepEnd(end);
    this.#call.log.add('stream', `ended: ${end.kind}`, { streamId: this.#currentId });
    if (end.kind === 'dropped') {
      this.#notify('DroppedStream', [], 'connection disconnected with the remote service');
    } else if (this.#recordId !== undefined) {
      // `StopStream` is sent only for a stream that has started.
      this.#notify('StopStream');
    }
    this.#resolve(end);
  }

  #keepEnd({ kind }: AudioStreamEnd): void {
    const reason = TERMINATION[kind];
    if (this.#recordId !== undefined) {
      const turns = this.#turns.summary();
      const disclosedUs = disclosedAt(this.#call);
      const end = {
        atUs: this.#bookedUs(),
        reason,
        ...(turns && { turns }),
        ...(disclosedUs !== undefined && { disclosedUs }),
      };
      if (this.#call.streams.closed(this.#recordId, end)) this.#persist();
    } else if (kind === 'dropped') {
      const end = { atUs: this.#call.endUs ?? this.#call.nowUs(), reason };
      this.#call.streams.refused(factsOf(this.request, this.#currentId), end);
      keepFailed(this.#call, this);
      this.#persist();
    }
  }

  /** End time for records (µs, call timeline): now, capped at the end of the call and the time limit. */
  #bookedUs(): number {
    return Math.min(this.#call.endUs ?? this.#call.nowUs(), this.#limitUs);
  }

  #persist(): void {
    // Settlement of an ended call stores the streams.
    if (this.#call.isEnded) return;
    const { keeping, logger } = this.#needs;
    keeping.changed(this.#call).catch((error: unknown) => {
      logger.error({ error, callUuid: this.#call.uuid }, 'stream not recorded');
    });
  }

  #sendDigits(digits: string): void {
    this.#call.log.add('stream', 'sendDTMF', { count: digits.length });
    void this.#call.media.sendDigits(digits, { toneMs: 160, gapMs: 80, inband: false });
  }

  #notify(event: string, own: CallbackParameters = [], error = ''): void {
    const { statusCallback } = this.request;
    if (statusCallback === undefined) return;
    const stream = { ...this.request, statusCallback, streamId: this.#currentId };
    notify({ call: this.#call, needs: this.#needs }, event, statusCallback, [
      ...streamParameters(this.#call, stream, event, error),
      ...own,
    ]);
  }
}
