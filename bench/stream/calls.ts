/** The service's side of the stream benchmark: legs of the native engine, and a stream socket on each. */
import { asAccountId, asCallUuid, asStreamId } from '../../src/base/ids.ts';
import { silentLogger } from '../../src/base/logger.ts';
import type { MediaLeg, StreamSocket } from '../../src/domain/call/needs.ts';
import { systemClock as clock } from '../../src/edge/clock/system-clock.ts';
import { createEgressGuard } from '../../src/edge/egress/egress.ts';
import { createMedia, type MediaEngine } from '../../src/edge/media/engine.ts';
import { type AudioStreamsEdge, createAudioStreams } from '../../src/edge/stream/client.ts';

const HOST = '127.0.0.1';
/** A stream that has not started by then, or not ended. */
const TIMEOUT_MS = 20_000;
/** Streams that connect at a time. */
const CONNECTING = 10;
const nothing = (): void => undefined;

const CALL = {
  streamId: asStreamId('5f0e6a52-6a0e-4a52-9a0b-0d6c2f3b7c22'),
  callUuid: asCallUuid('0b6c1c3e-8f0a-4f4e-9a53-2f6f2c9d1a11'),
  accountId: asAccountId('MA_0123456789ABCDEFG'),
  ownerId: 'MA_0123456789ABCDEFG',
  encoding: 'audio/x-l16',
  rate: 8000,
  tracks: 'inbound',
  bidirectional: true,
  extraHeaders: [],
  from: '14155550100',
  to: '14155550101',
  direction: 'inbound',
  callStartMs: 1_700_000_000_000,
} as const;

export class Calls {
  readonly media: MediaEngine;
  readonly #streams: AudioStreamsEdge;
  readonly #legs: readonly MediaLeg[];
  #sockets: StreamSocket[] = [];
  #ended: Array<Promise<string>> = [];

  private constructor(media: MediaEngine, streams: AudioStreamsEdge, legs: readonly MediaLeg[]) {
    this.media = media;
    this.#streams = streams;
    this.#legs = legs;
  }

  /** One leg for each phone. */
  static async open(phonePorts: readonly number[], caFile: string): Promise<Calls> {
    const media = createMedia({
      rtpHost: HOST,
      publicHost: HOST,
      portMin: 42_000,
      portMax: 43_999,
      drive: 'thread',
      wallMs: () => Date.now(),
      logger: silentLogger,
    });
    const streams = createAudioStreams({
      egress: createEgressGuard({ allow: [], allowLoopback: true, allowInsecure: true }),
      signUpgrade: () => Promise.resolve({}),
      userAgent: 'bench',
      caFile,
      clock,
      logger: silentLogger,
    });
    const legs = await Promise.all(phonePorts.map((port) => openLeg(media, port)));
    return new Calls(media, streams, legs);
  }

  /** Ports to which the phones send. */
  get ports(): readonly number[] {
    return this.#legs.map(({ port }) => port);
  }

  /** A stream on every leg; resolves when all of them have started. */
  async stream(urlOf: (call: number) => string): Promise<void> {
    for (let first = 0; first < this.#legs.length; first += CONNECTING) {
      const legs = this.#legs.slice(first, first + CONNECTING);
      await Promise.all(legs.map((leg, i) => this.#startStream(leg, first + i, urlOf(first + i))));
    }
  }

  async #startStream(leg: MediaLeg, call: number, url: string): Promise<void> {
    const started = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<string>();
    const events = {
      started: () => started.resolve(),
      ended: (end: { readonly kind: string }) => ended.resolve(JSON.stringify(end)),
      played: nothing,
      cleared: nothing,
      degraded: nothing,
      sendDigits: nothing,
      fault: nothing,
    };
    this.#sockets.push(this.#streams.open({ url, ...CALL }, leg, events));
    this.#ended.push(ended.promise);
    const failed = ended.promise.then((end) => {
      throw new Error(`the stream of call ${call} ended: ${end}`);
    });
    failed.catch(nothing);
    await within(Promise.race([started.promise, failed]), `the start of stream ${call}`);
  }

  /** Streams that run; fewer than calls when one has broken. */
  get open(): number {
    return this.#streams.counters().open;
  }

  /** Ends every stream; the legs stay. */
  async endStreams(): Promise<void> {
    for (const socket of this.#sockets) socket.close('call_hangup');
    await within(Promise.all(this.#ended), 'the end of the streams');
    this.#sockets = [];
    this.#ended = [];
  }

  stop(): Promise<void> {
    this.#streams.stop();
    return this.media.stop();
  }
}

async function openLeg(media: MediaEngine, phonePort: number): Promise<MediaLeg> {
  const leg = await media.openLeg({ mediaTimeoutMs: 60_000 }, { dtmf: nothing, silent: nothing });
  leg.configure({
    address: HOST,
    port: phonePort,
    codec: { name: 'PCMU', clockRate: 8000, sampleRate: 8000, channels: 1 },
    payloadType: { send: 0, receive: 0 },
    telephoneEvent: undefined,
    ptimeMs: 20,
    direction: 'sendrecv',
    protection: 'none',
  });
  return leg;
}

async function within<T>(promise: Promise<T>, what: string): Promise<T> {
  const over = new AbortController();
  const late = clock.sleep(TIMEOUT_MS, over.signal).then(() => {
    throw new Error(`${what} did not come within ${TIMEOUT_MS} ms`);
  });
  late.catch(nothing);
  try {
    return await Promise.race([promise, late]);
  } finally {
    over.abort();
  }
}
