import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { Clock } from '../../../base/clock.ts';
import { createServer, STATUS_CODES } from '../../../base/node-http.ts';
import type { ConnectionLimits } from './connection-limits.ts';
import type { ConnectionTable, Place } from './connection-table.ts';
import { Listener } from './listener.ts';
import type { SecureAcceptor } from './secure-acceptor.ts';
import { MAX_FRAME_BYTES, WebSocketConnection } from './web-socket-connection.ts';

/** Subprotocol of RFC 7118 §4.1. */
const SUB_PROTOCOL = 'sip';
const MAX_HEADER_BYTES = 16_384;

export interface WebSocketsOptions {
  readonly host: string;
  readonly clock: Clock;
  readonly table: ConnectionTable;
  readonly limits: ConnectionLimits;
  /** Origins of pages that may connect; empty allows all. */
  readonly origins: readonly string[];
  readonly failed: (error: Error) => void;
}

/** Transport and source of a browser's connection, as far as a trusted proxy reports it. */
export interface Arrival {
  readonly transport: 'ws' | 'wss';
  readonly remoteAddress: string;
}

/** SIP over WebSocket (RFC 7118) on separate ports and through upgrades of an HTTP server. */
export class WebSockets {
  readonly #options: WebSocketsOptions;
  readonly #listeners: Listener[] = [];
  readonly #upgrader = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_FRAME_BYTES,
    handleProtocols: () => SUB_PROTOCOL,
  });

  constructor(options: WebSocketsOptions) {
    this.#options = options;
  }

  /** Rejects with PORT_IN_USE. Resolves to the bound port. With an acceptor: WSS. */
  start(port: number, acceptor?: SecureAcceptor): Promise<number> {
    const { host, clock, table, limits, failed } = this.#options;
    const transport = acceptor === undefined ? 'ws' : 'wss';
    const places = new WeakMap<Socket, Place>();
    const server = this.#httpServer(transport, places);
    const listener = new Listener({
      transport,
      host,
      clock,
      table,
      handshakeMs: limits.messageMs,
      mayBegin: (address) => acceptor?.mayBegin(address, clock.monotonicMs()) ?? true,
      accepted: (raw, place) => {
        const serve = (socket: Socket): void => {
          places.set(socket, place);
          server.emit('connection', socket);
        };
        if (acceptor === undefined) serve(raw);
        else acceptor.accept(raw, serve);
      },
      failed,
    });
    this.#listeners.push(listener);
    return listener.start(port);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#listeners.map((listener) => listener.stop()));
  }

  /** Handles an upgrade of an HTTP server; always sends a response. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, arrival: Arrival): void {
    const { table } = this.#options;
    const place = table.enter(arrival.remoteAddress, () => socket.destroy());
    if (place === undefined) {
      refuse(socket, 503);
      return;
    }
    socket.once('close', () => {
      if (place.connection === undefined) table.leave(place);
    });
    this.#upgrade(request, socket, head, { ...arrival, place });
  }

  #upgrade(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    { transport, remoteAddress, place }: Arrival & { readonly place: Place },
  ): void {
    const { clock, table, limits } = this.#options;
    const status = this.#refusal(request);
    if (status !== undefined) {
      refuse(socket, status);
      return;
    }
    this.#upgrader.handleUpgrade(request, socket, head, (webSocket) => {
      new WebSocketConnection({
        transport,
        remoteAddress,
        webSocket,
        socket: request.socket,
        clock,
        limits,
        table,
        place,
      });
    });
  }

  /** Refuses clients that do not request the SIP subprotocol (RFC 7118 §4.1). */
  #refusal({ headers }: IncomingMessage): number | undefined {
    const protocols = (headers['sec-websocket-protocol'] ?? '').split(',');
    if (!protocols.some((name) => name.trim().toLowerCase() === SUB_PROTOCOL)) return 400;
    const { origins } = this.#options;
    const { origin } = headers;
    const isForeign = origin !== undefined && origins.length > 0 && !origins.includes(origin);
    return isForeign ? 403 : undefined;
  }

  #httpServer(transport: Arrival['transport'], places: WeakMap<Socket, Place>): Server {
    const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, (_request, response) => {
      const headers = { upgrade: 'websocket', connection: 'close' };
      response.writeHead(426, headers).end('SIP over WebSocket, sub-protocol sip\n');
    });
    server.on('upgrade', (request, socket, head) => {
      const place = places.get(request.socket);
      const { remoteAddress = '' } = request.socket;
      if (place === undefined) socket.destroy();
      else this.#upgrade(request, socket, head, { transport, remoteAddress, place });
    });
    return server;
  }
}

function refuse(socket: Duplex, status: number): void {
  socket.on('error', () => undefined);
  const lines = ['Connection: close', 'Content-Length: 0'];
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n`);
}
