import { lookup } from 'node:dns/promises';
import { isIP, isIPv6 } from 'node:net';
import { ServiceError } from '../../../base/errors.ts';
import { listenError } from '../../../base/listen-error.ts';
import { loadNativeAddon } from '../../../base/native-addon.ts';
import type { SipTransportName } from '../../../protocol/sip/sip.ts';

/** Receive buffer for bursts of a few thousand messages. The system limits it to net.core.rmem_max. */
const SOCKET_BUFFER_BYTES = 4 * 1024 * 1024;

export interface UdpEvents {
  /** `waitedMs` is the time since the datagram arrived at this machine. */
  received(bytes: Uint8Array, address: string, port: number, waitedMs: number): void;
  /** Called with the start of our datagram that caused an ICMP error (host or port unreachable). */
  undelivered?(start: Buffer): void;
  failed(error: Error): void;
}

/** Bytes, address, port and age of consecutive datagrams. */
type Messages = readonly (Buffer | string | number)[];

/** See native/addon/signal_socket_object.hpp. */
interface SignalSocket {
  /** Returns 0, or the errno of a failed send. */
  send(bytes: Uint8Array, address: string, port: number): number;
  port(): number;
  /** Number of datagrams dropped by the kernel. */
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
/** EAGAIN and ENOBUFS: the buffer is full. The datagram counts as lost and is retransmitted if needed. */
const NO_ROOM: ReadonlySet<number> = new Set([11, 105]);

/** Plain form of an IPv4 address from an IPv6 socket. */
export const plainAddress = (address: string): string =>
  address.startsWith('::ffff:') ? address.replace(/^::ffff:(?=\d+\.)/, '') : address;

/** The only UDP socket. All datagrams received since the last turn of the event loop are read together. */
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

  /** Number of datagrams dropped by the kernel since the start. */
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
    for (const start of starts) this.#isolated(() => this.#events.undelivered?.(start));
  }

  #received(messages: Messages): void {
    for (let at = 0; at + FIELDS <= messages.length; at += FIELDS) {
      this.#isolated(() =>
        this.#events.received(
          messages[at] as Buffer,
          plainAddress(messages[at + 1] as string),
          messages[at + 2] as number,
          messages[at + 3] as number,
        ),
      );
    }
  }

  /** Reports an error, which must not affect the other datagrams of this turn. */
  #isolated(handle: () => void): void {
    try {
      handle();
    } catch (error) {
      this.#events.failed(error instanceof Error ? error : new Error(String(error)));
    }
  }
}

export function portError(
  error: unknown,
  transport: SipTransportName,
  host: string,
  port: number,
): ServiceError {
  const isOptional = transport !== 'udp' && transport !== 'tcp';
  const name = transport.toUpperCase();
  return listenError(error, {
    what: `SIP port ${name}`,
    host,
    port,
    isOptional,
    portSetting: isOptional ? `CARILLON_SIP_${name}_PORT` : 'CARILLON_SIP_PORT',
    hostSetting: 'CARILLON_SIP_HOST',
  });
}
