/**
 * State machine of one audio-stream socket: checkpoints across clears, pings, faults, draining, the closing handshake
 * and exactly one end. It has no access to the socket: it receives inputs and returns outputs. Audio bypasses it,
 * because the media engine reads `playAudio` and writes `media`.
 */
import type { Machine } from '../../base/machine.ts';
import { TimerSet } from '../../base/timer-set.ts';
import { type ApplicationMessage, readApplicationMessage } from './application-message.ts';
import { Checkpoints } from './checkpoints.ts';
import { ENGINE_FAULTS, fault, oversizeFault, type StreamFault } from './fault.ts';
import * as encode from './service-message.ts';
import { DEFAULT_SESSION_LIMITS, type SessionLimits } from './session-limits.ts';
import type { SessionEnd, SessionInput, SessionOutput } from './session-types.ts';
import { TokenBucket } from './token-bucket.ts';

/** `closing`: the end has been reported and the closing handshake is in progress. */
type State = 'connecting' | 'open' | 'draining' | 'closing' | 'ended';
type Timer = 'connect' | 'ping' | 'pong' | 'drain' | 'close';

/** RFC 6455 §7.4.1. */
const NORMAL_CLOSURE = 1000;
const POLICY_VIOLATION = 1008;
const MESSAGE_TOO_BIG = 1009;
/** ID of the internal checkpoint that marks the end of the queue while draining. Application checkpoints start at 1. */
const DRAIN_CHECKPOINT = '0';

export class StreamSession implements Machine<SessionInput, SessionOutput> {
  readonly #stream: encode.StreamIdentity;
  readonly #limits: SessionLimits;
  readonly #timers = new TimerSet<Timer>();
  readonly #errors: TokenBucket;
  readonly #checkpoints: Checkpoints;
  #state: State = 'connecting';
  #untoldFaults = 0;
  #stopReason: encode.StopReason = 'call_hangup';
  /** End of the stream to report once the queue has drained. */
  #drainEnd: SessionEnd = { kind: 'closed' };
  #out: SessionOutput[] = [];
  #nowMs = 0;

  constructor(stream: encode.StreamIdentity, limits = DEFAULT_SESSION_LIMITS) {
    this.#stream = stream;
    this.#limits = limits;
    this.#errors = new TokenBucket(limits.errors);
    this.#checkpoints = new Checkpoints(limits.checkpoints);
  }

  /** True while messages may be sent: after `start` and before `stop`. */
  get sending(): boolean {
    return this.#state === 'open' || this.#state === 'draining';
  }

  deadlineMs(): number | undefined {
    return this.#timers.deadlineMs();
  }

