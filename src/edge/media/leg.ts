import { assert } from '../../base/errors.ts';
import type {
  DigitsOptions,
  LineRate,
  MachineDetectionOptions,
  MachineDetectionResult,
  MediaLeg,
  MediaLegEvents,
  MediaRecording,
  MediaSession,
  MediaStream,
  MediaStreamEvents,
  MediaStreamOptions,
  Pcm,
  PeerAtEnd,
  Playback,
  PlayOptions,
  RecordOptions,
  Tone,
} from '../../domain/call/needs.ts';
import type { MediaQuality } from '../../domain/cdr/types.ts';
import { DigitQueue } from './digits.ts';
import { DtmfDeduplication, type DtmfMethod } from './dtmf-deduplication.ts';
import type { NativeEvent } from './events.ts';
import type { Hub } from './hub.ts';
import { Listening, NOT_DETECTED } from './listening.ts';
import type { LegHandle } from './native.ts';
import {
  type NativeStatistics,
  readStatistics,
  sessionValues,
  statisticsBuffer,
} from './native-values.ts';
import { Players } from './playback.ts';
import { type NativeRecording, startRecording } from './recording.ts';
import { LegStream } from './stream.ts';

/** Names by their numbers in native/core/base/events.hpp (SourceChange). */
const SOURCE_CHANGES = ['learned', 'signalled', 'moved', 'preferred', 'replaced'] as const;
type SourceChanged = Extract<NativeEvent, { type: 'sourceChanged' }>;
/** Native limit of streams per leg (Leg::kMaxStreams). */
const MAX_STREAMS = 8;

/**
 * Quarantine of a leg's ports in milliseconds. A peer may answer an offer that is being withdrawn: a 200 that crosses
 * our CANCEL, or a repeated one, gets its BYE within seconds. The minimum lets the media thread close its sockets.
 */
export const REST_MS: Readonly<Record<PeerAtEnd, number>> = {
  known: 30_000,
  offered: 5000,
  refused: 1000,
};

/** Shared buffer; each use reads it before the next one. */
const FIGURES = statisticsBuffer();

const NO_QUALITY: MediaQuality = {
  packetsReceived: 0,
  packetsSent: 0,
  packetsLost: 0,
  packetsLate: 0,
  jitterMs: 0,
  lossFraction: 0,
  mos: undefined,
  roundTripMs: undefined,
};

function qualityOf(statistics: NativeStatistics): MediaQuality {
  return {
    packetsReceived: statistics.packetsReceived,
    packetsSent: statistics.packetsSent,
    packetsLost: statistics.packetsLost,
    packetsLate: statistics.packetsLate,
    jitterMs: statistics.jitterMs,
    lossFraction: statistics.lossFraction,
    mos: statistics.mos > 0 ? statistics.mos : undefined,
    roundTripMs: statistics.roundTripMs >= 0 ? statistics.roundTripMs : undefined,
    discardFraction: statistics.discardFraction,
    burstDensity: statistics.burstDensity,
    burstMs: statistics.burstMs,
    gapMs: statistics.gapMs,
    rating: statistics.rating >= 0 ? statistics.rating : undefined,
    playoutDelayMs: statistics.playoutDelayMs,
    peer: peerOf(statistics),
  };
}

function peerOf({ peerLossFraction, peerJitterMs, peerMos }: NativeStatistics) {
  if (peerMos < 0) return undefined;
  return {
    lossFraction: Math.max(0, peerLossFraction),
    jitterMs: Math.max(0, peerJitterMs),
    mos: peerMos,
  };
}

/** One native leg and its listeners in JavaScript. */
export class NativeLeg implements MediaLeg {
  readonly address: string;
  readonly address6: string | undefined;
  readonly port: number;
  readonly icePort: number | undefined;
  /** Handle on the native side, used only by the engine. */
  readonly handle: LegHandle;
  readonly #hub: Hub;
  readonly #events: MediaLegEvents;
  readonly #onClose: (peer: PeerAtEnd) => void;
  /** Created on first use, because most legs play nothing, send no digits and have no listeners. */
  #players: Players | undefined;
  #digits: DigitQueue | undefined;
  #listening: Listening | undefined;
  /** Kinds of rejected packets already reported. */
  #reported: Set<Unwanted> | undefined;
  readonly #streams = new Set<LegStream>();
  readonly #recordings = new Set<NativeRecording>();
  readonly #presses = new DtmfDeduplication();
  #rate: LineRate = 8000;
  #remote: MediaLeg['remote'];
  #lastQuality: MediaQuality = NO_QUALITY;
  #closed = false;
  #tonesWanted = false;
  #hearsTones = false;
  #isRingback = false;

