/** The sender's process of `udp-flood.ts`: sends what it was told for as long as it was told, counts what comes back, ends. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { datagram } from './datagrams.ts';
import type { FloodOrder, FloodReport } from './udp-flood.ts';

const HOST = '127.0.0.1';
const TICK_MS = 2;
/** After a pause of this process no burst larger than this. */
const BURST = 400;
/** Answers are counted so long after the last datagram: retransmissions of 401 come within. */
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
    // Guesses name the realm of the challenge that the first one got.
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
