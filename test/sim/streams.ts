/** Audio-stream sockets without a network: the real session and the real media on one side, bots in memory on the other. */

import { type Driver, drive } from '../../src/base/drive.ts';
import type {
  AudioStreams,
  MediaLeg,
  MediaStream,
  StreamSocket,
  StreamSocketEvents,
  StreamSocketOptions,
  StreamStopReason,
} from '../../src/domain/call/needs.ts';
import {
  DEFAULT_SESSION_LIMITS,
  extraHeadersLiteral,
  SEQUENCE_NUMBER_OFFSET,
  type SessionInput,
  type SessionOutput,
  StreamSession,
} from '../../src/protocol/audio-stream/audio-stream.ts';
import type { SimClock } from './clock.ts';
import { writePaddedNumber } from './padded-number.ts';
import type { SimRandom } from './random.ts';

/** A message of the service, as JSON has it. */
// biome-ignore lint/suspicious/noExplicitAny: what arrives is judged by the assertions of the scenarios
export type BotMessage = any;

export interface BotLine {
  send(message: unknown): void;
  /** The application closes its socket, or loses it. */
  drop(): void;
}

export interface Bot {
  /** One message of the service. */
  hear(message: BotMessage, line: BotLine): void;
  closed?(): void;
}

/** Makes the bot of each connection; undefined: the connection is refused. */
export type MakeBot = (url: string) => Bot | undefined;

const QUEUE_MS = 60_000;

export class SimStreams implements AudioStreams {
  readonly #clock: SimClock;
  readonly #random: SimRandom;
  readonly #tell: (line: string) => void;
  readonly #bots = new Map<string, MakeBot>();
  #live = 0;

  constructor(clock: SimClock, random: SimRandom, tell: (line: string) => void) {
    this.#clock = clock;
    this.#random = random;
    this.#tell = tell;
  }

  /** Sockets that have not ended. */
  get live(): number {
    return this.#live;
  }

  serve(url: string, make: MakeBot): void {
    this.#bots.set(url, make);
  }

  open(options: StreamSocketOptions, leg: MediaLeg, events: StreamSocketEvents): StreamSocket {
    this.#live += 1;
    const ended: StreamSocketEvents['ended'] = (end) => {
      this.#live -= 1;
      this.#tell(`stream ended: ${end.kind}`);
      events.ended(end);
    };
    const wire = { clock: this.#clock, delayMs: this.#random.between(1, 12) };
    const make = this.#bots.get(options.url);
    return new SimSocket(options, leg, { ...events, ended }, { ...wire, make });
  }
}

class SimSocket implements StreamSocket {
  readonly #options: StreamSocketOptions;
  readonly #leg: MediaLeg;
  readonly #events: StreamSocketEvents;
  readonly #clock: SimClock;
  readonly #delayMs: number;
  readonly #session: StreamSession;
  readonly #driver: Driver<SessionInput>;
  #bot: Bot | undefined;
  #stream: MediaStream | undefined;
  #sequenceNumber = 0;
  #gone = false;

  constructor(
    options: StreamSocketOptions,
    leg: MediaLeg,
    events: StreamSocketEvents,
    wire: { clock: SimClock; delayMs: number; make: MakeBot | undefined },
  ) {
    this.#options = options;
    this.#leg = leg;
    this.#events = events;
    this.#clock = wire.clock;
    this.#delayMs = wire.delayMs;
    const identity = { ...options, format: { encoding: options.encoding, rate: options.rate } };
    this.#session = new StreamSession(identity, DEFAULT_SESSION_LIMITS);
    this.#driver = drive(this.#session, wire.clock, (output) => this.#act(output));
    this.#driver.tell({ kind: 'connecting' });
    this.#later(() => {
      this.#bot = wire.make?.(options.url);
      if (this.#bot === undefined) this.#lose('connection refused');
      else this.#driver.tell({ kind: 'opened' });
    });
  }

  close(reason: StreamStopReason, options?: { readonly drain?: boolean }): void {
    this.#driver.tell({ kind: 'close', reason, drain: options?.drain ?? false });
  }

  #later(what: () => void): void {
    this.#clock.at(this.#clock.monotonicMs() + this.#delayMs, () => {
      if (!this.#gone) what();
    });
  }

  #lose(detail: string): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#bot?.closed?.();
    this.#driver.tell({ kind: 'socketClosed', detail });
  }

  /** Numbers a message of ours and sends it. */
  #toBot(message: Buffer): void {
    writePaddedNumber(message, SEQUENCE_NUMBER_OFFSET, this.#sequenceNumber);
    this.#sequenceNumber += 1;
    const text = message.toString('utf8');
    this.#later(() => {
      this.#bot?.hear(JSON.parse(text), {
        send: (message) => this.#fromBot(message),
        drop: () => this.#later(() => this.#lose('closed by the application')),
      });
    });
  }

  #fromBot(message: unknown): void {
    const bytes = Buffer.from(typeof message === 'string' ? message : JSON.stringify(message));
    this.#later(() => {
      const mayPlay = this.#options.bidirectional && this.#session.sending;
      const verdict = mayPlay ? (this.#stream?.receive(bytes) ?? 'other') : 'other';
      if (verdict === 'other') this.#driver.tell({ kind: 'received', bytes });
      else if (verdict !== 'taken') this.#driver.tell({ kind: 'refused', why: verdict });
    });
  }

  #act(output: SessionOutput): void {
    switch (output.kind) {
      case 'send':
        this.#toBot(Buffer.from(output.text));
        break;
      case 'ping':
        this.#later(() => this.#driver.tell({ kind: 'pong' }));
        break;
      case 'enqueue':
        if (this.#stream?.enqueue(output.encoding, output.rate, output.payload) === false) {
          this.#driver.tell({ kind: 'refused', why: 'bufferFull' });
        }
        break;
      case 'clearQueue':
        this.#stream?.clear();
        break;
      case 'checkpoint':
        this.#stream?.checkpoint(output.id);
        break;
      case 'closeSocket':
        if (output.last !== undefined) this.#toBot(Buffer.from(output.last));
        this.#later(() => this.#lose('closed'));
        break;
      case 'dropSocket':
        queueMicrotask(() => this.#lose('cut'));
        break;
      case 'started':
        this.#startMedia();
        this.#events.started();
        break;
      case 'sendDigits':
        this.#events.sendDigits(output.digits);
        break;
      case 'played':
        this.#events.played(output.name);
        break;
      case 'cleared':
        this.#events.cleared();
        break;
      case 'fault':
        this.#events.fault(output.code, output.detail);
        break;
      case 'ended':
        this.#stream?.close();
        this.#stream = undefined;
        queueMicrotask(() => this.#events.ended(output.end));
        break;
    }
  }

  #startMedia(): void {
    const { streamId, encoding, rate, tracks, bidirectional, extraHeaders } = this.#options;
    const extraHeadersJson = extraHeadersLiteral(extraHeaders);
    this.#stream = this.#leg.openStream(
      { streamId, encoding, rate, tracks, bidirectional, extraHeadersJson, queueMs: QUEUE_MS },
      {
        media: (messages) => this.#sendMedia(messages),
        played: (checkpoint) => this.#driver.tell({ kind: 'played', checkpoint }),
        degraded: (percent) => this.#events.degraded(percent),
        dtmf: (digit, timestampMs) => this.#driver.tell({ kind: 'dtmf', digit, timestampMs }),
      },
    );
  }

  #sendMedia(messages: readonly Uint8Array[]): void {
    if (!this.#session.sending) return;
    for (const message of messages) this.#toBot(Buffer.from(message));
  }
}