  constructor(
    hub: Hub,
    place: {
      readonly handle: LegHandle;
      readonly address: string;
      readonly address6: string | undefined;
      readonly port: number;
      readonly icePort: number | undefined;
    },
    events: MediaLegEvents,
    onClose: (peer: PeerAtEnd) => void,
  ) {
    this.#hub = hub;
    this.handle = place.handle;
    this.address = place.address;
    this.address6 = place.address6;
    this.port = place.port;
    this.icePort = place.icePort;
    this.#events = events;
    this.#onClose = onClose;
    hub.listenToPlace(place.handle, (event) => {
      if (event.type === 'dtmf') {
        this.#press(event.digit, 'media', event.atMs, event.asTone);
      } else if (event.type === 'sourceChanged') this.#sourceChanged(event);
      else if (event.type === 'secured') this.#events.secured?.(event.fault);
      else if (event.type === 'mediaTimeout') this.#events.silent(hub.engine.nowMs() - event.atMs);
    });
  }

  /** Sample rate of the leg in Hz. */
  get rate(): LineRate {
    return this.#rate;
  }

  configure(session: MediaSession): void {
    if (this.#closed) return;
    this.#hub.engine.configureLeg(this.handle, ...sessionValues(session));
    this.#rate = session.codec.sampleRate;
    const { address, port } = session;
    this.#remote = address === '' ? undefined : { address, port };
  }

  get remote(): MediaLeg['remote'] {
    return this.#remote;
  }

  play(pcm: Pcm, options: PlayOptions): Playback {
    return this.#closed ? OVER : this.#playing().play(pcm, options);
  }

  playTone(tone: Tone, options: PlayOptions): Playback {
    return this.#closed ? OVER : this.#playing().playTone(tone, options);
  }

  #playing(): Players {
    this.#players ??= new Players(this.#hub, this.handle);
    return this.#players;
  }

