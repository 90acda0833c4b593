/** Sender process of `udp-flood.ts`: sends the requested datagrams for the requested time, and counts the responses. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { datagram } from './datagrams.ts';
import type { FloodOrder, FloodReport } from './udp-flood.ts';

const HOST = '127.0.0.1';
const TICK_MS = 2;
/** Maximum number of datagrams in one burst after a pause of this process. */
const BURST = 400;
/** Time for which responses are counted after the last datagram, ms. Covers retransmissions of 401. */
const LISTEN_MS = 6000;

const [order] = (await once(process, 'message')) as [FloodOrder];
const report = await run(order);
process.send?.(report, () => process.exit(0));

async function run({ port, perSecond, seconds, sources, kinds, username }: FloodOrder) {
  const statuses: Record<string, number> = {};
  const totals = { sent: 0, sentBytes: 0, answers: 0, answerBytes: 0 };
  let realm = '';
  const count = (bytes: Buffer): void => {
    totals.answers += 1;
    totals.answerBytes += bytes.length;
    const status = bytes.toString('latin1', 8, 11);
    statuses[status] = (statuses[status] ?? 0) + 1;
    // Guesses use the realm of the first challenge.
    realm ||= /realm="([^"]*)"/.exec(bytes.toString('latin1'))?.[1] ?? '';
  };
  const sockets = await Promise.all(sources.map((address) => open(address, count)));
  const startMs = performance.now();
  const endMs = startMs + seconds * 1000;
  for (let nowMs = startMs; nowMs < endMs; nowMs = performance.now()) {
    const due = Math.floor(((nowMs - startMs) * perSecond) / 1000);
    const upTo = Math.min(due, totals.sent + BURST);
    while (totals.sent < upTo) {
      const socket = sockets[totals.sent % sockets.length];
      const kind = kinds[totals.sent % kinds.length] ?? 'invite';
      if (socket === undefined) break;
      const bytes = datagram(kind, { ...socket, port, number: totals.sent, username, realm });
      socket.socket.send(bytes, port, HOST);
      totals.sent += 1;
      totals.sentBytes += bytes.length;
    }
    await pause(TICK_MS);
  }
  await pause(LISTEN_MS);
  for (const { socket } of sockets) socket.close();
  return { ...totals, statuses } satisfies FloodReport;
}

interface Source {
  readonly socket: Socket;
  readonly address: string;
  readonly ownPort: number;
}

async function open(address: string, count: (bytes: Buffer) => void): Promise<Source> {
  const socket = createSocket('udp4');
  socket.bind({ address, port: 0 });
  await once(socket, 'listening');
  socket.on('message', count);
  socket.on('error', () => undefined);
  return { socket, address, ownPort: socket.address().port };
}
