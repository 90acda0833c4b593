import { connect, type Socket } from 'node:net';
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/logger.ts';
import {
  FrameReader,
  frame,
  MAX_SENT_BYTES,
  type MessageMeta,
  type Reply,
  readPayload,
} from './frames.ts';

interface ConnectionEvents {
  up(): void;
  down(): void;
  sip(meta: MessageMeta, bytes: Buffer): void;
}

export interface ConnectionOptions {
  readonly host: string;
  readonly port: number;
  readonly secret: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: ConnectionEvents;
}

/** Out-of-dialog requests to subscribe to. In-dialog requests are delivered to the creator of the dialog. */
const ROUTES = ['invite', 'register', 'options', 'message', 'subscribe', 'notify', 'info'];
const CONNECT_MS = 5_000;
const PING_MS = 10_000;
/** Time without received bytes in milliseconds after which the connection counts as lost, although pings are sent. */
const SILENCE_MS = 25_000;
const FIRST_RETRY_MS = 250;
const LAST_RETRY_MS = 5_000;
/** Retry delay after a refused secret, in milliseconds. */
const REFUSED_RETRY_MS = 15_000;
const MAX_REPLIES = 20_000;
const MAX_UNSENT_BYTES = 8 * 2 ** 20;
const FAILED: Reply = { isOk: false, words: [], transactionId: '', dialogId: '' };

/** Connection to one drachtio-server, re-established until it is stopped. */
export class DrachtioConnection {
  readonly name: string;
  readonly host: string;
  readonly #options: ConnectionOptions;
  readonly #replies = new Map<string, (reply: Reply) => void>();
  #socket: Socket | undefined;
  #isUp = false;
  #isWanted = false;
  #takesCalls = true;
  #problem = 'not connected yet';
  #lastId = 0;
  #retryMs = FIRST_RETRY_MS;
  #receivedMs = 0;
  #cancelTimer: () => void = () => undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.host = options.host;
    this.name = `${options.host}:${options.port}`;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** Reason why the connection is down. */
  get problem(): string {
    return this.#problem;
  }

  start(): void {
    this.#isWanted = true;
    this.#connect();
  }

  stop(): void {
    this.#isWanted = false;
    this.#cancelTimer();
    this.#socket?.destroy();
    this.#lost('stopped');
  }

  /** Leaves new calls to other clients of the same server. */
  leaveCalls(): void {
    this.#takesCalls = false;
    if (this.#isUp) this.#write(['remove_route', 'invite']);
  }

  /** Sends a command. `done` is called exactly once, possibly before this returns. */
  send(words: readonly string[], message: Uint8Array, done: (reply: Reply) => void): void {
    if (!this.#isUp) done(failed(this.#problem));
    else if (message.length > MAX_SENT_BYTES) done(failed('too long for drachtio-server'));
    else if (this.#replies.size >= MAX_REPLIES) done(failed('too many pending requests'));
    else this.#write(['sip', ...words], message, done);
  }

  /** `done` receives the reply, also if the connection is lost here. Default: the reply is ignored. */
  #write(words: readonly string[], message?: Uint8Array, done?: (reply: Reply) => void): void {
    this.#lastId += 1;
    const id = String(this.#lastId);
    if (done !== undefined) this.#replies.set(id, done);
    const socket = this.#socket;
    socket?.write(frame([id, ...words], message));
    if ((socket?.writableLength ?? 0) > MAX_UNSENT_BYTES) this.#lost('the server reads too slowly');
  }

  #connect(): void {
    const { host, port, clock } = this.#options;
    const socket = connect({ host, port, noDelay: true, keepAlive: true });
    const reader = new FrameReader();
    this.#socket = socket;
    this.#cancelTimer = clock.at(clock.monotonicMs() + CONNECT_MS, () =>
      this.#lost('no answer to the secret', socket),
    );
    socket.on('connect', () => this.#authenticate());
    socket.on('data', (chunk) => this.#read(reader, chunk, socket));
    socket.on('error', (error) => this.#lost(error.message, socket));
    socket.on('close', () => this.#lost('the server closed the connection', socket));
  }

  #authenticate(): void {
    this.#write(['authenticate', this.#options.secret, ''], undefined, ({ isOk, words }) => {
      if (isOk) this.#askForRequests(words[1] ?? '');
      else this.#refused();
    });
  }

  /**
   * Subscribes to requests. The server answers earlier requests with 503. It handles subscriptions in order, so the
   * response to the last one is sufficient.
   */
  #askForRequests(version: string): void {
    const verbs = ROUTES.filter((verb) => verb !== 'invite' || this.#takesCalls);
    const last = verbs.at(-1);
    for (const verb of verbs)
      this.#write(['route', verb], undefined, verb === last ? () => this.#up(version) : undefined);
  }

  #up(version: string): void {
    if (!this.#takesCalls) this.#write(['remove_route', 'invite']);
    this.#isUp = true;
    this.#retryMs = FIRST_RETRY_MS;
    this.#options.logger.info({ server: this.name, version }, 'drachtio-server connected');
    this.#ping();
    this.#options.events.up();
  }

  #refused(): void {
    this.#retryMs = REFUSED_RETRY_MS;
    this.#lost('the server refuses the secret (drachtio.secret)');
  }

  #ping(): void {
    const { clock } = this.#options;
    this.#cancelTimer();
    this.#cancelTimer = clock.at(clock.monotonicMs() + PING_MS, () => {
      if (clock.monotonicMs() - this.#receivedMs > SILENCE_MS) this.#lost('no data received');
      else {
        this.#write(['ping']);
        this.#ping();
      }
    });
  }

  #read(reader: FrameReader, chunk: Buffer, socket: Socket): void {
    this.#receivedMs = this.#options.clock.monotonicMs();
    let payloads: readonly Buffer[];
    try {
      payloads = reader.read(chunk);
    } catch (error) {
      this.#lost((error as Error).message, socket);
      return;
    }
    for (const payload of payloads) if (socket === this.#socket) this.#take(payload);
  }

  /** Handles one payload; an error does not affect other messages. */
  #take(payload: Buffer): void {
    const message = readPayload(payload);
    try {
      if (message?.kind === 'sip') this.#options.events.sip(message.meta, message.bytes);
      if (message?.kind !== 'reply') return;
      const done = this.#replies.get(message.to);
      this.#replies.delete(message.to);
      done?.(message.reply);
    } catch (error) {
      this.#options.logger.error({ error, server: this.name }, 'drachtio message failed');
    }
  }

  #lost(why: string, socket = this.#socket): void {
    if (socket === undefined || socket !== this.#socket) return;
    const { clock, logger, events } = this.#options;
    this.#socket = undefined;
    socket.destroy();
    this.#cancelTimer();
    const wasUp = this.#isUp;
    this.#isUp = false;
    const isNew = wasUp || this.#problem !== why;
    this.#problem = why;
    const replies = [...this.#replies.values()];
    this.#replies.clear();
    if (wasUp) for (const done of replies) done(failed(why));
    if (this.#isWanted) {
      const fields = { server: this.name, why, againInMs: this.#retryMs };
      if (isNew) logger.warn(fields, 'drachtio-server is not connected');
      this.#cancelTimer = clock.at(clock.monotonicMs() + this.#retryMs, () => this.#connect());
      this.#retryMs = Math.max(this.#retryMs, Math.min(this.#retryMs * 2, LAST_RETRY_MS));
    }
    if (wasUp) events.down();
  }
}

const failed = (why: string): Reply => ({ ...FAILED, words: [why] });
