/** The least that sockets cost: messages of the same size and number over bare `ws` or `wss`, without any media. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createPlainServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { WebSocket, WebSocketServer } from 'ws';
import { systemClock as clock } from '../../src/edge/clock/system-clock.ts';
import { cpuPerCallSecond } from './cost.ts';

const HOST = '127.0.0.1';
/** Size of a `media` message with 20 ms of L16 at 8 kHz. */
const MESSAGE_BYTES = 660;
const FRAME_MS = 20;
const SETTLE_MS = 300;

export interface FloorOptions {
  readonly scheme: 'ws' | 'wss';
  readonly calls: number;
  readonly measureMs: number;
  readonly tlsFolder: string;
}

/** Microseconds per call-second of one end; both ends of the echoed messages live in this process, so one costs half. */
export async function webSocketFloor(options: FloorOptions): Promise<number> {
  const { scheme, calls, measureMs, tlsFolder } = options;
  const cert = readFileSync(join(tlsFolder, 'cert.pem'));
  const key = readFileSync(join(tlsFolder, 'key.pem'));
  const http: Server = scheme === 'ws' ? createPlainServer() : createTlsServer({ cert, key });
  const server = new WebSocketServer({ server: http, perMessageDeflate: false });
  server.on('connection', (socket) => {
    socket.on('message', (data) => socket.send(data, { binary: false }));
  });
  http.listen(0, HOST);
  await once(http, 'listening');
  const url = `${scheme}://${HOST}:${(http.address() as AddressInfo).port}`;
  const clients = Array.from({ length: calls }, () => new WebSocket(url, { ca: cert }));
  await Promise.all(clients.map((client) => once(client, 'open')));
  const message = Buffer.alloc(MESSAGE_BYTES, 'x');
  const timer = setInterval(() => {
    for (const client of clients) client.send(message, { binary: false });
  }, FRAME_MS);
  await clock.sleep(SETTLE_MS);
  const both = await cpuPerCallSecond(calls, measureMs);
  clearInterval(timer);
  for (const client of clients) client.terminate();
  server.close();
  http.close();
  return both / 2;
}
