import type {
  AudioCleaning,
  MediaStream,
  MediaStreamEvents,
  MediaStreamOptions,
  PlayPosition,
  StreamEncoding,
  StreamReceiveResult,
  StreamWire,
} from '../../domain/call/needs.ts';
import type { NativeEvent } from './events.ts';
import type { Hub } from './hub.ts';
import type { LegHandle, NativeStream, StreamHandle } from './native.ts';

/** Names in the order of the native PlayResult. */
const RESULTS: readonly StreamReceiveResult[] = [
  'taken',
  'other',
  'badPayload',
  'unsupportedFormat',
  'wrongStream',
  'bufferFull',
];
const TAKEN = 0;
const LEVELS = [30, 60, 90] as const;
/** Hysteresis in percent: a level is reported again only after the queue has fallen this far below it. */
const LEVEL_HYSTERESIS = 10;
/** Maximum number of pending checkpoints per stream. */
const MAX_CHECKPOINTS = 1000;

/** Media side of one audio stream: the native queue and the names of its checkpoints. */
export class LegStream implements MediaStream {
  readonly #hub: Hub;
  readonly #leg: LegHandle;
  readonly #handle: StreamHandle;
  readonly #wire: StreamWire | undefined;
  /** Native stream; undefined if media is connected directly to the bot's socket. */
  readonly #native: NativeStream | undefined;
  readonly #events: MediaStreamEvents;
  readonly #onClose: () => void;
  readonly #names = new Map<number, string>();
  #lastCheckpoint = 0;
  /** Number of the last clear whose position was reported. */
  #lastClear = 0;
  /** Levels reported and not left since. */
  readonly #reported = new Set<number>();
  #closed = false;

  constructor(
    hub: Hub,
    leg: LegHandle,
    options: MediaStreamOptions,
    events: MediaStreamEvents,
    onClose: () => void,
  ) {
    this.#hub = hub;
    this.#leg = leg;
    this.#handle = hub.newHandle();
    this.#events = events;
    this.#onClose = onClose;
    this.#wire = options.wire;
    hub.listenToStream(this.#handle, {
      media: (messages) => events.media(messages),
      other: (event) => {
        this.#heard(event);
      },
    });
    const { streamId, encoding, rate, tracks, bidirectional, extraHeadersJson, queueMs, speech } =
      options;
    this.#native = hub.engine.openStream({
      leg,
      stream: this.#handle,
      streamId,
      encoding,
      rate,
      tracks,
      bidirectional,
      extraHeadersJson,
      queueMs,
      epochMs: hub.wallMs(),
      speech: speech && {
        sensitivity: speech.sensitivity,
        minimumMs: speech.minimumMs,
        endMs: speech.endMs,
        bargeIn: speech.bargeIn,
      },
      clean: this.#cleaning(options),
      sockets: options.wire?.sockets,
      socket: options.wire?.handle,
    });
  }

  /** Without the library, the stream carries the original audio. */
  #cleaning({ clean }: MediaStreamOptions): AudioCleaning | undefined {
    if (clean === undefined) return undefined;
    const reason = this.#hub.native.cleaningProblem();
    if (reason === '') return clean;
    this.#events.notCleaned?.(reason);
    return undefined;
  }

  receive(message: Uint8Array): StreamReceiveResult {
    if (this.#closed || this.#native === undefined) return 'other';
    return RESULTS[this.#queued(this.#native.receive(message))] ?? 'other';
  }

  enqueue(encoding: StreamEncoding, rate: 8000 | 16000 | 24000, payload: Uint8Array): boolean {
    if (this.#closed) return false;
    if (this.#native === undefined) {
      this.#wire?.enqueue(encoding, rate, payload);
      return true;
    }
    return this.#queued(this.#native.enqueue(encoding, rate, payload)) === TAKEN;
  }

  clear(): PlayPosition | undefined {
    if (this.#closed) return undefined;
    // The thread of the socket has already executed a simple `clearAudio`. The engine publishes its position; this clear
    // changes nothing. For other messages, the position is known only after the clear has been executed on that thread.
    this.#native?.clear();
    const at = this.#hub.engine.clearedAt(this.#handle);
    this.#wire?.clear();
    // Checkpoints already reached but not yet reported are discarded too.
    this.#names.clear();
    if (at === undefined || at[0] === this.#lastClear) return undefined;
    const [clears, playedMs, message, messagePlayedMs, messageMs, discardedMs] = at;
    this.#lastClear = clears;
    return { playedMs, message, messagePlayedMs, messageMs, discardedMs };
  }

  checkpoint(name: string): void {
    if (this.#closed || this.#names.size >= MAX_CHECKPOINTS) return;
    this.#lastCheckpoint = (this.#lastCheckpoint + 1) >>> 0;
    this.#names.set(this.#lastCheckpoint, name);
    (this.#native ?? this.#wire)?.checkpoint(this.#lastCheckpoint);
  }

  /** Milliseconds of queued audio, for a stream without a direct connection. */
  queuedMs(): number {
    return this.#closed ? 0 : (this.#native?.queuedMs() ?? 0);
  }

  pause(paused: boolean): void {
    if (!this.#closed) this.#hub.engine.pauseStream(this.#leg, this.#handle, paused);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#names.clear();
    this.#hub.forgetStream(this.#handle);
    this.#hub.engine.closeStream(this.#leg, this.#handle);
    this.#onClose();
  }

  dtmf(digit: string, timestampMs: number): void {
    if (!this.#closed) this.#events.dtmf(digit, timestampMs);
  }

  #heard(event: NativeEvent): void {
    switch (event.type) {
      case 'played':
        this.#played(event.checkpoint, event.at);
        break;
      case 'speech': {
        const { started, confidence, atMs } = event;
        this.#events.speech?.({ started, confidence, timestampMs: this.#hub.wallOf(atMs) });
        break;
      }
      case 'interrupted':
        this.#interrupted(event.checkpoint, event.at);
        break;
      case 'turn':
        this.#events.turn?.(event.latencyMs);
        break;
    }
  }

  #played(checkpoint: number, at: PlayPosition): void {
    const name = this.#names.get(checkpoint);
    if (name === undefined) return;
    this.#names.delete(checkpoint);
    this.#events.played(name, at);
  }

  /** `last` is the last discarded checkpoint. Later ones are still in the queue. */
  #interrupted(last: number | undefined, at: PlayPosition): void {
    const names: string[] = [];
    if (last !== undefined && this.#names.has(last)) {
      for (const [id, name] of this.#names) {
        names.push(name);
        this.#names.delete(id);
        if (id === last) break;
      }
    }
    this.#events.interrupted?.(names, at);
  }

  /** Reads the outcome from a packed native result and reports the levels reached. */
  #queued(packed: number): number {
    const before = (packed >>> 8) & 0xff;
    const after = packed >>> 16;
    for (const level of LEVELS) {
      if (before < level - LEVEL_HYSTERESIS) this.#reported.delete(level);
      if (after < level || this.#reported.has(level)) continue;
      this.#reported.add(level);
      // Defer the report, because the caller is handling the message that filled the queue.
      queueMicrotask(() => {
        if (!this.#closed) this.#events.degraded(level);
      });
    }
    return packed & 0xff;
  }
}