  sendDigits(digits: string, options: DigitsOptions): Promise<void> {
    if (this.#closed) return Promise.resolve();
    this.#digits ??= new DigitQueue(this.#hub, this.handle);
    return this.#digits.send(digits, options);
  }

  pressed(digit: string): void {
    this.#press(digit, 'signalling', this.#hub.engine.nowMs());
  }

  hearTones(wanted: boolean): void {
    this.#tonesWanted = wanted;
    this.#reportTones();
  }

  /** Starts tone detection, because streams report every digit to their bots. */
  #reportTones(): void {
    const wanted = this.#tonesWanted || this.#streams.size > 0;
    if (this.#closed || wanted === this.#hearsTones) return;
    this.#hearsTones = wanted;
    this.#hub.engine.hearTones(this.handle, wanted);
  }

  openStream(options: MediaStreamOptions, events: MediaStreamEvents): MediaStream {
    assert(this.#streams.size < MAX_STREAMS, `a leg carries at most ${MAX_STREAMS} streams`);
    const stream = new LegStream(this.#hub, this.handle, options, events, () => {
      this.#streams.delete(stream);
      this.#reportTones();
    });
    this.#streams.add(stream);
    this.#reportTones();
    if (this.#closed) stream.close();
    return stream;
  }

  record(options: RecordOptions): MediaRecording {
    const recording = startRecording(this.#hub, this.handle, this.#rate, options);
    this.#recordings.add(recording);
    void recording.finished.then(() => this.#recordings.delete(recording));
    if (this.#isRingback) recording.ringback(true);
    return recording;
  }

  ringback(isRingback: boolean): void {
    if (isRingback === this.#isRingback) return;
    this.#isRingback = isRingback;
    for (const recording of this.#recordings) recording.ringback(isRingback);
  }

  detectMachine(
    options: MachineDetectionOptions,
    signal?: AbortSignal,
  ): Promise<MachineDetectionResult> {
    if (this.#closed) return Promise.resolve(NOT_DETECTED);
    return this.#hearing().detectMachine(options, signal);
  }

  waitForSilence(ms: number, maxMs: number, signal: AbortSignal): Promise<boolean> {
    if (this.#closed) return Promise.resolve(false);
    return this.#hearing().waitForSilence(ms, maxMs, signal);
  }

  #hearing(): Listening {
    this.#listening ??= new Listening(this.#hub, this.handle);
    return this.#listening;
  }

  quality(): MediaQuality {
    if (this.#hub.engine.statistics(this.handle, FIGURES)) this.#take(readStatistics(FIGURES));
    return this.#lastQuality;
  }

  close(peer: PeerAtEnd = 'known'): MediaQuality {
    if (this.#closed) return this.#lastQuality;
    this.#closed = true;
    for (const stream of [...this.#streams]) stream.close();
    this.#players?.close();
    this.#digits?.close();
    this.#listening?.close();
    this.#hub.forgetPlace(this.handle);
    const statistics = this.#hub.engine.closeLeg(this.handle, FIGURES)
      ? readStatistics(FIGURES)
      : undefined;
    if (statistics !== undefined) this.#take(statistics);
    // A source has sent to the port, so late packets may follow.
    if (statistics !== undefined) this.#tellRefused(statistics);
    const found =
      statistics !== undefined && statistics.packetsReceived + statistics.unknownSources > 0;
    this.#onClose(found ? 'known' : peer);
    return this.#lastQuality;
  }

  /** Reports each kind of rejected packet once. */
  #take(statistics: NativeStatistics): void {
    this.#lastQuality = qualityOf(statistics);
    for (const { count, many, reason } of UNWANTED) {
      const packets = statistics[count];
      if (packets < many || this.#reported?.has(count)) continue;
      this.#reported ??= new Set();
      this.#reported.add(count);
      this.#hub.logger.warn({ port: this.port, remote: this.#remote, packets }, reason);
    }
  }

  /** Reports a peer that was never received while RTP arrived from unaccepted addresses. */
  #tellRefused(statistics: NativeStatistics): void {
    const { packetsReceived, notNegotiated, unknownSources } = statistics;
    if (packetsReceived + notNegotiated > 0 || unknownSources < REFUSED_PACKETS) return;
    this.#hub.logger.warn(
      { port: this.port, remote: this.#remote, packets: unknownSources },
      'all RTP arrived from addresses other than those of SDP and signalling: see rtp.acceptOtherSources',
    );
  }

  #sourceChanged({ change, address, port }: SourceChanged): void {
    const reason = SOURCE_CHANGES[change];
    if (this.#closed || reason === undefined) return;
    this.#events.sourceChanged?.({ address, port, reason });
  }

  #press(digit: string, way: DtmfMethod, atMs: number, asTone = false): void {
    if (this.#closed || !this.#presses.isNew(digit, way, atMs)) return;
    const wallMs = this.#hub.wallOf(atMs);
    for (const stream of this.#streams) stream.dtmf(digit, wallMs);
    this.#events.dtmf(digit, asTone);
  }
}

type Unwanted = 'unauthentic' | 'malformed' | 'notNegotiated' | 'unknownSources';
/**
 * Thresholds of packets before a report. About one second; for unknown sources half a minute, because the peer's
 * packets count until its address is learned.
 */
const UNWANTED: readonly { count: Unwanted; many: number; reason: string }[] = [
  {
    count: 'unauthentic',
    many: 50,
    reason: 'SRTP packets that cannot be decrypted: the peer uses another key or plain RTP',
  },
  { count: 'malformed', many: 50, reason: 'datagrams on an RTP port that are not RTP' },
  { count: 'notNegotiated', many: 50, reason: 'RTP of a payload type that was not negotiated' },
  { count: 'unknownSources', many: 1500, reason: 'an RTP port was flooded by unknown sources' },
];

/** Threshold of about one second of packets, which excludes stray ones. */
const REFUSED_PACKETS = 50;

/** Result of a playback on a closed leg. */
const OVER: Playback = { finished: Promise.resolve('stopped'), stop: () => undefined };
