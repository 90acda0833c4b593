import { lookup } from 'node:dns/promises';
import { isIP, isIPv6 } from 'node:net';
import { ServiceError } from '../../../base/errors.ts';
import { listenError } from '../../../base/listen-error.ts';
import { loadNativeAddon } from '../../../base/native-addon.ts';

/** Enough for bursts of a few thousand messages while JavaScript is busy; the system gives no more than net.core.rmem_max. */
const SOCKET_BUFFER_BYTES = 4 * 1024 * 1024;

export interface UdpEvents {
  /** `waitedMs`: since the datagram came to this machine. */
  received(bytes: Uint8Array, address: string, port: number, waitedMs: number): void;
  /** How a datagram of ours began that has met no host, or no port (ICMP). */
  undelivered?(start: Buffer): void;
  failed(error: Error): void;
}

/** Bytes, address, port and age of one datagram after the other. */
type Messages = readonly (Buffer | string | number)[];

/** See native/addon/signal_socket_object.hpp. */
interface SignalSocket {
  /** 0, or why nothing was sent: an errno. */
  send(bytes: Uint8Array, address: string, port: number): number;
  port(): number;
  /** Datagrams that the kernel had no room for. */
  lost(): number;
  close(): void;
}

interface Addon {
  readonly SignalSocket: new (
    options: {
      readonly host: string;
      readonly port: number;
      readonly receiveBuffer: number;
      readonly sendBuffer: number;
    },
    onMessages: (messages: Messages) => void,
    onUndelivered: (starts: readonly Buffer[]) => void,
  ) => SignalSocket;
}

const FIELDS = 4;
/** EAGAIN and ENOBUFS: no room for the moment, as if the network had lost it. What matters is sent again. */
const NO_ROOM: ReadonlySet<number> = new Set([11, 105]);

/** IPv4 as IPv6 sockets show it, in its plain form. */
export const plainAddress = (address: string): string =>
  address.startsWith('::ffff:') ? address.replace(/^::ffff:(?=\d+\.)/, '') : address;

/** The one UDP socket that all requests leave from; what has come since the last turn of the loop is read together. */
export class UdpTransport {
  readonly #host: string;
  readonly #port: number;
  readonly #events: UdpEvents;
  #socket: SignalSocket | undefined;
  #mapsIpv4 = false;

  constructor(host: string, port: number, events: UdpEvents) {
    this.#host = host;
    this.#port = port;
    this.#events = events;
  }

  /** Rejects with PORT_IN_USE. Resolves to the bound port. */
  async start(): Promise<number> {
    try {
      const host = isIP(this.#host) === 0 ? (await lookup(this.#host)).address : this.#host;
      this.#mapsIpv4 = isIPv6(host);
      const buffers = { receiveBuffer: SOCKET_BUFFER_BYTES, sendBuffer: SOCKET_BUFFER_BYTES };
      const { SignalSocket } = loadNativeAddon() as Addon;
      this.#socket = new SignalSocket(
        { host, port: this.#port, ...buffers },
        (messages) => this.#received(messages),
        (starts) => this.#undelivered(starts),
      );
      return this.#socket.port();
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      throw portError(error, 'udp', this.#host, this.#port);
    }
  }

  /** Datagrams that the kernel had no room for, since the start. */
  get lost(): number {
    return this.#socket?.lost() ?? 0;
  }

  send(bytes: Uint8Array, address: string, port: number, failed: () => void): void {
    const target = this.#mapsIpv4 && !address.includes(':') ? `::ffff:${address}` : address;
    const errno = this.#socket?.send(bytes, target, port) ?? 0;
    if (errno !== 0 && !NO_ROOM.has(errno)) queueMicrotask(failed);
  }

  stop(): Promise<void> {
    this.#socket?.close();
    return Promise.resolve();
  }

  #undelivered(starts: readonly Buffer[]): void {
    for (const start of starts) this.#events.undelivered?.(start);
  }

  #received(messages: Messages): void {
    for (let at = 0; at + FIELDS <= messages.length; at += FIELDS) {
      try {
        this.#events.received(
          messages[at] as Buffer,
          plainAddress(messages[at + 1] as string),
          messages[at + 2] as number,
          messages[at + 3] as number,
        );
      } catch (error) {
        // The others of this turn are not to blame.
        this.#events.failed(error instanceof Error ? error : new Error(String(error)));
      }
    }
  }
}

export type Listening = 'udp' | 'tcp' | 'tls' | 'ws' | 'wss';

export function portError(
  error: unknown,
  transport: Listening,
  host: string,
  port: number,
): ServiceError {
  const isOptional = transport !== 'udp' && transport !== 'tcp';
  const name = transport.toUpperCase();
  return listenError(error, {
    ...{ what: `SIP port ${name}`, host, port, isOptional },
    portSetting: isOptional ? `CARILLON_SIP_${name}_PORT` : 'CARILLON_SIP_PORT',
    hostSetting: 'CARILLON_SIP_HOST',
  });
}
