import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { lookup } from 'node:dns';
import { isIP, isIPv6 } from 'node:net';
import { ServiceError } from '../../../base/errors.ts';

/** Enough for bursts of a few thousand messages while JavaScript is busy. */
const SOCKET_BUFFER_BYTES = 4 * 1024 * 1024;

export interface UdpEvents {
  received(bytes: Uint8Array, address: string, port: number): void;
  failed(error: Error): void;
}

/** IPv4 as IPv6 sockets show it, in its plain form. */
export const plainAddress = (address: string): string =>
  address.startsWith('::ffff:') ? address.replace(/^::ffff:(?=\d+\.)/, '') : address;

/** The one UDP socket that all requests leave from. */
export class UdpTransport {
  readonly #socket: Socket;
  readonly #mapsIpv4: boolean;
  readonly #host: string;
  readonly #port: number;

  constructor(host: string, port: number, events: UdpEvents) {
    this.#host = host;
    this.#port = port;
    this.#mapsIpv4 = isIPv6(host);
    const family = this.#mapsIpv4 ? 6 : 4;
    const name = isIP(host) === 0 ? host : undefined;
    this.#socket = createSocket({
      type: family === 6 ? 'udp6' : 'udp4',
      // Messages go to addresses: to look each up as if it were a name would cost it a turn of the loop.
      lookup: (target, options, found) => {
        if (target === name) lookup(target, options, found);
        else found(null, target, family);
      },
    });
    this.#socket.on('message', (bytes: Buffer, from: RemoteInfo) => {
      events.received(bytes, plainAddress(from.address), from.port);
    });
    this.#socket.on('error', (error) => events.failed(error));
  }

  /** Rejects with PORT_IN_USE. Resolves to the bound port. */
  start(): Promise<number> {
    const socket = this.#socket;
    return new Promise((resolve, reject) => {
      const refused = (error: NodeJS.ErrnoException): void => {
        reject(portError(error, 'UDP', this.#host, this.#port));
      };
      socket.once('error', refused);
      socket.bind({ address: this.#host, port: this.#port }, () => {
        socket.off('error', refused);
        socket.setRecvBufferSize(SOCKET_BUFFER_BYTES);
        socket.setSendBufferSize(SOCKET_BUFFER_BYTES);
        resolve(socket.address().port);
      });
    });
  }

  send(bytes: Uint8Array, address: string, port: number, failed: () => void): void {
    const target = this.#mapsIpv4 && !address.includes(':') ? `::ffff:${address}` : address;
    this.#socket.send(bytes, port, target, (error) => {
      if (error !== null && error !== undefined) failed();
    });
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.#socket.close(() => resolve());
    });
  }
}

export function portError(
  error: NodeJS.ErrnoException,
  protocol: string,
  host: string,
  port: number,
): ServiceError {
  const why =
    error.code === 'EADDRINUSE'
      ? 'is in use by another program'
      : error.code === 'EACCES'
        ? 'may not be opened by this user'
        : `cannot be opened (${error.code ?? error.message})`;
  return new ServiceError('PORT_IN_USE', `SIP port ${protocol} ${host}:${port} ${why}`, {
    cause: error,
  });
}
