import type { Socket } from 'node:net';
import { STATUS_CODES } from '../../../base/node-http.ts';

const REQUEST_TIMEOUT = 408;

/** Status codes for errors of the HTTP parser (codes of Node.js). Any other error is 400. */
const STATUS: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: REQUEST_TIMEOUT,
};

/** Connections that got an answer below. The rest of their request may arrive later. */
const refused = new WeakSet<Socket>();

/** Whether the request on this connection was answered below, so that it must not be executed. */
export const isRefused = (socket: Socket): boolean => refused.has(socket);

/** Answers invalid HTTP on the raw connection, with the same headers as other responses. */
export function answerClientError(
  error: NodeJS.ErrnoException,
  socket: Socket,
  headers: Readonly<Record<string, string>>,
): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  if (!socket.writable) {
    socket.destroy(error);
    return;
  }
  const status = STATUS[error.code ?? ''] ?? 400;
  const message = STATUS_CODES[status] ?? 'Bad Request';
  const body = JSON.stringify({ error: message.toLowerCase() });
  const lines = Object.entries({
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  refused.add(socket);
  socket.end(`HTTP/1.1 ${status} ${message}\r\n${lines.join('')}\r\n${body}`);
  // Ends an upload whose handler already reads.
  if (status === REQUEST_TIMEOUT) socket.destroySoon();
}
