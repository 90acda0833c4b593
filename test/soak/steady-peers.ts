/**
 * Runs the well-behaved callers and bots of the soak test in a separate process. Started by sockets.ts:
 *
 *     fork('steady-peers.ts', [number of lines, folder of cert.pem and key.pem])
 *
 * The URL names the bot's line: /<index>. Every second line echoes.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { WebSocketServer } from 'ws';
import { FRAME_MS } from './numbered-audio.ts';
import { type LineReport, SteadyLine } from './steady-line.ts';

export type ToSteady =
  | { readonly kind: 'talk'; readonly ports: readonly number[] }
  /** Starts the measurement of positions, after connections have stabilized. */
  | { readonly kind: 'begin' }
  | { readonly kind: 'report' };
export type FromSteady =
  | {
      readonly kind: 'ready';
      readonly ws: string;
      readonly wss: string;
      readonly callerPorts: readonly number[];
    }
  | {
      readonly kind: 'report';
      readonly lines: readonly LineReport[];
      /** Lateness of this process since `begin`, ms. Measurements cannot be more accurate. */
      readonly late: { readonly p99: number; readonly worst: number };
    };

const HOST = '127.0.0.1';
const TICK_MS = 4;
const LOOP_MS = 10;
const loop = monitorEventLoopDelay({ resolution: LOOP_MS });
const [count = '1', tlsFolder = ''] = process.argv.slice(2);

const lines = Array.from(
  { length: Number(count) },
  (_, i) => new SteadyLine(i, i % 2 === 0 ? 'talker' : 'echo', () => performance.now()),
);

function serve(server: Server): void {
  new WebSocketServer({ server, perMessageDeflate: false }).on('connection', (socket, request) => {
    lines[Number(request.url?.slice(1))]?.attach(socket);
  });
}

function talk(ports: readonly number[]): void {
  const startMs = performance.now();
  // Callers start at different times.
  lines.forEach((line, i) => {
    line.talk(ports[i] ?? 0, startMs + (i * FRAME_MS) / lines.length);
  });
  setInterval(() => {
    for (const line of lines) line.tick();
  }, TICK_MS);
}

function begin(): void {
  loop.enable();
  for (const line of lines) line.begin();
}

function report(): void {
  const late = { p99: loop.percentile(99) / 1e6 - LOOP_MS, worst: loop.max / 1e6 - LOOP_MS };
  notify({ kind: 'report', lines: lines.map((line) => line.report()), late });
}

const plain = createServer();
const tls = createTlsServer({
  cert: readFileSync(join(tlsFolder, 'cert.pem')),
  key: readFileSync(join(tlsFolder, 'key.pem')),
});
for (const http of [plain, tls]) {
  serve(http);
  http.listen(0, HOST);
  await once(http, 'listening');
}
const notify = (message: FromSteady): void => {
  process.send?.(message);
};
process.on('message', (message: ToSteady) => {
  if (message.kind === 'talk') talk(message.ports);
  else if (message.kind === 'begin') begin();
  else report();
});
process.once('disconnect', () => process.exit(0));
const portOf = (http: Server): number => (http.address() as AddressInfo).port;
notify({
  kind: 'ready',
  ws: `ws://${HOST}:${portOf(plain)}`,
  wss: `wss://${HOST}:${portOf(tls)}`,
  callerPorts: await Promise.all(lines.map((line) => line.bind())),
});