  handle(input: SessionInput, nowMs: number): readonly SessionOutput[] {
    this.#begin(nowMs);
    if (this.#state !== 'ended') this.#dispatch(input);
    return this.#out;
  }

  expire(nowMs: number): readonly SessionOutput[] {
    this.#begin(nowMs);
    for (const timer of this.#timers.takeDue(nowMs)) {
      if (this.#state !== 'ended') this.#expired(timer);
    }
    return this.#out;
  }

  #begin(nowMs: number): void {
    this.#nowMs = nowMs;
    this.#out = [];
  }

  #dispatch(input: SessionInput): void {
    switch (input.kind) {
      case 'connecting':
        this.#timers.set('connect', this.#nowMs + this.#limits.connectMs);
        break;
      case 'opened':
        this.#opened();
        break;
      case 'received':
        if (this.sending) this.#read(input.bytes);
        break;
      case 'refused':
        this.#fault(ENGINE_FAULTS[input.why]);
        break;
      case 'flooding':
        this.#fault(fault('buffer_full', 'messages come faster than audio needs; reading slows'));
        break;
      case 'flooded':
        this.#flooded();
        break;
      case 'oversized':
        this.#oversized(oversizeFault(input.what, input.limitBytes));
        break;
      case 'played':
        this.#played(input.checkpoint, input.at);
        break;
      case 'speech':
        if (this.sending && this.#stream.speech?.events === true) {
          this.#send(encode.speechMessage(this.#stream, input));
        }
        break;
      case 'interrupted':
        this.#interrupted(input.checkpoints, input.at);
        break;
      case 'queueCleared':
        if (this.sending && this.#stream.positions === true) this.#cleared(input.at);
        break;
      case 'dtmf':
        this.#dtmf(input.digit, input.timestampMs);
        break;
      case 'transferProgress':
        this.#transferProgress(input.status, input.detail);
        break;
      case 'recordings':
        if (this.sending) this.#send(encode.recordingMessage(this.#stream.streamId, input));
        break;
      case 'pong':
        this.#timers.clear('pong');
        break;
      case 'broken':
        this.#breakOff(input.detail);
        break;
      case 'socketClosed':
        this.#socketClosed(input.detail);
        break;
      case 'close':
        this.#close(input.reason, input.drain);
        break;
    }
  }

  #opened(): void {
    if (this.#state !== 'connecting') return;
    this.#state = 'open';
    this.#timers.clear('connect');
    this.#timers.set('ping', this.#nowMs + this.#limits.pingMs);
    this.#send(encode.startMessage(this.#stream));
    this.#out.push({ kind: 'started' });
  }

  #read(bytes: Uint8Array): void {
    const message = readApplicationMessage(bytes, this.#stream);
    if (!message.ok) {
      this.#fault(message.error);
    } else if (!this.#stream.bidirectional && message.value.event !== 'stop') {
      const what = `${message.value.event} needs bidirectional="true"; this stream only listens`;
      this.#fault(fault('invalid_message', what));
    } else {
      this.#obey(message.value);
    }
  }

  #obey(message: ApplicationMessage): void {
    switch (message.event) {
      case 'playAudio':
        this.#out.push({ kind: 'enqueue', ...message.format, payload: message.payload });
        break;
      case 'checkpoint':
        this.#checkpoint(message.name);
        break;
      case 'clearAudio':
        this.#clearAudio();
        break;
      case 'sendDTMF':
        this.#out.push({ kind: 'sendDigits', digits: message.digits });
        break;
      case 'note':
        this.#out.push({ kind: 'note', note: message.note });
        break;
      case 'transfer':
        this.#out.push({ kind: 'transfer', transfer: message.transfer });
        break;
      case 'cancelTransfer':
        this.#out.push({ kind: 'cancelTransfer' });
        break;
      case 'pauseRecording':
      case 'resumeRecording':
        this.#out.push({ kind: 'pauseRecording', isPaused: message.event === 'pauseRecording' });
        break;
      case 'stop':
        this.#stopRequested(message.drain);
        break;
    }
  }

  #stopRequested(drain: boolean): void {
    if (this.#state !== 'open') {
      this.#stop(this.#drainEnd);
      return;
    }
    this.#stopReason = 'api_request';
    if (drain && this.#stream.bidirectional) this.#drain({ kind: 'stopRequested' });
    else this.#stop({ kind: 'stopRequested' });
  }

