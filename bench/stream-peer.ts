/**
 * The other ends of the stream benchmark, in a process of their own so that the service's CPU time is its own: callers that
 * send RTP and bots behind WebSockets. One clock, so that delays through the service can be told.
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { PCMU } from '../src/phone/audio/g711.ts';
import { readRtp, writeRtp } from '../src/phone/rtp/packet.ts';

export type ToPeer =
  | { readonly kind: 'talk'; readonly ports: readonly number[] }
  | { readonly kind: 'echo'; readonly on: boolean }
  /** One bot speaks into an empty queue, then clears in the middle; repeated. */
  | { readonly kind: 'probe'; readonly times: number }
  | { readonly kind: 'stop' };
export type FromPeer =
  | { readonly kind: 'ready'; readonly url: string; readonly callerPorts: readonly number[] }
  | {
      readonly kind: 'delays';
      /** Milliseconds. */
      readonly rtpToSocket: readonly number[];
      readonly playToRtp: readonly number[];
      readonly clearToSilence: readonly number[];
    };

const HOST = '127.0.0.1';
const FRAME_MS = 20;
/** Frames carry their number as one of these levels, apart enough to survive any rounding. */
const CODES = 64;
/** Byte offset of the middle sample of a 20 ms frame of L16 at 8 kHz. */
const MIDDLE = 160;
const SILENCE = Buffer.alloc(160, 0xff);
/** Decoded samples above this are audio of the bot. */
const LOUD = 2000;
const codeFrames = Array.from({ length: CODES }, (_, i) => Buffer.alloc(160, 0x80 + i));
const codeOfSample = new Map(
  Array.from({ length: CODES }, (_, i) => [PCMU.decode(Uint8Array.of(0x80 + i))[0] ?? 0, i]),
);

const tell = (message: FromPeer): void => {
  process.send?.(message);
};

const rtpToSocket: number[] = [];
const playToRtp: number[] = [];
const clearToSilence: number[] = [];
const sentAt: number[] = new Array(CODES).fill(0);
const bots: { socket: WebSocket; streamId: string }[] = [];
const callers: Socket[] = [];
let echoing = true;
let lastLoudMs = 0;
let firstLoudMs: number | undefined;

function onMessage(bot: { socket: WebSocket; streamId: string }, text: string): void {
  const message = JSON.parse(text);
  if (message.event === 'start') {
    bot.streamId = message.start.streamId;
    return;
  }
  if (message.event !== 'media') return;
  const { payload } = message.media;
  // A concealer delays samples by a few milliseconds: the middle of a frame is surely of the packet meant.
  const code = codeOfSample.get(Buffer.from(payload, 'base64').readInt16LE(MIDDLE));
  if (code !== undefined && code > 0) {
    const delayMs = performance.now() - (sentAt[code] ?? 0);
    if (delayMs < (CODES - 1) * FRAME_MS) rtpToSocket.push(delayMs);
  }
  if (echoing) play(bot, payload);
}

function play(bot: { socket: WebSocket; streamId: string }, payload: string): void {
  const media = { contentType: 'audio/x-l16', sampleRate: 8000, payload };
  bot.socket.send(JSON.stringify({ event: 'playAudio', streamId: bot.streamId, media }));
}

function onRtp(bytes: Buffer): void {
  const packet = readRtp(bytes);
  // Any sample: a cleared queue fades out at the beginning of a packet.
  const isLoud = packet !== undefined && PCMU.decode(packet.payload).some(isBot);
  if (!isLoud) return;
  lastLoudMs = performance.now();
  firstLoudMs ??= lastLoudMs;
}

const isBot = (sample: number): boolean => Math.abs(sample) >= LOUD;

function talk(ports: readonly number[]): void {
  const startMs = performance.now();
  let frame = 0;
  const tick = (): void => {
    for (; startMs + frame * FRAME_MS <= performance.now(); frame += 1) {
      const code = 1 + (frame % (CODES - 1));
      sentAt[code] = performance.now();
      callers.forEach((socket, i) => {
        const payload = i === 0 ? (codeFrames[code] ?? SILENCE) : SILENCE;
        const header = { payloadType: 0, marker: frame === 0, ssrc: i + 1 };
        const packet = writeRtp({ ...header, sequence: frame, timestamp: frame * 160, payload });
        socket.send(packet, ports[i] ?? 9, HOST);
      });
    }
    setTimeout(tick, Math.max(0, startMs + frame * FRAME_MS - performance.now()));
  };
  tick();
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function probe(times: number): Promise<void> {
  const bot = bots[0];
  if (bot === undefined) return;
  const second = Buffer.alloc(16_000, Buffer.from([0x00, 0x40])).toString('base64');
  for (let i = 0; i < times; i += 1) {
    firstLoudMs = undefined;
    const playedMs = performance.now();
    play(bot, second);
    await wait(200 + (i % 7) * 3);
    if (firstLoudMs !== undefined) playToRtp.push(firstLoudMs - playedMs);
    const clearedMs = performance.now();
    bot.socket.send(JSON.stringify({ event: 'clearAudio', streamId: bot.streamId }));
    await wait(150);
    clearToSilence.push(Math.max(0, lastLoudMs - clearedMs));
  }
  tell({ kind: 'delays', rtpToSocket, playToRtp, clearToSilence });
}

async function main(count: number): Promise<void> {
  const server = new WebSocketServer({ port: 0, host: HOST, perMessageDeflate: false });
  server.on('connection', (socket) => {
    const bot = { socket, streamId: '' };
    bots.push(bot);
    socket.on('message', (data) => onMessage(bot, String(data)));
  });
  await once(server, 'listening');
  for (let i = 0; i < count; i += 1) {
    const socket = createSocket('udp4').bind({ address: HOST, port: 0 });
    if (i === 0) socket.on('message', onRtp);
    callers.push(socket);
    await once(socket, 'listening');
  }
  process.on('message', (message: ToPeer) => {
    if (message.kind === 'talk') talk(message.ports);
    else if (message.kind === 'echo') echoing = message.on;
    else if (message.kind === 'probe') void probe(message.times);
    else process.exit(0);
  });
  const { port } = server.address() as AddressInfo;
  const callerPorts = callers.map((socket) => socket.address().port);
  tell({ kind: 'ready', url: `ws://${HOST}:${port}`, callerPorts });
}

await main(Number(process.argv[2] ?? 1));
