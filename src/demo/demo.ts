/**
 * Built-in demo customer on a separate loopback port. Its answer URL returns a bidirectional stream to its WebSocket,
 * where an echo bot plays back what it receives. It uses only the public protocol.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { ServiceError } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import { createServer, urlOf } from '../base/node-http.ts';
import { attachEchoBot } from './echo-bot.ts';

export interface DemoOptions {
  readonly host: string;
  /** Port to listen on; 0 picks a free one. */
  readonly port: number;
  readonly logger: Logger;
}

export interface Demo {
  /** Origin of the demo: `http://host:port`. */
  readonly origin: string;
  readonly streamUrl: string;
  stop(): Promise<void>;
}

/** Maximum callback body in bytes. Callbacks of the service have a few hundred. */
const MAX_BODY_BYTES = 64 * 1024;
/** Maximum concurrent streams. */
const MAX_STREAMS = 1000;
/** Maximum WebSocket message in bytes. A `media` message has about 1 KB. */
const MAX_MESSAGE_BYTES = 64 * 1024;

export async function startDemo({ host, port, logger }: DemoOptions): Promise<Demo> {
  let streamUrl = '';
  const server = createServer((request, response) => {
    respond(request, response, () => answerDocument(streamUrl));
  });
  server.on('clientError', (_error, socket) => socket.destroy());
  const sockets = new WebSocketServer({
    server,
    path: '/stream',
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  });
  sockets.on('connection', (socket) => {
    if (sockets.clients.size > MAX_STREAMS) socket.close(1013, 'too many streams');
    else attachEchoBot(socket, logger);
  });
  sockets.on('error', () => undefined);
  await listen(server, host, port);
  const at = server.address() as AddressInfo;
  const authority = `${at.family === 'IPv6' ? `[${at.address}]` : at.address}:${at.port}`;
  streamUrl = `ws://${authority}/stream`;
  return {
    origin: `http://${authority}`,
    streamUrl,
    stop: () => stop(server, sockets),
  };
}

const answerDocument = (streamUrl: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>
<Response>
  <Stream bidirectional="true" keepCallAlive="true" contentType="audio/x-l16;rate=8000">${streamUrl}</Stream>
</Response>
`;

function respond(request: IncomingMessage, response: ServerResponse, answer: () => string): void {
  let received = 0;
  request.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received > MAX_BODY_BYTES) request.destroy();
  });
  request.on('end', () => {
    const pathname = urlOf(request)?.pathname;
    if (pathname === '/answer') {
      response.writeHead(200, { 'Content-Type': 'application/xml' }).end(answer());
    } else {
      response.writeHead(pathname === '/hangup' ? 200 : 404).end();
    }
  });
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const message = `the demo cannot listen on ${host}:${port} (${cause.code ?? cause.message})`;
      reject(new ServiceError('PORT_IN_USE', message, { cause }));
    });
    server.listen(port, host, resolve);
  });
}

async function stop(server: Server, sockets: WebSocketServer): Promise<void> {
  for (const socket of sockets.clients) socket.terminate();
  sockets.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
