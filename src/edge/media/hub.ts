/** Delivers native events to the listeners of their handles. One instance per engine. */
import type { Logger } from '../../base/logger.ts';
import { type NativeEvent, readBatch, type StreamEvent } from './events.ts';
import type { Native, NativeEngine, OwnHandle, Place, StreamHandle } from './native.ts';

export type EventListener = (event: NativeEvent) => void;

export interface StreamListener {
  media(messages: readonly Uint8Array[]): void;
  other(event: NativeEvent): void;
}

/** Batch size in bytes. 1 MiB holds 60 ms of events from 300 streams; the rest waits for the next round. */
const BATCH_BYTES = 1 << 20;
/** Maximum number of rounds per wakeup. Remaining events wait for the next turn of the event loop. */
const MAX_ROUNDS = 16;
type OfPlace = Extract<NativeEvent, { readonly handle: Place }>;
const OF_PLACES: ReadonlySet<NativeEvent['type']> = new Set<OfPlace['type']>([
  'dtmf',
  'mediaTimeout',
  'floorChanged',
  'sourceChanged',
  'secured',
]);
/** Returns whether the handle of an event names a leg or a room. */
const isOfPlace = (event: NativeEvent): event is OfPlace => OF_PLACES.has(event.type);

const OF_STREAMS: ReadonlySet<NativeEvent['type']> = new Set<StreamEvent['type']>([
  'played',
  'speech',
  'interrupted',
  'turn',
]);
const isOfStream = (event: NativeEvent): event is StreamEvent => OF_STREAMS.has(event.type);

interface HubOptions {
  readonly wallMs: () => number;
  readonly logger: Logger;
  readonly suppressDigits?: boolean;
}

export class Hub {
  readonly native: Native;
  readonly engine: NativeEngine;
  readonly wallMs: () => number;
  readonly logger: Logger;
  /** True to remove DTMF tones from recordings. */
  readonly suppressDigits: boolean;
  readonly #batch = new Uint8Array(BATCH_BYTES);
  readonly #listeners = new Map<OwnHandle, EventListener>();
  readonly #places = new Map<Place, EventListener>();
  readonly #streams = new Map<StreamHandle, StreamListener>();
  /** Messages of the current batch by stream. */
  readonly #messages = new Map<StreamHandle, Uint8Array[]>();
  #lastHandle = 0;
  #pumping = false;

  constructor(
    native: Native,
    makeEngine: (onEvents: () => void) => NativeEngine,
    options: HubOptions,
  ) {
    this.native = native;
    this.wallMs = options.wallMs;
    this.logger = options.logger;
    this.suppressDigits = options.suppressDigits ?? false;
    this.engine = makeEngine(() => this.pump());
  }

  /** Returns a new handle: never 0, unique for 2^32 calls. */
  newHandle<Handle extends OwnHandle>(): Handle {
    this.#lastHandle = this.#lastHandle >= 0x7fff_ffff ? 1 : this.#lastHandle + 1;
    return this.#lastHandle as Handle;
  }

  listen(handle: OwnHandle, listener: EventListener): void {
    this.#listeners.set(handle, listener);
  }

  listenToStream(handle: StreamHandle, listener: StreamListener): void {
    this.#streams.set(handle, listener);
  }

  /**
   * Registers a listener for a leg or room. The native side assigns their handles, which may equal those of newHandle.
   */
  listenToPlace(place: Place, listener: EventListener): void {
    this.#places.set(place, listener);
  }

  forgetPlace(place: Place): void {
    this.#places.delete(place);
  }

  forget(handle: OwnHandle): void {
    this.#listeners.delete(handle);
  }

  forgetStream(handle: StreamHandle): void {
    this.#streams.delete(handle);
    this.#messages.delete(handle);
  }

  /** Converts a time of the engine's clock to wall time in milliseconds. */
  wallOf(engineMs: number): number {
    return Math.round(this.wallMs() - (this.engine.nowMs() - engineMs));
  }

  /** Delivers all pending events. */
  pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    try {
      for (let round = 0; round < MAX_ROUNDS; round += 1) {
        const length = this.engine.takeEvents(this.#batch);
        if (length === 0) break;
        readBatch(this.#batch, length, (event) => this.#dispatch(event));
        for (const handle of [...this.#messages.keys()]) this.#deliverMedia(handle);
        if (round === MAX_ROUNDS - 1) setImmediate(() => this.pump());
      }
    } finally {
      this.#pumping = false;
    }
  }

  #dispatch(event: NativeEvent): void {
    if (event.type === 'media') {
      const waiting = this.#messages.get(event.handle);
      if (waiting !== undefined) waiting.push(event.message);
      else if (this.#streams.has(event.handle)) this.#messages.set(event.handle, [event.message]);
      return;
    }
    if (isOfStream(event)) {
      const stream = this.#streams.get(event.handle);
      if (stream === undefined) return;
      this.#deliverMedia(event.handle);
      this.#guard(() => stream.other(event));
      return;
    }
    const listener = isOfPlace(event)
      ? this.#places.get(event.handle)
      : this.#listeners.get(event.handle);
    if (listener !== undefined) this.#guard(() => listener(event));
  }

  /** Delivers the messages of one stream before a later event of the same stream. */
  #deliverMedia(handle: StreamHandle): void {
    const messages = this.#messages.get(handle);
    if (messages === undefined) return;
    this.#messages.delete(handle);
    const stream = this.#streams.get(handle);
    if (stream !== undefined) this.#guard(() => stream.media(messages));
  }

  /** Logs an error of a listener, so that other listeners still receive the batch. */
  #guard(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.logger.error({ error }, 'media event listener failed');
    }
  }
}
