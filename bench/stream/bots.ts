/**
 * The bots of the stream benchmark, behind `ws` and `wss`, in a separate process. Every bot echoes its audio. Watched
 * bots also record the arrival time of numbered frames, and are probed. The others parse only as much of a message as an
 * echo needs, because bots and service share two cores.
 *
 *     fork('bots.ts', [watched or not: '1' or '0', folder of cert.pem and key.pem])
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type WebSocket, WebSocketServer } from 'ws';
import { PCMU } from '../../src/phone/audio/g711.ts';
import { machineMs } from './figures.ts';

export type ToBots =
  /** Turns the echo of watched bots on or off; initially on. */
  | { readonly kind: 'echo'; readonly on: boolean }
  | { readonly kind: 'forget' }
  /** Each watched bot repeatedly plays into an empty queue, then clears it during playback. */
  | { readonly kind: 'probe'; readonly times: number }
  | { readonly kind: 'report' }
  | { readonly kind: 'count' }
  | { readonly kind: 'stop' };

/** Recorded times of one watched bot, on the clock of `machineMs`. */
export interface WatchedBot {
  /** The call whose number the URL's path told. */
  readonly call: number;
  readonly received: ReadonlyArray<readonly [code: number, atMs: number]>;
  readonly probes: ReadonlyArray<readonly [playedMs: number, clearedMs: number]>;
}
export type FromBots =
  | { readonly kind: 'ready'; readonly ws: string; readonly wss: string }
  | { readonly kind: 'probed' }
  /** Messages sent back so far, over all bots. */
  | { readonly kind: 'counted'; readonly echoed: number }
  | { readonly kind: 'bots'; readonly bots: readonly WatchedBot[] };

const HOST = '127.0.0.1';
/** Byte offset of its middle sample: a concealer delays samples by some milliseconds, the middle is surely of the packet meant. */
const MIDDLE = 160;
const CODES = 63;
const codeOfSample = new Map(
  Array.from({ length: CODES }, (_, i) => [PCMU.decode(Uint8Array.of(0x81 + i))[0] ?? 0, i + 1]),
);
/** Long enough that it still plays when it is cleared. */
const SPEECH = Buffer.alloc(16_000, Buffer.from([0x00, 0x40])).toString('base64');
/** Time from `playAudio` to `clearAudio`, and from there until all audio has stopped, ms. */
const SPEAK_MS = 200;
const SILENT_MS = 150;
/** Probes of different bots begin apart from each other. */
const APART_MS = 13;

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const notify = (message: FromBots): void => {
  process.send?.(message);
};

let echoing = true;
let echoed = 0;

class Bot {
  readonly socket: WebSocket;
  readonly call: number;
  received: Array<readonly [number, number]> = [];
  probes: Array<readonly [number, number]> = [];
  #streamId = '';
  /** All of a `playAudio` but its payload. */
  #head = Buffer.alloc(0);
  readonly #foot = Buffer.from('"}}');
  #format = { contentType: '', sampleRate: 0 };
  /** Characters of the payload of every `media`, and bytes that follow it; 0 while unknown. */
  #payload = 0;
  #tail = 0;

  constructor(socket: WebSocket, call: number) {
    this.socket = socket;
    this.call = call;
  }

  receive(message: Buffer, watched: boolean): void {
    if (this.#tail === 0) this.#learn(message);
    if (this.#tail === 0 || message.length < this.#payload + this.#tail) return;
    const end = message.length - this.#tail;
    const payload = message.subarray(end - this.#payload, end);
    if (watched) this.#note(payload.toString('latin1'));
    if (watched && !echoing) return;
    echoed += 1;
    this.socket.send(Buffer.concat([this.#head, payload, this.#foot]), { binary: false });
  }

  async probe(times: number, firstAfterMs: number): Promise<void> {
    await wait(firstAfterMs);
    for (let i = 0; i < times; i += 1) {
      const playedMs = machineMs();
      this.socket.send(this.#playAudio(SPEECH));
      // Bots and rounds meet the 20 ms grid of their call everywhere.
      await wait(SPEAK_MS + ((i * 7 + this.call * 3) % 20));
      const clearedMs = machineMs();
      this.socket.send(JSON.stringify({ event: 'clearAudio', streamId: this.#streamId }));
      this.probes.push([playedMs, clearedMs]);
      await wait(SILENT_MS + ((i * 3) % 20));
    }
  }

  /** The first messages tell where a payload ends and what the stream is called. */
  #learn(message: Buffer): void {
    const text = message.toString('utf8');
    const { event, start, media } = JSON.parse(text);
    if (event === 'start') {
      const { encoding, sampleRate } = start.mediaFormat;
      this.#streamId = start.streamId;
      this.#format = { contentType: encoding, sampleRate };
      this.#head = Buffer.from(this.#playAudio('').slice(0, -'"}}'.length));
    } else if (event === 'media') {
      this.#payload = media.payload.length;
      this.#tail = text.length - text.indexOf(media.payload) - this.#payload;
    }
  }

  #playAudio(payload: string): string {
    const media = { ...this.#format, payload };
    return JSON.stringify({ event: 'playAudio', streamId: this.#streamId, media });
  }

  #note(payload: string): void {
    const code = codeOfSample.get(Buffer.from(payload, 'base64').readInt16LE(MIDDLE));
    if (code !== undefined) this.received.push([code, machineMs()]);
  }
}

const bots = new Map<number, Bot>();

function serve(server: WebSocketServer, watched: boolean): void {
  server.on('connection', (socket, request) => {
    const bot = new Bot(socket, Number(request.url?.slice(1)));
    bots.set(bot.call, bot);
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      // Audio of Asterisk; its text is about the stream.
      if (isBinary) socket.send(data);
      else if (socket.protocol !== 'media') bot.receive(data, watched);
    });
    socket.on('error', () => undefined);
  });
}

async function obey(message: ToBots): Promise<void> {
  const all = [...bots.values()];
  if (message.kind === 'echo') echoing = message.on;
  else if (message.kind === 'forget') for (const bot of all) bot.received = [];
  else if (message.kind === 'count') notify({ kind: 'counted', echoed });
  else if (message.kind === 'probe') {
    await Promise.all(all.map((bot, i) => bot.probe(message.times, i * APART_MS)));
    notify({ kind: 'probed' });
  } else if (message.kind === 'report') {
    notify({
      kind: 'bots',
      bots: all.map(({ call, received, probes }) => ({ call, received, probes })),
    });
  } else process.exit(0);
}

async function main(watched: boolean, tlsFolder: string): Promise<void> {
  const options = { perMessageDeflate: false, host: HOST, port: 0 };
  const plain = new WebSocketServer(options);
  serve(plain, watched);
  const https = createServer({
    cert: readFileSync(join(tlsFolder, 'cert.pem')),
    key: readFileSync(join(tlsFolder, 'key.pem')),
  }).listen(0, HOST);
  serve(new WebSocketServer({ server: https, perMessageDeflate: false }), watched);
  await Promise.all([once(plain, 'listening'), once(https, 'listening')]);
  process.on('message', (message: ToBots) => void obey(message));
  process.once('disconnect', () => process.exit(0));
  const portOf = (address: ReturnType<typeof https.address>): number =>
    (address as AddressInfo).port;
  notify({
    kind: 'ready',
    ws: `ws://${HOST}:${portOf(plain.address())}`,
    wss: `wss://${HOST}:${portOf(https.address())}`,
  });
}

await main(process.argv[2] === '1', process.argv[3] ?? '');
