/** One `ws` client socket: connection options, and every way to fail in plain words. */
import { randomFillSync } from 'node:crypto';
import { WebSocket } from 'ws';
import type { AddressLookup } from '../../base/egress.ts';
import type { Upgrade } from './upgrade.ts';

export interface SocketEvents {
  opened(): void;
  message(bytes: Buffer): void;
  pong(): void;
  /** Once; `detail` says why, in plain words. */
  closed(detail: string): void;
}

export interface SocketOptions {
  /** The guard's: it hands out permitted addresses only. */
  readonly lookup: AddressLookup;
  /** Certificate authorities beside the built-in ones; undefined: the built-in ones alone. */
  readonly ca: readonly string[] | undefined;
  readonly maxMessageBytes: number;
  readonly handshakeMs: number;
}

/** Failures that `ws` itself finds in what the peer sends. */
const PEER_FAULTS: Readonly<Record<string, string>> = {
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: 'a message of the application exceeded the limit',
  WS_ERR_INVALID_UTF8: 'a text message of the application was not UTF-8',
};

export function openSocket(
  { url, headers }: Upgrade,
  options: SocketOptions,
  events: SocketEvents,
): WebSocket {
  const socket = new WebSocket(url, {
    headers: { ...headers },
    perMessageDeflate: false,
    followRedirects: false,
    maxPayload: options.maxMessageBytes,
    handshakeTimeout: options.handshakeMs,
    lookup: options.lookup,
    generateMask: nonZeroMask,
    ...(options.ca === undefined ? {} : { ca: [...options.ca] }),
  });
  let failure: string | undefined;
  socket.on('open', () => events.opened());
  socket.on('message', (data: Buffer) => events.message(data));
  socket.on('pong', () => events.pong());
  socket.on('unexpected-response', (_request, response) => {
    failure = `the server answered the upgrade with HTTP ${response.statusCode ?? 0}`;
    socket.terminate();
  });
  socket.on('error', (error) => {
    failure ??= describeError(error);
  });
  socket.on('close', (code, reason) => {
    events.closed(failure ?? describeClose(code, reason.toString('utf8')));
  });
  return socket;
}

function describeError(error: Error & { readonly code?: string }): string {
  const { code } = error;
  if (code === undefined) return `the connection failed: ${error.message || error.name}`;
  if (code === 'EGRESS_REFUSED') return `the address is refused: ${error.message}`;
  if (!code.startsWith('WS_ERR_')) return `the connection failed: ${code}`;
  return PEER_FAULTS[code] ?? `the application broke the WebSocket protocol: ${error.message}`;
}

function describeClose(code: number, reason: string): string {
  if (code === 1006) return 'the connection broke without a closing handshake';
  const said = reason === '' ? '' : `, "${reason}"`;
  return `the application closed the socket (code ${code}${said})`;
}

/** Four unpredictable bytes a frame (RFC 6455 §10.3), out of a pool: one system call for 1,024 frames. */
const maskPool = Buffer.alloc(4096);
let maskAt = maskPool.length;

/**
 * Never all zero: `ws` takes a zero mask as "no need to copy", and the bytes of `media` belong to the media engine, which
 * writes over them after the call.
 */
function nonZeroMask(mask: Buffer): void {
  do {
    if (maskAt === maskPool.length) {
      randomFillSync(maskPool);
      maskAt = 0;
    }
    maskPool.copy(mask, 0, maskAt, maskAt + 4);
    maskAt += 4;
  } while (mask.readUInt32LE(0) === 0);
}
