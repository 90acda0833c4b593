/**
 * TypeScript view of the native addon. Handles are numbers with a separate type for each kind. An invalid, missing or
 * unknown value causes a TypeError that names it (native/addon/arguments.hpp).
 */
import type { Branded, StreamId } from '../../base/ids.ts';
import { loadNativeAddon } from '../../base/native-addon.ts';
import type {
  AudioCleaning,
  LineRate,
  MachineDetectionOptions,
  SpeechDetection,
  StreamEncoding,
} from '../../domain/call/needs.ts';
import type { SessionValues } from './native-values.ts';

/** Handles assigned by the native side, for legs and rooms. */
export type LegHandle = Branded<number, 'mediaLeg'>;
export type RoomHandle = Branded<number, 'room'>;
/** A leg or a room. */
export type Place = LegHandle | RoomHandle;

/** Handles assigned by `Hub.newHandle`. */
export type MemberHandle = Branded<number, 'member'>;
export type PlayerHandle = Branded<number, 'player'>;
export type StreamHandle = Branded<number, 'stream'>;
export type RecordingHandle = Branded<number, 'recording'>;
/** Handle of a digit transmission, machine detection or silence detection. */
export type JobHandle = Branded<number, 'job'>;
/** Number of a room before the native side has assigned its handle. */
type RoomNumber = Branded<number, 'roomNumber'>;
export type OwnHandle =
  | MemberHandle
  | PlayerHandle
  | StreamHandle
  | RecordingHandle
  | JobHandle
  | RoomNumber;

/** Status of one media thread. */
export interface NativeThreadStatus {
  readonly running: boolean;
  readonly legs: number;
  readonly tickLateP99Us: number;
  /** Fraction of the last second spent working, 0..1. */
  readonly busy: number;
  readonly scheduling: 'fifo' | 'nice' | 'normal' | 'manual';
  /** True if datagrams of many sockets are sent in one system call. */
  readonly ioUring: boolean;
  readonly packetsReceived: number;
  readonly packetsSent: number;
  readonly unknownSources: number;
  readonly malformed: number;
  readonly sourceChanges: number;
  readonly unknownHandles: number;
  readonly skippedTicks: number;
}

interface NativeStatus {
  readonly legs: number;
  readonly droppedEvents: number;
  readonly threads: readonly NativeThreadStatus[];
}

/** A sent packet of the manual mode, as its peer would receive it. */
export interface SentPacket {
  readonly localPort: number;
  readonly address: string;
  readonly port: number;
  readonly atMs: number;
  readonly bytes: Uint8Array;
}

declare const clipBrand: unique symbol;
/** Audio owned by the native side, at the sample rate of its leg or room. */
export interface NativeClip {
  readonly [clipBrand]: true;
}

/** Results pack three bytes, lowest first: outcome, fill of the queue in percent before and after. */
export interface NativeStream {
  receive(message: Uint8Array): number;
  enqueue(encoding: StreamEncoding, rate: number, payload: Uint8Array): number;
  clear(): void;
  checkpoint(id: number): void;
  queuedMs(): number;
}

interface NativeTone {
  readonly steps: ReadonlyArray<{
    readonly frequenciesHz: readonly number[];
    readonly onMs: number;
    readonly offMs: number;
  }>;
  readonly loop: boolean;
  readonly levelDbm0: number;
}

export type NativePlayManner = 'instead' | 'mixed' | 'alone';

interface NativePlay {
  readonly place: Place;
  readonly player: PlayerHandle;
  /** Number of repetitions; 0 repeats until stopped. */
  readonly times: number;
  readonly manner: NativePlayManner;
}

/** Step without a digit: a pause. A frame is 20 ms. */
export interface NativeDigitStep {
  readonly digit?: string;
  readonly onFrames: number;
  readonly offFrames: number;
}

interface NativeMemberFlags {
  readonly muted: boolean;
  readonly deaf: boolean;
  readonly held: boolean;
  readonly whispers: boolean;
  readonly coached: boolean;
  readonly unrecorded: boolean;
}

export interface NativeEngine {
  /**
   * Opens a leg. Returns its handle, 0 if there are too many legs, or the negative errno (EBUSY: the media threads are
   * overloaded).
   */
  openLeg(
    port: number,
    ssrc: number,
    sequence: number,
    timestamp: number,
    mediaTimeoutMs: number,
    keepAliveMs: number,
    /** Leg to be connected later: the new leg uses the same media thread, if that has capacity. */
    near?: LegHandle,
  ): number;
  configureLeg(leg: LegHandle, ...session: SessionValues): void;
  /** Sets certificate and key as PEM for DTLS key exchange. */
  useIdentity(certificate: string, key: string): void;
  /**
   * Binds the UDP and TCP port shared by all legs with ICE; call it once, before any leg. 0 selects any port. Returns
   * the port, or a negative errno.
   */
  shareIcePort(port: number): number;
  /** Enables or disables tone detection for a peer that has not used telephone-event. Initially disabled. */
  hearTones(leg: LegHandle, wanted: boolean): void;
  /** Writes to `statistics` (`statisticsBuffer`). Returns false if the leg does not exist. */
  statistics(leg: LegHandle, statistics: Float64Array): boolean;
  /** Closes the leg and writes its final statistics. */
  closeLeg(leg: LegHandle, statistics: Float64Array): boolean;
  /** Connects two legs. Connected legs, and those of a room, are moved to one media thread. */
  bridge(a: LegHandle, b: LegHandle): void;
  unbridge(a: LegHandle, b: LegHandle): void;

