/** Hostile servers that send arbitrary bytes, on 127.0.0.1 or ::1, in plain text or over TLS. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket, type TlsOptions } from 'node:tls';
import { fileURLToPath } from 'node:url';

export const pem = (name: string): string =>
  fileURLToPath(new URL(`tls/${name}.pem`, import.meta.url));
export const readPem = (name: string): string => readFileSync(pem(name), 'utf8');

/** Response that opens the socket (RFC 6455 §4.2.2). */
export function acceptance(request: string): string {
  const key = /sec-websocket-key: (.*)\r\n/i.exec(request)?.[1] ?? '';
  const accept = createHash('sha1')
    .update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64');
  return (
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
    `Sec-WebSocket-Accept: ${accept}\r\n\r\n`
  );
}

/** One unmasked frame. */
export function frame(opcode: number, payload: string | Buffer = '', final = true): Buffer {
  const body = Buffer.from(payload);
  const first = (final ? 0x80 : 0) | opcode;
  if (body.length < 126) return Buffer.concat([Buffer.from([first, body.length]), body]);
  const head = Buffer.alloc(10);
  head[0] = first;
  head[1] = 127;
  head.writeBigUInt64BE(BigInt(body.length), 2);
  return Buffer.concat([head, body]);
}

export const text = (message: unknown): Buffer => frame(1, JSON.stringify(message));

export interface Attacker {
  readonly url: string;
  readonly sockets: Socket[];
  stop(): Promise<void>;
}

type Greet<S extends Socket> = (socket: S, request: string) => void;

/** Calls `greet` with the complete upgrade request; it sends no response itself. */
export async function attacker(greet: Greet<Socket>, host = '127.0.0.1'): Promise<Attacker> {
  return listen(createServer(), 'connection', greet, 'ws', host);
}

export async function secureAttacker(
  options: TlsOptions,
  greet: Greet<TLSSocket>,
  host = '127.0.0.1',
): Promise<Attacker> {
  return listen(createTlsServer(options), 'secureConnection', greet, 'wss', host);
}

async function listen<S extends Socket>(
  server: Server,
  event: string,
  greet: Greet<S>,
  scheme: string,
  host: string,
): Promise<Attacker> {
  const sockets: Socket[] = [];
  server.on('connection', (socket) => sockets.push(socket));
  server.on('tlsClientError', () => undefined);
  server.on(event, (socket: S) => {
    let request = '';
    const gather = (bytes: Buffer): void => {
      request += bytes.toString('latin1');
      if (!request.endsWith('\r\n\r\n')) return;
      socket.off('data', gather);
      greet(socket, request);
    };
    socket.on('error', () => undefined);
    socket.on('data', gather);
  });
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    sockets,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A proxy to `url` that forwards every byte of the server in a separate segment. */
export async function byteByByte(url: string): Promise<Attacker> {
  const server = createServer((from) => {
    const to = connect(Number(new URL(url).port), '127.0.0.1');
    from.setNoDelay(true);
    to.on('data', (bytes) => {
      for (const byte of bytes) from.write(Buffer.from([byte]));
    });
    from.pipe(to);
    to.on('end', () => from.end());
    to.on('error', () => from.destroy());
    from.on('error', () => to.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: url.replace(/:\d+$/, `:${port}`),
    sockets: [],
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