  #checkpoint(name: string): void {
    const id = this.#checkpoints.add(name);
    if (id !== undefined) {
      this.#out.push({ kind: 'checkpoint', id });
      return;
    }
    const what = `more than ${this.#limits.checkpoints} checkpoints wait; this one is ignored`;
    this.#fault(fault('buffer_full', what));
  }

  #clearAudio(): void {
    this.#checkpoints.discardAll();
    this.#out.push({ kind: 'clearQueue' });
    // With positions, the reply waits for the position: `queueCleared` follows immediately.
    if (this.#stream.positions !== true) this.#cleared();
  }

  #cleared(at?: encode.PlayPosition, reason?: 'bargeIn'): void {
    this.#send(encode.clearedAudioMessage(this.#stream.streamId, at, reason));
    this.#out.push({ kind: 'cleared' });
    if (this.#state === 'draining') this.#stop(this.#drainEnd);
  }

  #interrupted(ids: readonly string[], at: encode.PlayPosition): void {
    for (const id of ids) this.#checkpoints.take(id);
    if (this.sending) this.#cleared(at, 'bargeIn');
  }

  #played(id: string, at?: encode.PlayPosition): void {
    if (id === DRAIN_CHECKPOINT) {
      if (this.#state === 'draining') this.#stop(this.#drainEnd);
      return;
    }
    const name = this.#checkpoints.take(id);
    if (name === undefined || !this.sending) return;
    const { streamId, positions } = this.#stream;
    const shown = positions === true ? at : undefined;
    this.#send(encode.playedStreamMessage(streamId, name, shown));
    this.#out.push({ kind: 'played', name });
  }

  #transferProgress(status: string, detail: string): void {
    if (!this.sending) return;
    this.#send(encode.transferMessage(this.#stream.streamId, { status, detail }));
  }

  #dtmf(digit: string, timestampMs: number): void {
    if (!this.sending) return;
    this.#send(encode.dtmfMessage(this.#stream, digit, timestampMs));
  }

  #flooded(): void {
    if (!this.sending) return;
    const detail = 'the application flooded the socket';
    this.#startClosing(POLICY_VIOLATION, detail, { kind: 'dropped', detail });
  }

  #oversized(what: StreamFault): void {
    if (!this.sending) return;
    const { code, message: detail } = what;
    this.#out.push({ kind: 'fault', code, detail });
    const last = encode.errorMessage(this.#stream.streamId, what);
    this.#startClosing(MESSAGE_TOO_BIG, detail, { kind: 'dropped', detail }, last);
  }

  /**
   * Reports a fault to the bot and the call's log at a limited rate. The log later gets the number of suppressed
   * faults.
   */
  #fault(what: StreamFault): void {
    if (!this.sending) return;
    if (!this.#errors.takeIfThere(1, this.#nowMs)) {
      this.#untoldFaults += 1;
      return;
    }
    this.#send(encode.errorMessage(this.#stream.streamId, what));
    this.#out.push({ kind: 'fault', code: what.code, detail: what.message });
  }

  #close(reason: encode.StopReason, drain: boolean): void {
    if (this.#state === 'connecting') {
      this.#out.push({ kind: 'dropSocket' });
      this.#end({ kind: 'closed' });
      return;
    }
    if (!this.sending) return;
    this.#stopReason = reason;
    if (!drain || !this.#stream.bidirectional) {
      this.#stop({ kind: 'closed' });
    } else if (this.#state === 'open') {
      this.#drain({ kind: 'closed' });
    }
  }

  #drain(end: SessionEnd): void {
    this.#state = 'draining';
    this.#drainEnd = end;
    this.#timers.set('drain', this.#nowMs + this.#limits.drainMs);
    this.#out.push({ kind: 'checkpoint', id: DRAIN_CHECKPOINT });
  }

  /** Sends `stop`, then starts the closing handshake. */
  #stop(end: SessionEnd): void {
    const stop = encode.stopMessage(this.#stream, this.#stopReason);
    this.#startClosing(NORMAL_CLOSURE, 'stream ended', end, stop);
  }

  /** Reports the end immediately, because the closing handshake cannot change it. Only its time limit remains. */
  #startClosing(code: number, reason: string, end: SessionEnd, last?: string): void {
    this.#out.push({ kind: 'closeSocket', code, reason, last });
    this.#end(end);
    this.#state = 'closing';
    this.#timers.set('close', this.#nowMs + this.#limits.closeMs);
  }

  #breakOff(detail: string): void {
    if (!this.sending) return;
    this.#out.push({ kind: 'dropSocket' });
    this.#end({ kind: 'dropped', detail });
  }

  #socketClosed(detail: string): void {
    if (this.#state === 'connecting') this.#end({ kind: 'connectFailed', detail });
    else if (this.#state === 'open') this.#end({ kind: 'dropped', detail });
    else if (this.#state === 'draining') this.#end(this.#drainEnd);
    else this.#forget();
  }

  #end(end: SessionEnd): void {
    if (this.#untoldFaults > 0) {
      const detail = `${this.#untoldFaults} more faults came too fast to be reported one by one`;
      this.#out.push({ kind: 'fault', code: 'invalid_message', detail });
    }
    this.#forget();
    this.#out.push({ kind: 'ended', end });
  }

  #forget(): void {
    this.#state = 'ended';
    this.#timers.clearAll();
    this.#checkpoints.discardAll();
  }

  #expired(timer: Timer): void {
    switch (timer) {
      case 'connect':
        this.#out.push({ kind: 'dropSocket' });
        this.#socketClosed(`no WebSocket connection within ${this.#limits.connectMs} ms`);
        break;
      case 'ping':
        this.#out.push({ kind: 'ping' });
        this.#timers.set('ping', this.#nowMs + this.#limits.pingMs);
        if (!this.#timers.has('pong')) this.#timers.set('pong', this.#nowMs + this.#limits.pongMs);
        break;
      case 'pong':
        this.#breakOff(`no pong within ${this.#limits.pongMs} ms of a ping`);
        break;
      case 'drain':
        this.#stop(this.#drainEnd);
        break;
      case 'close':
        this.#out.push({ kind: 'dropSocket' });
        this.#forget();
        break;
    }
  }

  #send(text: string): void {
    this.#out.push({ kind: 'send', text });
  }
}
