import type { Socket } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import type { Clock } from '../../../base/clock.ts';
import { SourceBudgets, sourceOf } from '../source-budgets.ts';
import { HandshakeQueue } from './handshake-queue.ts';
import type { TlsIdentity } from './tls-identity.ts';

/** Handshakes per second of one address (IPv6: /64). Each costs as much as several calls. */
const HANDSHAKES_PER_SECOND = 200;

export interface SecureAcceptorOptions {
  readonly identity: TlsIdentity;
  readonly clock: Clock;
  /** Handshakes per second of all addresses together. */
  readonly perSecond: number;
  readonly isCarrier: (address: string) => boolean;
  /** Called with the reason of a failed handshake. */
  readonly refused: (address: string, why: string) => void;
}

/** TLS server on sockets that a listener accepts and counts. */
export class SecureAcceptor {
  readonly #server: Server;
  readonly #options: SecureAcceptorOptions;
  readonly #queue: HandshakeQueue;
  /** Handshakes in progress, by address and port of the peer. */
  readonly #waiting = new Map<string, (socket: TLSSocket) => void>();
  readonly #budgets = new SourceBudgets(HANDSHAKES_PER_SECOND);

  constructor(options: SecureAcceptorOptions) {
    const { identity, clock, perSecond, refused } = options;
    this.#options = options;
    this.#queue = new HandshakeQueue({ clock, perSecond });
    const server = identity.serverOptions((renewed) => this.#server.setSecureContext(renewed));
    this.#server = createServer(server);
    this.#server.on('secureConnection', (socket) => {
      const ready = this.#waiting.get(placeOf(socket));
      if (ready === undefined) socket.destroy();
      else ready(socket);
    });
    this.#server.on('tlsClientError', (error, socket) => {
      refused(socket.remoteAddress ?? '', error.message);
      socket.destroy();
    });
  }

  mayBegin(address: string, nowMs: number): boolean {
    return this.#budgets.take(sourceOf(address), nowMs);
  }

  /** Accepts a socket. The handshake is queued only when there is data to read, so silent peers cost nothing. */
  accept(raw: Socket, ready: (socket: TLSSocket) => void): void {
    const place = placeOf(raw);
    const address = raw.remoteAddress ?? '';
    let leave = (): void => undefined;
    this.#waiting.set(place, ready);
    raw.once('close', () => {
      leave();
      this.#waiting.delete(place);
    });
    const readable = (): void => {
      raw.off('readable', readable);
      if (raw.destroyed) return;
      leave = this.#queue.add(sourceOf(address), this.#options.isCarrier(address), () => {
        if (!raw.destroyed) this.#server.emit('connection', raw);
      });
    };
    raw.on('readable', readable);
  }
}

const placeOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
