/**
 * The native addon as TypeScript sees it. Handles are plain numbers. A wrong, missing or unknown value is a TypeError
 * that names it (native/addon/arguments.hpp).
 */
import type { StreamId } from '../../base/ids.ts';
import { loadNativeAddon } from '../../base/native-addon.ts';
import type {
  MachineDetectionOptions,
  MediaSession,
  StreamEncoding,
} from '../../domain/call/needs.ts';

/** A leg or a room. */
export type Place = number;

export interface NativeStatistics {
  readonly packetsReceived: number;
  readonly packetsSent: number;
  readonly packetsLost: number;
  readonly packetsLate: number;
  readonly unknownSources: number;
  readonly jitterMs: number;
  readonly lossFraction: number;
  /** 0: unknown. */
  readonly mos: number;
  /** Negative: unknown. */
  readonly roundTripMs: number;
}

export interface NativeStatus {
  readonly running: boolean;
  readonly legs: number;
  readonly tickLateP99Us: number;
  /** Part of the media thread's last second spent working, 0..1. */
  readonly busy: number;
  readonly scheduling: 'fifo' | 'nice' | 'normal' | 'manual';
  readonly packetsReceived: number;
  readonly packetsSent: number;
  readonly unknownSources: number;
  readonly malformed: number;
  readonly sourceChanges: number;
  readonly unknownHandles: number;
  readonly skippedTicks: number;
  readonly droppedEvents: number;
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
/** Audio at the line rate, owned by the native side. */
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
  readonly player: number;
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
}

export interface NativeEngine {
  /** Handle of the leg; 0: too many legs; below 0: the errno that opening its sockets met, negated. */
  openLeg(options: {
    readonly port: number;
    readonly ssrc: number;
    readonly sequence: number;
    readonly timestamp: number;
    readonly mediaTimeoutMs: number;
    /** Which media thread it lives on, with whatever hears it. */
    readonly thread: number;
  }): number;
  configureLeg(leg: number, session: MediaSession): void;
  statistics(leg: number): NativeStatistics | undefined;
  closeLeg(leg: number): NativeStatistics | undefined;
  bridge(a: number, b: number): void;
  unbridge(a: number, b: number): void;

  playClip(options: NativePlay & { readonly clip: NativeClip }): void;
  playTone(options: NativePlay & { readonly tone: NativeTone }): void;
  stopPlayer(place: Place, player: number): void;
  removePlayer(place: Place, player: number): void;
  sendDigits(options: {
    readonly leg: number;
    readonly job: number;
    readonly steps: readonly NativeDigitStep[];
    readonly inband: boolean;
  }): void;
  removeDigits(leg: number, job: number): void;

  /** errno, or 0. */
  record(options: {
    readonly place: Place;
    readonly recording: number;
    readonly path: string;
    readonly side: 'received' | 'sent' | 'both';
    readonly stereo: boolean;
    readonly silenceEndMs: number;
    readonly maxMs: number;
    readonly suppressDigits: boolean;
  }): number;
  pauseRecording(place: Place, recording: number, paused: boolean): void;
  stopRecording(place: Place, recording: number): void;
  /** errno of a failure while it was written, or 0. */
  removeRecording(place: Place, recording: number): number;
  removeTap(leg: number, tap: number): void;
  detectMachine(
    options: MachineDetectionOptions & { readonly leg: number; readonly job: number },
  ): void;
  waitForSilence(options: {
    readonly leg: number;
    readonly job: number;
    readonly silenceMs: number;
    /** 0: none. */
    readonly limitMs: number;
  }): void;

  openRoom(number: number): Place;
  closeRoom(room: Place): void;
  joinRoom(
    options: NativeMemberFlags & {
      readonly room: Place;
      readonly leg: number;
      readonly member: number;
    },
  ): void;
  setMember(options: NativeMemberFlags & { readonly room: Place; readonly member: number }): void;
  leaveRoom(room: Place, member: number): void;

  openStream(options: {
    readonly leg: number;
    readonly stream: number;
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
  pauseStream(leg: number, stream: number, paused: boolean): void;
  closeStream(leg: number, stream: number): void;

  /** Fills `batch` with whole records and returns their bytes; 0: nothing waits. */
  takeEvents(batch: Uint8Array): number;
  nowMs(): number;
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
  readonly Engine: new (manual: boolean, rtpHost: string, onEvents: () => void) => NativeEngine;
  makeClip(samples: Uint8Array, rate: number): NativeClip;
}

export const loadNative = (): Native => loadNativeAddon() as Native;