  playClip(options: NativePlay & { readonly clip: NativeClip }): void;
  playTone(options: NativePlay & { readonly tone: NativeTone }): void;
  stopPlayer(place: Place, player: PlayerHandle): void;
  removePlayer(place: Place, player: PlayerHandle): void;
  sendDigits(options: {
    readonly leg: LegHandle;
    readonly job: JobHandle;
    readonly steps: readonly NativeDigitStep[];
    readonly inband: boolean;
  }): void;
  removeDigits(leg: LegHandle, job: JobHandle): void;

  /** errno, or 0. */
  record(options: {
    readonly place: Place;
    readonly recording: RecordingHandle;
    readonly path: string;
    readonly side: 'received' | 'sent' | 'both';
    readonly stereo: boolean;
    readonly rate: 8000 | 16000;
    readonly silenceEndMs: number;
    readonly maxMs: number;
    readonly suppressDigits: boolean;
  }): number;
  pauseRecording(place: Place, recording: RecordingHandle, paused: boolean): void;
  /** Replaces the sent audio of the recording by silence, until reset. */
  leaveOutSent(place: Place, recording: RecordingHandle, leftOut: boolean): void;
  stopRecording(place: Place, recording: RecordingHandle): void;
  /** errno of a write failure, or 0. */
  removeRecording(place: Place, recording: RecordingHandle): number;
  removeTap(leg: LegHandle, tap: JobHandle): void;
  detectMachine(
    options: MachineDetectionOptions & { readonly leg: LegHandle; readonly job: JobHandle },
  ): void;
  waitForSilence(options: {
    readonly leg: LegHandle;
    readonly job: JobHandle;
    readonly silenceMs: number;
    /** Time limit in milliseconds; 0 is unlimited. */
    readonly limitMs: number;
  }): void;

  openRoom(number: RoomNumber): RoomHandle;
  closeRoom(room: RoomHandle): void;
  joinRoom(
    options: NativeMemberFlags & {
      readonly room: RoomHandle;
      readonly leg: LegHandle;
      readonly member: MemberHandle;
    },
  ): void;
  setMember(
    options: NativeMemberFlags & { readonly room: RoomHandle; readonly member: MemberHandle },
  ): void;
  leaveRoom(room: RoomHandle, member: MemberHandle): void;

  openStream(options: {
    readonly leg: LegHandle;
    readonly stream: StreamHandle;
    readonly streamId: StreamId;
    readonly encoding: StreamEncoding;
    readonly rate: 8000 | 16000;
    readonly tracks: 'inbound' | 'outbound' | 'both';
    readonly bidirectional: boolean;
    readonly extraHeadersJson: string;
    readonly queueMs: number;
    readonly epochMs: number;
    /** Undefined: speech is not detected. */
    readonly speech: SpeechDetection | undefined;
    readonly clean: AudioCleaning | undefined;
    /** Native sockets and handle of the bot's socket, which then is the remote end. Undefined without native sockets. */
    readonly sockets: object | undefined;
    readonly socket: number | undefined;
  }): NativeStream | undefined;
  pauseStream(leg: LegHandle, stream: StreamHandle, paused: boolean): void;
  closeStream(leg: LegHandle, stream: StreamHandle): void;
  /**
   * Position at the last clear of a bidirectional stream: number of clears, then the members of `PlayPosition` in their
   * order. Undefined for other streams.
   */
  clearedAt(
    stream: StreamHandle,
  ): readonly [number, number, number, number, number, number] | undefined;

  /** Fills `batch` with complete records and returns their size in bytes; 0 if nothing is pending. */
  takeEvents(batch: Uint8Array): number;
  nowMs(): number;
  /** Load of the least busy thread, which gets the next leg, 0..1. */
  busy(): number;
  status(): NativeStatus;
  stop(): void;

  inject(options: {
    readonly localPort: number;
    readonly address: string;
    readonly port: number;
    readonly bytes: Uint8Array;
    readonly atMs: number;
  }): void;
  advance(ms: number): void;
  drain(): SentPacket[];
}

export interface Native {
  readonly Engine: new (
    manual: boolean,
    rtpHost: string,
    onEvents: () => void,
    threads: number,
    ioUring: boolean,
    ...announced: readonly string[]
  ) => NativeEngine;
  /** Returns why audio cannot be cleaned, or an empty string. */
  cleaningProblem(): string;
  makeClip(samples: Uint8Array, rate: number, lineRate: LineRate): NativeClip;
}

export const loadNative = (): Native => loadNativeAddon() as Native;
