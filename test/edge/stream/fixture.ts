/** A media leg without audio, a customer's bot on 127.0.0.1, and a record of the events of the call. */

import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { EgressGuard } from '../../../src/base/egress.ts';
import { asAccountId, asCallUuid, asStreamId } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import type {
  MediaLeg,
  MediaStream,
  MediaStreamEvents,
  MediaStreamOptions,
  StreamReceiveResult,
  StreamSocketEnd,
  StreamSocketEvents,
  StreamSocketOptions,
} from '../../../src/domain/call/needs.ts';
import { createEgressGuard } from '../../../src/edge/egress/egress.ts';
import {
  type AudioStreamsEdge,
  type AudioStreamsOptions,
  createAudioStreams,
} from '../../../src/edge/stream/client.ts';
import { SimClock } from '../../sim/clock.ts';

export const OPTIONS: StreamSocketOptions = {
  url: '',
  streamId: asStreamId('5f0e6a52-6a0e-4a52-9a0b-0d6c2f3b7c22'),
  callUuid: asCallUuid('0b6c1c3e-8f0a-4f4e-9a53-2f6f2c9d1a11'),
  accountId: asAccountId('MA_0123456789ABCDEFG'),
  ownerId: 'MA_0123456789ABCDEFG',
  encoding: 'audio/x-l16',
  rate: 8000,
  tracks: 'inbound',
  bidirectional: true,
  extraHeaders: [['tenant', '7']],
  from: '14155550100',
  to: '14155550101',
  direction: 'inbound',
  callStartMs: 1_700_000_000_000,
};

/** `media` message as written by the engine, with a blank sequence number. */
export const mediaMessage = (chunk: number, payloadBytes = 320): Uint8Array =>
  new TextEncoder().encode(
    `{"sequenceNumber":          ,"event":"media","streamId":"${OPTIONS.streamId}","media":{"track":"inbound",` +
      `"timestamp":"${1_760_000_000_000 + chunk * 20}","chunk":${chunk},` +
      `"payload":"${Buffer.alloc(payloadBytes, chunk).toString('base64')}"},"extra_headers":"{\\"tenant\\":\\"7\\"}"}`,
  );

/** Records all commands. `verdict` sets the result of `receive`; `accepts` sets whether `enqueue` has room. */
class FakeMediaStream implements MediaStream {
  readonly log: string[] = [];
  readonly enqueued: Uint8Array[] = [];
  verdict: StreamReceiveResult = 'other';
  accepts = true;
  readonly options: MediaStreamOptions;
  readonly events: MediaStreamEvents;

  constructor(options: MediaStreamOptions, events: MediaStreamEvents) {
    this.options = options;
    this.events = events;
  }

  receive(): StreamReceiveResult {
    return this.verdict;
  }

  enqueue(encoding: string, rate: number, payload: Uint8Array): boolean {
    this.log.push(`enqueue ${encoding} ${rate}`);
    this.enqueued.push(payload);
    return this.accepts;
  }

  clear(): undefined {
    this.log.push('clear');
  }

  checkpoint(name: string): void {
    this.log.push(`checkpoint ${name}`);
  }

  queuedMs(): number {
    return 0;
  }

  pause(): void {}

  close(): void {
    this.log.push('close');
  }
}

/** A leg that implements only `openStream`. */
function fakeLeg(opened: (stream: FakeMediaStream) => void, failure?: string): MediaLeg {
  const leg: Pick<MediaLeg, 'openStream'> = {
    openStream(options, events) {
      if (failure !== undefined) throw new Error(failure);
      const stream = new FakeMediaStream(options, events);
      opened(stream);
      return stream;
    },
  };
  return leg as MediaLeg;
}

export class Bot {
  readonly server: WebSocketServer;
  readonly url: string;
  readonly messages: string[] = [];
  readonly sockets: WebSocket[] = [];
  readonly requests: IncomingMessage[] = [];
  readonly closes: Array<{ readonly code: number; readonly reason: string }> = [];

  private constructor(server: WebSocketServer) {
    this.server = server;
    this.url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('connection', (socket, request) => {
      this.sockets.push(socket);
      this.requests.push(request);
      socket.on('message', (data, isBinary) => {
        this.messages.push(isBinary ? 'BINARY' : String(data));
      });
      socket.on('close', (code, reason) => this.closes.push({ code, reason: String(reason) }));
      socket.on('error', () => undefined);
    });
  }

  static async listen(options: { readonly autoPong?: boolean } = {}): Promise<Bot> {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1', ...options });
    await once(server, 'listening');
    return new Bot(server);
  }

  events(name: string): Array<Record<string, unknown>> {
    return this.messages
      .map((text) => JSON.parse(text) as Record<string, unknown>)
      .filter(({ event }) => event === name);
  }

  say(message: unknown): void {
    this.sockets.at(-1)?.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.terminate();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

class Reported implements StreamSocketEvents {
  readonly log: string[] = [];
  readonly ends: StreamSocketEnd[] = [];
  readonly faults: string[] = [];
  started(): void {
    this.log.push('started');
  }
  played(name: string): void {
    this.log.push(`played ${name}`);
  }
  cleared(): void {
    this.log.push('cleared');
  }
  degraded(percent: number): void {
    this.log.push(`degraded ${percent}`);
  }
  ended(end: StreamSocketEnd): void {
    this.ends.push(end);
  }
  sendDigits(digits: string): void {
    this.log.push(`digits ${digits}`);
  }
  fault(code: string): void {
    this.faults.push(code);
  }
}

/** Guard that allows `ws://` and loopback, as while HTTP is bound to loopback. */
export const guard = (allowInsecure: boolean, allowLoopback = true): EgressGuard =>
  createEgressGuard({ allow: [], allowLoopback, allowInsecure });

/** One stream to `url`, with its bot, its media side and the events of the call. */
export function openStream(
  url: string,
  stream: Partial<StreamSocketOptions> = {},
  client: Partial<AudioStreamsOptions> = {},
  mediaFailure?: string,
) {
  const clock = new SimClock();
  const reported = new Reported();
  const media: FakeMediaStream[] = [];
  const streams = createAudioStreams({
    egress: guard(true),
    signUpgrade: () => Promise.resolve({ 'X-Plivo-Signature-V3': 'signed' }),
    userAgent: 'Carillon/test',
    clock,
    logger: silentLogger,
    ...client,
  });
  const leg = fakeLeg((opened) => media.push(opened), mediaFailure);
  const socket = streams.open({ ...OPTIONS, url, ...stream }, leg, reported);
  return { clock, reported, media, streams, socket };
}

/** Another stream on the same sockets; returns the events of its call. */
export function another(streams: AudioStreamsEdge, stream: Partial<StreamSocketOptions>): Reported {
  const reported = new Reported();
  const leg = fakeLeg(() => undefined);
  streams.open({ ...OPTIONS, ...stream }, leg, reported);
  return reported;
}
