/** The native addon as TypeScript sees it. Handles are plain numbers; the order of arguments is that of native/addon. */
import { loadNativeAddon } from '../../base/native-addon.ts';

/** A leg or a room. */
export type Place = number;

export interface NativeFigures {
  readonly packetsReceived: number;
  readonly packetsSent: number;
  readonly packetsLost: number;
  readonly packetsLate: number;
  readonly strangers: number;
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
  readonly strangers: number;
  readonly malformed: number;
  readonly sourceChanges: number;
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
  enqueue(encoding: number, rate: number, payload: Uint8Array): number;
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

export interface NativeEngine {
  /** Handle of the leg; 0: the port is taken; -1: too many legs. */
  openLeg(
    port: number,
    ssrc: number,
    sequence: number,
    timestamp: number,
    mediaTimeoutMs: number,
  ): number;
  configureLeg(
    leg: number,
    ip: string,
    port: number,
    law: number,
    payloadType: number,
    telephoneEvent: number,
    packetMs: number,
    sending: boolean,
    receiving: boolean,
    signallingIp: string,
  ): void;
  figures(leg: number): NativeFigures | undefined;
  closeLeg(leg: number): NativeFigures | undefined;
  bridge(a: number, b: number): void;
  unbridge(a: number, b: number): void;

  playClip(place: Place, player: number, clip: NativeClip, times: number, manner: number): void;
  playTone(place: Place, player: number, tone: NativeTone, times: number, manner: number): void;
  stopPlayer(place: Place, player: number): void;
  removePlayer(place: Place, player: number): void;
  /** `steps`: character code (0 = pause), frames on, frames off, and so on. */
  sendDigits(leg: number, job: number, steps: readonly number[], inband: boolean): void;
  removeDigits(leg: number, job: number): void;

  /** errno, or 0. */
  record(
    place: Place,
    recording: number,
    path: string,
    side: number,
    stereo: boolean,
    silenceEndMs: number,
    maxMs: number,
    suppressDigits: boolean,
  ): number;
  pauseRecording(place: Place, recording: number, paused: boolean): void;
  stopRecording(place: Place, recording: number): void;
  /** errno of a failure while it was written, or 0. */
  removeRecording(place: Place, recording: number): number;
  removeTap(leg: number, tap: number): void;
  detectMachine(
    leg: number,
    job: number,
    totalMs: number,
    initialSilenceMs: number,
    greetingMs: number,
    maximumWords: number,
    maximumWordMs: number,
  ): void;
  waitForSilence(leg: number, job: number, silenceMs: number, limitMs: number): void;

  openRoom(number: number): Place;
  closeRoom(room: Place): void;
  joinRoom(
    room: Place,
    leg: number,
    member: number,
    muted: boolean,
    deaf: boolean,
    held: boolean,
  ): void;
  setMember(room: Place, member: number, muted: boolean, deaf: boolean, held: boolean): void;
  leaveRoom(room: Place, member: number): void;

  openStream(
    leg: number,
    stream: number,
    streamId: string,
    encoding: number,
    rate: number,
    inbound: boolean,
    outbound: boolean,
    bidirectional: boolean,
    extraHeadersJson: string,
    queueMs: number,
    epochMs: number,
    sockets: object | undefined,
    socket: number,
  ): NativeStream | undefined;
  pauseStream(leg: number, stream: number, paused: boolean): void;
  closeStream(leg: number, stream: number): void;

  /** Fills `batch` with whole records and returns their bytes; 0: nothing waits. */
  takeEvents(batch: Uint8Array): number;
  nowMs(): number;
  status(): NativeStatus;
  stop(): void;

  inject(localPort: number, ip: string, port: number, bytes: Uint8Array, atMs: number): void;
  advance(ms: number): void;
  drain(): SentPacket[];
}

export interface Native {
  readonly Engine: new (manual: boolean, rtpHost: string, onEvents: () => void) => NativeEngine;
  makeClip(samples: Uint8Array, rate: number): NativeClip;
}

export const loadNative = (): Native => loadNativeAddon() as Native;
