/**
 * The native addon as TypeScript sees it. Handles are numbers, each kind with a type of its own. A wrong, missing or unknown value is a TypeError
 * that names it (native/addon/arguments.hpp).
 */
import type { Branded, StreamId } from '../../base/ids.ts';
import { loadNativeAddon } from '../../base/native-addon.ts';
import type { LineRate, MachineDetectionOptions, StreamEncoding } from '../../domain/call/needs.ts';
import type { SessionValues } from './native-values.ts';

/** Named by the native side, legs as well as rooms. */
export type LegHandle = Branded<number, 'mediaLeg'>;
export type RoomHandle = Branded<number, 'room'>;
/** A leg or a room. */
export type Place = LegHandle | RoomHandle;

/** Named by us (`Hub.newHandle`). */
export type MemberHandle = Branded<number, 'member'>;
export type PlayerHandle = Branded<number, 'player'>;
export type StreamHandle = Branded<number, 'stream'>;
export type RecordingHandle = Branded<number, 'recording'>;
/** Digits on their way out, machine detection, a wait for silence. */
export type JobHandle = Branded<number, 'job'>;
/** Of a room before the native side has named it. */
export type RoomNumber = Branded<number, 'roomNumber'>;
export type OwnHandle =
  | MemberHandle
  | PlayerHandle
  | StreamHandle
  | RecordingHandle
  | JobHandle
  | RoomNumber;

/** Of one media thread. */
export interface NativeThreadStatus {
  readonly running: boolean;
  readonly legs: number;
  readonly tickLateP99Us: number;
  /** Part of its last second spent working, 0..1. */
  readonly busy: number;
  readonly scheduling: 'fifo' | 'nice' | 'normal' | 'manual';
  /** Datagrams of many sockets by one system call. */
  readonly ioUring: boolean;
  readonly packetsReceived: number;
  readonly packetsSent: number;
  readonly unknownSources: number;
  readonly malformed: number;
  readonly sourceChanges: number;
  readonly unknownHandles: number;
  readonly skippedTicks: number;
}

export interface NativeStatus {
  readonly legs: number;
  readonly droppedEvents: number;
  readonly threads: readonly NativeThreadStatus[];
}

/** A packet of the manual mode, as its peer would have received it. */
export interface SentPacket {
  readonly localPort: number;
  readonly address: string;
  readonly port: number;
  readonly atMs: number;
  readonly bytes: Uint8Array;
}

declare const clipBrand: unique symbol;
/** Audio at the rate of the place it is for, owned by the native side. */
export interface NativeClip {
  readonly [clipBrand]: true;
}

/** Results pack three bytes, the lowest first: outcome, the queue's fill in percent before and after. */
export interface NativeStream {
  receive(message: Uint8Array): number;
  enqueue(encoding: StreamEncoding, rate: number, payload: Uint8Array): number;
  clear(): void;
  checkpoint(id: number): void;
  queuedMs(): number;
}

export interface NativeTone {
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
  /** 0: until stopped. */
  readonly times: number;
  readonly manner: NativePlayManner;
}

/** Without a digit: a pause. A frame is 20 ms. */
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
}

export interface NativeEngine {
  /** Handle of the leg; 0: too many legs; below 0: the errno that opening it met, negated (EBUSY: the media threads have no time for it). */
  openLeg(
    port: number,
    ssrc: number,
    sequence: number,
    timestamp: number,
    mediaTimeoutMs: number,
    keepAliveMs: number,
    /** A leg that it will speak with: it opens on the same media thread, if that has time. */
    near?: LegHandle,
  ): number;
  configureLeg(leg: LegHandle, ...session: SessionValues): void;
  /** Who we are where keys are exchanged by DTLS: certificate and key as PEM. */
  useIdentity(certificate: string, key: string): void;
  /** UDP and TCP port of all legs with ICE, once and before any leg; 0: any. The port, or an errno below 0. */
  shareIcePort(port: number): number;
  /** Whether keypad tones are listened for, where the peer has not used telephone-event; at first they are not. */
  hearTones(leg: LegHandle, wanted: boolean): void;
  /** Written to `statistics` (`statisticsBuffer`); false: there is no such leg. */
  statistics(leg: LegHandle, statistics: Float64Array): boolean;
  /** The same, of its whole life. */
  closeLeg(leg: LegHandle, statistics: Float64Array): boolean;
  /** Legs that are to hear each other, and those of a room, come to be on one media thread. */
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
  stopRecording(place: Place, recording: RecordingHandle): void;
  /** errno of a failure while it was written, or 0. */
  removeRecording(place: Place, recording: RecordingHandle): number;
  removeTap(leg: LegHandle, tap: JobHandle): void;
  detectMachine(
    options: MachineDetectionOptions & { readonly leg: LegHandle; readonly job: JobHandle },
  ): void;
  waitForSilence(options: {
    readonly leg: LegHandle;
    readonly job: JobHandle;
    readonly silenceMs: number;
    /** 0: none. */
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
    /** The native sockets and the name of the bot's one among them: then that is the bot's end. */
    readonly sockets: object | undefined;
    readonly socket: number | undefined;
  }): NativeStream | undefined;
  pauseStream(leg: LegHandle, stream: StreamHandle, paused: boolean): void;
  closeStream(leg: LegHandle, stream: StreamHandle): void;

  /** Fills `batch` with whole records and returns their bytes; 0: nothing waits. */
  takeEvents(batch: Uint8Array): number;
  nowMs(): number;
  /** Share of the time in which the thread works that works least: a new leg goes there. */
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
  ) => NativeEngine;
  makeClip(samples: Uint8Array, rate: number, lineRate: LineRate): NativeClip;
}

export const loadNative = (): Native => loadNativeAddon() as Native;
