/**
 * Whole bidirectional stream calls, L16 at 8 kHz both ways: RTP in, WebSocket out, WebSocket in, RTP out. Callers and bots
 * run in a process of their own; the floor is the same number of WebSocket messages of the same size without any media.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { WebSocket, WebSocketServer } from 'ws';
import { silentLogger } from '../src/base/logger.ts';
import type { StreamSocket } from '../src/domain/call/needs.ts';
import { systemClock as clock } from '../src/edge/clock/system-clock.ts';
import { createEgressGuard } from '../src/edge/egress/egress.ts';
import { createMedia } from '../src/edge/media/engine.ts';
import { createAudioStreams } from '../src/edge/stream/client.ts';
import { isQuick, type Row } from './row.ts';
import type { FromPeer, ToPeer } from './stream-peer.ts';

const HOST = '127.0.0.1';
/** Enough that the fixed cost of the media tick is shared as it is in service. */
const CALLS = Number(process.env['BENCH_STREAM_CALLS'] ?? 150);
const SETTLE_MS = 1500;
const MEASURE_MS = isQuick ? 2000 : 5000;
const PROBES = 20;
const LOOP_RESOLUTION_MS = 1;
const nothing = (): void => undefined;
const pause = (ms: number): Promise<void> => clock.sleep(ms);

export async function run(): Promise<Row[]> {
  const peer = fork(new URL('./stream-peer.ts', import.meta.url), [String(CALLS)]);
  const tell = (message: ToPeer): void => {
    peer.send(message);
  };
  const { url, callerPorts } = await answer(peer, 'ready');
  const media = createMedia({
    rtpHost: HOST,
    publicHost: HOST,
    portMin: 42_000,
    portMax: 42_999,
    drive: 'thread',
    wallMs: () => Date.now(),
    logger: silentLogger,
  });
  const { sockets, ports } = await openCalls(media, url, callerPorts);
  tell({ kind: 'talk', ports });
  await pause(SETTLE_MS);
  const loop = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
  loop.enable();
  const perCallSecond = await cpuPerCallSecond(CALLS);
  loop.disable();
  const heapBefore = process.memoryUsage().heapUsed;
  tell({ kind: 'echo', on: false });
  await pause(300);
  tell({ kind: 'probe', times: PROBES });
  const delays = await answer(peer, 'delays');
  const late = media.status().tickLateP99Us;
  for (const socket of sockets) socket.close('call_hangup');
  await media.stop();
  tell({ kind: 'stop' });
  await once(peer, 'exit');
  const floor = await webSocketFloor();
  const delay = (name: string, values: readonly number[], part: number, goal: string): Row => ({
    name: `stream: ${name} p${part * 100}`,
    value: round(quantile(values, part)),
    unit: 'ms',
    note: `${values.length} values, ${CALLS} calls running; goal ${goal}`,
  });
  return [
    {
      name: 'stream: CPU of a bidirectional call, L16/8k over ws',
      value: Math.round(perCallSecond),
      unit: 'µs per call-second',
      floor: Math.round(floor),
      ratio: round(perCallSecond / floor),
      note: `${CALLS} calls; goal ≤ 1600; floor: ws alone, one echoed message of 1 KB per 20 ms (both ends halved)`,
    },
    delay('RTP in to WebSocket out', delays.rtpToSocket, 0.5, '≤ 10 ms'),
    delay('RTP in to WebSocket out', delays.rtpToSocket, 0.99, '≤ 22 ms'),
    delay('playAudio to first RTP, empty queue', delays.playToRtp, 0.99, '≤ 22 ms'),
    delay('clearAudio to last old audio', delays.clearToSilence, 0.99, '≤ 22 ms'),
    { name: 'stream: lateness of the media tick p99', value: late, unit: 'µs' },
    {
      name: 'stream: lateness of the main loop p99',
      value: round(Math.max(0, loop.percentile(99) / 1e6 - LOOP_RESOLUTION_MS)),
      unit: 'ms',
      note: `${CALLS} calls; what a SIP message may have to wait`,
    },
    {
      name: 'stream: JavaScript heap with calls running',
      value: round(heapBefore / 2 ** 20),
      unit: 'MiB',
    },
  ];
}

