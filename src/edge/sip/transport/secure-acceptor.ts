import type { Socket } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { SourceBudgets, sourceOf } from '../source-budgets.ts';
import type { TlsIdentity } from './tls-identity.ts';

/** Handshakes a second of one address (IPv6: /64): each costs as much as several calls. */
const HANDSHAKES_PER_SECOND = 200;

/** The server's side of TLS on sockets that somebody else accepts and counts. */
export class SecureAcceptor {
  readonly #server: Server;
  /** Handshakes under way, by address and port of the peer. */
  readonly #waiting = new Map<string, (socket: TLSSocket) => void>();
  readonly #budgets = new SourceBudgets(HANDSHAKES_PER_SECOND);

  /** `refused` hears why a handshake failed. */
  constructor(identity: TlsIdentity, refused: (address: string, why: string) => void) {
    const options = identity.serverOptions((renewed) => this.#server.setSecureContext(renewed));
    this.#server = createServer(options);
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

  accept(raw: Socket, ready: (socket: TLSSocket) => void): void {
    const place = placeOf(raw);
    this.#waiting.set(place, ready);
    raw.once('close', () => this.#waiting.delete(place));
    this.#server.emit('connection', raw);
  }
}

const placeOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
