/**
 * The native sockets as TypeScript sees them. A wrong, missing or unknown value is a TypeError that names it
 * (native/addon/arguments.hpp).
 */
import { loadNativeAddon } from '../../base/native-addon.ts';
import type { StreamEncoding } from '../../domain/call/needs.ts';

export interface NativeSocketLimits {
  readonly maxMessageBytes: number;
  /** Of all messages that the sockets of one account receive or deal with at a time; short ones are not counted. */
  readonly accountMessageBytes: number;
  readonly waitingMedia: number;
  readonly waitingControlBytes: number;
  readonly messagesPerSecond: number;
  readonly messagesBurst: number;
  readonly bytesPerSecond: number;
  readonly bytesBurst: number;
  readonly floodMs: number;
}

/** Sockets are named by handles that JavaScript chooses. */
export interface NativeSockets {
  /** PEM certificates of whom to trust; false when there is none among them. Before it there is no TLS. */
  trust(authorities: string): boolean;
  /** Tries the addresses in their order. `secureHost`: whom the certificate must name; empty: no TLS. */
  open(options: {
    readonly socket: number;
    readonly addresses: readonly string[];
    readonly port: number;
    readonly secureHost: string;
    readonly request: Uint8Array;
    readonly limits: NativeSocketLimits;
    readonly account: string;
  }): void;
  /** The answer to the upgrade is in order: messages may come. */
  accept(socket: number): void;
  /** `text` begins with `{"sequenceNumber":` and ten spaces, which are filled in. */
  send(socket: number, text: Uint8Array, isMedia: boolean): void;
  ping(socket: number): void;
  /** The messages that a `messages` event told of; no audio behind them is taken before `proceed`. */
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
  /** How many `media` a bot that reads too slowly has missed. */
  mediaDropped(socket: number): number;
  /** After its end. */
  forget(socket: number): void;
  /** Fills `batch` with whole records and returns their bytes; 0: nothing waits. */
  takeEvents(batch: Uint8Array): number;
  counters(): NativeSocketCounters;
  /** Drops every socket and ends the threads. */
  stop(): void;
}

export interface NativeSocketCounters {
  readonly mediaSent: number;
  readonly messagesReceived: number;
  /** `busy`: part of the last second that it worked, 0..1. */
  readonly threads: readonly { readonly sockets: number; readonly busy: number }[];
}

interface NativeAddon {
  readonly Sockets: new (onEvents: () => void, threads: number) => NativeSockets;
}

export const openNativeSockets = (onEvents: () => void, threads: number): NativeSockets =>
  new (loadNativeAddon() as NativeAddon).Sockets(onEvents, threads);

/** What a socket tells; numbers as in native/net/stream_socket.hpp. */
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

/** How a socket has ended. */
export const SOCKET_END = {
  system: 0,
  certificate: 1,
  other: 2,
  closed: 3,
  broken: 4,
  fault: 5,
} as const;