async function openCalls(
  media: ReturnType<typeof createMedia>,
  url: string,
  callerPorts: readonly number[],
): Promise<{ readonly sockets: StreamSocket[]; readonly ports: number[] }> {
  const streams = createAudioStreams({
    egress: createEgressGuard({ allow: [], allowLoopback: true, allowInsecure: true }),
    signUpgrade: () => Promise.resolve({}),
    userAgent: 'bench',
    clock,
    logger: silentLogger,
  });
  const sockets: StreamSocket[] = [];
  const ports: number[] = [];
  for (const port of callerPorts) {
    const leg = await media.openLeg({ mediaTimeoutMs: 60_000 }, { dtmf: nothing, silent: nothing });
    leg.configure({
      address: HOST,
      port,
      codec: 'PCMU',
      payloadType: 0,
      telephoneEvent: undefined,
      ptimeMs: 20,
      direction: 'sendrecv',
    });
    ports.push(leg.port);
    await new Promise<void>((resolve) => {
      const events = {
        started: resolve,
        played: nothing,
        cleared: nothing,
        degraded: nothing,
        ended: nothing,
        sendDigits: nothing,
        fault: nothing,
      };
      sockets.push(streams.open({ url, ...CALL }, leg, events));
    });
  }
  return { sockets, ports };
}

const CALL = {
  streamId: '5f0e6a52-6a0e-4a52-9a0b-0d6c2f3b7c22',
  callUuid: '0b6c1c3e-8f0a-4f4e-9a53-2f6f2c9d1a11',
  accountId: 'MA_0123456789ABCDEFG',
  encoding: 'audio/x-l16',
  rate: 8000,
  tracks: 'inbound',
  bidirectional: true,
  extraHeaders: [],
  from: '14155550100',
  to: '14155550101',
  direction: 'inbound',
} as const;

/** Microseconds of CPU, all threads of this process, per call and second. */
async function cpuPerCallSecond(calls: number): Promise<number> {
  const before = process.cpuUsage();
  const startMs = clock.monotonicMs();
  await pause(MEASURE_MS);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls / ((clock.monotonicMs() - startMs) / 1000);
}

/** Both ends of echoed messages live in this process, so one end costs half. */
async function webSocketFloor(): Promise<number> {
  const server = new WebSocketServer({ port: 0, host: HOST, perMessageDeflate: false });
  await once(server, 'listening');
  server.on('connection', (socket) => {
    socket.on('message', (data) => socket.send(data, { binary: false }));
  });
  const at = server.address();
  const port = typeof at === 'object' && at !== null ? at.port : 0;
  const clients = Array.from({ length: CALLS }, () => new WebSocket(`ws://${HOST}:${port}`));
  await Promise.all(clients.map((client) => once(client, 'open')));
  const message = Buffer.alloc(660, 'x');
  const timer = setInterval(() => {
    for (const client of clients) client.send(message, { binary: false });
  }, 20);
  await pause(300);
  const both = await cpuPerCallSecond(CALLS);
  clearInterval(timer);
  for (const client of clients) client.terminate();
  server.close();
  return both / 2;
}

function answer<K extends FromPeer['kind']>(
  peer: ChildProcess,
  kind: K,
): Promise<Extract<FromPeer, { readonly kind: K }>> {
  return new Promise((resolve) => {
    const onMessage = (message: FromPeer): void => {
      if (message.kind !== kind) return;
      peer.off('message', onMessage);
      resolve(message as Extract<FromPeer, { readonly kind: K }>);
    };
    peer.on('message', onMessage);
  });
}

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

const round = (value: number): number => Math.round(value * 10) / 10;
