/**
 * TypeScript view of the native sockets. An invalid, missing or unknown value causes a TypeError that names it
 * (native/addon/arguments.hpp).
 */
import { loadNativeAddon } from '../../base/native-addon.ts';
import type { StreamEncoding } from '../../domain/call/needs.ts';

export interface NativeSocketLimits {
  readonly maxMessageBytes: number;
  /**
   * Maximum total size of messages in progress on the sockets of one account, in bytes. Short messages are not counted.
   */
  readonly accountMessageBytes: number;
  readonly waitingMedia: number;
  readonly waitingControlBytes: number;
  readonly messagesPerSecond: number;
  readonly messagesBurst: number;
  readonly bytesPerSecond: number;
  readonly bytesBurst: number;
  readonly floodMs: number;
}

/** Native sockets, named by handles that JavaScript assigns. */
export interface NativeSockets {
  /** Sets trusted certificates as PEM. Returns false if there are none. TLS is unavailable before this call. */
  trust(authorities: string): boolean;
  /**
   * Opens a socket and tries the addresses in order. `secureHost` is the name that the certificate must contain; empty
   * disables TLS.
   */
  open(options: {
    readonly socket: number;
    readonly addresses: readonly string[];
    readonly port: number;
    readonly secureHost: string;
    readonly request: Uint8Array;
    readonly limits: NativeSocketLimits;
    readonly account: string;
  }): void;
  /** Starts the delivery of messages after a valid upgrade response. */
  accept(socket: number): void;
  /** Sends `text`, which starts with `{"sequenceNumber":` and ten spaces for the number. */
  send(socket: number, text: Uint8Array, isMedia: boolean): void;
  ping(socket: number): void;
  /** Returns the messages announced by a `messages` event. Later audio is not consumed before `proceed`. */
  takeMessages(socket: number): readonly Buffer[];
  proceed(socket: number): void;
  enqueue(options: {
    readonly socket: number;
    readonly encoding: StreamEncoding;
    readonly rate: number;
    readonly audio: Uint8Array;
  }): void;
  clear(socket: number): void;
  checkpoint(socket: number, id: number): void;
  /** Sends `last` first, unless it is empty. */
  close(options: {
    readonly socket: number;
    readonly code: number;
    readonly reason: string;
    readonly last: Uint8Array;
  }): void;
  drop(socket: number): void;
  /** Number of `media` messages dropped because the bot reads too slowly. */
  mediaDropped(socket: number): number;
  /** Releases a socket after its end. */
  forget(socket: number): void;
  /** Fills `batch` with complete records and returns their size in bytes; 0 if nothing is pending. */
  takeEvents(batch: Uint8Array): number;
  counters(): NativeSocketCounters;
  /** Drops all sockets and ends the threads. */
  stop(): void;
}

interface NativeSocketCounters {
  readonly mediaSent: number;
  readonly messagesReceived: number;
  /** `busy` is the fraction of the last second spent working, 0..1. */
  readonly threads: readonly { readonly sockets: number; readonly busy: number }[];
}

interface NativeAddon {
  readonly Sockets: new (onEvents: () => void, threads: number) => NativeSockets;
}

export const openNativeSockets = (onEvents: () => void, threads: number): NativeSockets =>
  new (loadNativeAddon() as NativeAddon).Sockets(onEvents, threads);

/** Events of a socket, with the numbers of native/net/stream_socket.hpp. */
export const SOCKET_EVENT = {
  upgradeAnswered: 32,
  messages: 33,
  fault: 34,
  pong: 35,
  flooding: 36,
  flooded: 37,
  degraded: 38,
  overrun: 39,
  ended: 40,
  oversized: 41,
  dropped: 42,
} as const;

/** Reasons for the end of a socket. */
export const SOCKET_END = {
  system: 0,
  certificate: 1,
  other: 2,
  closed: 3,
  broken: 4,
  fault: 5,
} as const;
