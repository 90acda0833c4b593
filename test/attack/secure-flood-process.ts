/** The flood of `secure-flood.ts` in a separate process, because its handshakes cost as much CPU as those of the service. */
import { connect, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { createSecureContext, connect as tlsConnect } from 'node:tls';
import { WebSocket } from 'ws';
import { datagram } from './datagrams.ts';
import { SECURE_PORTS } from './secure-ports.ts';
import { manySources } from './udp-flood.ts';

const EVERY_MS = 3;
const MOST = 10_000;
const SOURCES = manySources(50);
/** Shared context: creating one costs ten times as much as a handshake. */
const secureContext = createSecureContext();
const KINDS = 5;
/** Kinds of malformed handshakes. */
const MALFORMED = 6;
const INVITES = 10;

type Closing = { destroy(): void };

/** Source address of a connection. Half of the connections share the address of legitimate phones. */
const addressOf = (number: number): string =>
  number % 2 === 0 ? '127.0.0.1' : (SOURCES[number % SOURCES.length] ?? '127.0.0.2');

function invites(number: number, port: number): readonly Buffer[] {
  const facts = { address: addressOf(number), ownPort: 5060, port, username: 'nobody', realm: '' };
  return Array.from({ length: INVITES }, (_, n) =>
    datagram('invite', { ...facts, number: number * INVITES + n }),
  );
}

/** A valid ClientHello, from Node's own client. */
const hello = await new Promise<Buffer>((resolve) => {
  const wire = new Duplex({
    read: () => undefined,
    write(chunk: Buffer, _encoding, written) {
      written();
      resolve(chunk);
    },
  });
  tlsConnect({ socket: wire, servername: 'voice.example' }).on('error', () => undefined);
});

/** Records that TLS implementations have failed on: flipped octets, wrong lengths, cut-off messages, floods of alerts. */
function malformed(number: number): Buffer {
  const copy = Buffer.from(hello);
  switch (number % MALFORMED) {
    case 0:
      for (let flips = 0; flips < 8; flips += 1)
        copy[(number * 31 + flips * 7919) % copy.length] = (number * 13 + flips * 101) & 0xff;
      return copy;
    case 1:
      copy.writeUInt16BE(0xffff, 3); // length of the record
      return copy;
    case 2:
      copy.writeUIntBE(0xffffff, 6, 3); // length of the handshake message
      return copy;
    case 3:
      return copy.subarray(0, 1 + (number % copy.length));
    case 4:
      return Buffer.concat([copy, copy, copy]);
    default:
      return Buffer.concat(Array.from({ length: 200 }, () => Buffer.from('15030300020100', 'hex')));
  }
}

function attackTls(number: number, open: Set<Closing>): void {
  const way = { port: SECURE_PORTS.tls, host: '127.0.0.1', localAddress: addressOf(number) };
  const what = number % (KINDS + 1);
  const isPlain = what < 2 || what === KINDS;
  const socket: Socket = isPlain
    ? connect(way)
    : tlsConnect({ ...way, rejectUnauthorized: false, secureContext });
  open.add(socket);
  socket.on('error', () => undefined);
  socket.on('close', () => open.delete(socket));
  socket.resume();
  const [first, ...more] = invites(number, way.port);
  if (what === 1) socket.write('OPTIONS sip:a SIP/2.0\r\n\r\n');
  if (what === 3) socket.write(first?.subarray(0, 100) ?? '');
  if (what === 4) for (const invite of more) socket.write(invite);
  if (what === KINDS) socket.write(malformed(Math.floor(number / (KINDS + 1))));
}

function attackWs(number: number, open: Set<Closing>): void {
  const localAddress = addressOf(number);
  const what = number % KINDS;
  if (what < 2) {
    const socket = connect({ port: SECURE_PORTS.ws, host: '127.0.0.1', localAddress });
    open.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => open.delete(socket));
    socket.resume();
    if (what === 1) socket.write('GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n');
    return;
  }
  const socket = new WebSocket(`ws://127.0.0.1:${SECURE_PORTS.ws}`, 'sip', { localAddress });
  const closing = { destroy: () => socket.terminate() };
  open.add(closing);
  socket.on('error', () => undefined);
  socket.on('close', () => open.delete(closing));
  socket.on('open', () => {
    if (what === 3) socket.send(Buffer.alloc(30_000, 7));
    if (what === 4) for (const invite of invites(number, SECURE_PORTS.ws)) socket.send(invite);
  });
}

const [, , kind] = process.argv;
const open = new Set<Closing>();
let opened = 0;
let isOver = false;
process.on('message', () => {
  isOver = true;
  process.send?.({ opened, left: open.size }, () => process.exit(0));
});
process.once('disconnect', () => process.exit(1));
for (; !isOver && opened < MOST; opened += 1) {
  if (kind === 'tls') attackTls(opened, open);
  else attackWs(opened, open);
  await pause(EVERY_MS);
}
