/**
 * Audio-stream sockets without a network: the service's own dispatcher, session and media on one side, in-memory bots
 * on the other.
 */

import { silentLogger } from '../../src/base/logger.ts';
import type {
  AudioStreams,
  MediaLeg,
  StreamSocket,
  StreamSocketEvents,
  StreamSocketOptions,
} from '../../src/domain/call/needs.ts';
import {
  type BotConnection,
  type BotConnectionEvents,
  newTally,
  StreamDispatcher,
} from '../../src/edge/stream/dispatcher.ts';
import { DEFAULT_STREAM_LIMITS } from '../../src/edge/stream/limits.ts';
import { SEQUENCE_NUMBER_OFFSET } from '../protocol/audio-stream/sequence-number.ts';
import type { SimClock } from './clock.ts';
import { writePaddedNumber } from './padded-number.ts';
import type { SimRandom } from './random.ts';

/** Message of the service, parsed from JSON. */
// biome-ignore lint/suspicious/noExplicitAny: what arrives is judged by the assertions of the scenarios
export type BotMessage = any;

export interface BotLine {
  send(message: unknown): void;
  /** Closes the socket of the application. */
  drop(): void;
}

export interface Bot {
  /** Receives one message of the service. */
  hear(message: BotMessage, line: BotLine): void;
  closed?(): void;
}

/** Creates the bot of each connection; undefined refuses the connection. */
export type MakeBot = (url: string) => Bot | undefined;

export class SimStreams implements AudioStreams {
  readonly #clock: SimClock;
  readonly #random: SimRandom;
  readonly #notify: (line: string) => void;
  readonly #bots = new Map<string, MakeBot>();
  readonly #tally = newTally();

  constructor(clock: SimClock, random: SimRandom, notify: (line: string) => void) {
    this.#clock = clock;
    this.#random = random;
    this.#notify = notify;
  }

  /** Number of open sockets. */
  get live(): number {
    return this.#tally.open;
  }

  serve(url: string, make: MakeBot): void {
    this.#bots.set(url, make);
  }

  open(options: StreamSocketOptions, leg: MediaLeg, events: StreamSocketEvents): StreamSocket {
    const ended: StreamSocketEvents['ended'] = (end) => {
      this.#notify(`stream ended: ${end.kind}`);
      events.ended(end);
    };
    const connection = new SimConnection({
      clock: this.#clock,
      delayMs: this.#random.between(1, 12),
      makeBot: () => this.#bots.get(options.url)?.(options.url),
    });
    return new StreamDispatcher(
      options,
      leg,
      { ...events, ended },
      {
        connection,
        clock: this.#clock,
        logger: silentLogger,
        limits: DEFAULT_STREAM_LIMITS,
        tally: this.#tally,
      },
    );
  }
}

/** A connection that delays every message by `delayMs` in each direction. */
class SimConnection implements BotConnection {
  readonly mediaDropped = 0;
  readonly wire = undefined;
  readonly #clock: SimClock;
  readonly #delayMs: number;
  readonly #makeBot: () => Bot | undefined;
  #events: BotConnectionEvents | undefined;
  #bot: Bot | undefined;
  #sequenceNumber = 0;
  #gone = false;

  constructor(options: {
    readonly clock: SimClock;
    readonly delayMs: number;
    readonly makeBot: () => Bot | undefined;
  }) {
    this.#clock = options.clock;
    this.#delayMs = options.delayMs;
    this.#makeBot = options.makeBot;
  }

  connect(events: BotConnectionEvents): void {
    this.#events = events;
    this.#later(() => {
      this.#bot = this.#makeBot();
      if (this.#bot === undefined) this.#lose('connection refused');
      else events.opened();
    });
  }

  send(text: string): void {
    this.sendMedia(Buffer.from(text));
  }

  /** Numbers a message of the service and sends it. */
  sendMedia(message: Uint8Array): void {
    const bytes = Buffer.from(message);
    writePaddedNumber(bytes, SEQUENCE_NUMBER_OFFSET, this.#sequenceNumber);
    this.#sequenceNumber += 1;
    const text = bytes.toString('utf8');
    this.#later(() => {
      this.#bot?.hear(JSON.parse(text), {
        send: (message) => this.#fromBot(message),
        drop: () => this.#later(() => this.#lose('closed by the application')),
      });
    });
  }

  ping(): void {
    this.#later(() => this.#events?.pong());
  }

  close(_code: number, _reason: string, last: string | undefined): void {
    if (last !== undefined) this.send(last);
    this.#later(() => this.#lose('closed'));
  }

  drop(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#bot?.closed?.();
  }

  #fromBot(message: unknown): void {
    const bytes = Buffer.from(typeof message === 'string' ? message : JSON.stringify(message));
    this.#later(() => this.#events?.message(bytes));
  }

  #lose(detail: string): void {
    this.drop();
    this.#events?.closed(detail);
  }

  #later(what: () => void): void {
    this.#clock.at(this.#clock.monotonicMs() + this.#delayMs, () => {
      if (!this.#gone) what();
    });
  }
}
