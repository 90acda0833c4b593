import type { Socket } from 'node:net';
import type { Clock } from '../../../base/clock.ts';
import { answerUnframed, type Flow, PING, PONG, StreamFramer } from '../../../protocol/sip/sip.ts';
import { applyBackpressure, maySend } from './backpressure.ts';
import type { ConnectionLimits } from './connection-limits.ts';
import type { ConnectionTable, Place, SipConnection } from './connection-table.ts';
import { IdleTimeout } from './idle-timeout.ts';
import { plainAddress } from './udp-transport.ts';
import { aliasOf } from './via-alias.ts';
import { WriteBatch } from './write-batch.ts';

export interface StreamConnectionOptions {
  readonly transport: 'tcp' | 'tls';
  readonly socket: Socket;
  readonly clock: Clock;
  readonly limits: ConnectionLimits;
  readonly table: ConnectionTable;
  /** Place of an accepted socket; undefined if we opened the connection. */
  readonly place: Place | undefined;
  /** Returns whether the peer has proved that name. */
  readonly isNamed: (name: string) => boolean;
}

const KEEP_ALIVE_MS = 60_000;
/** Time after the end in milliseconds in which pending data may still be sent. */
const CLOSING_MS = 5_000;
/** Time limit in milliseconds for any response to an INVITE or REGISTER: the default time after which a call tries another target. */
const SILENT_MS = 4_000;
/** Time limit for a pong in milliseconds (RFC 5626 §4.4.1). */
const PONG_MS = 10_000;

/** One TCP or TLS connection, opened by either side: framing, keep-alives, limits (RFC 3261 §18.3, RFC 5626 §3.5.1). */
export class StreamConnection implements SipConnection {
  readonly flow: Flow;
  readonly id: number;
  readonly #options: StreamConnectionOptions;
  readonly #framer = new StreamFramer();
  readonly #idle: IdleTimeout;
  readonly #cork: WriteBatch;
  #cancelMessage: (() => void) | undefined;
  #cancelPing: () => void = () => undefined;
  #cancelPong: (() => void) | undefined;
  #closed = false;
  /** Time of the first INVITE or REGISTER since the peer last sent anything. */
  #askedMs: number | undefined;
  #aliasSought = false;

  constructor(options: StreamConnectionOptions) {
    const { transport, socket, clock, limits, table, place } = options;
    this.#options = options;
    this.id = table.newId();
    this.flow = {
      transport,
      localAddress: plainAddress(socket.localAddress ?? ''),
      localPort: socket.localPort ?? 0,
      remoteAddress: plainAddress(socket.remoteAddress ?? ''),
      remotePort: socket.remotePort ?? 0,
      connectionId: this.id,
    };
    this.#cork = new WriteBatch(socket);
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    socket.on('data', (chunk: Buffer) => this.#received(chunk));
    socket.on('error', (error) => this.#gone(error.message));
    socket.on('close', () => this.#gone('closed by the peer'));
    this.#idle = new IdleTimeout(
      clock,
      () => (table.isKnown(this.flow) ? limits.idleMs : limits.unknownIdleMs),
      () => this.close('idle'),
    );
    table.add(this, place);
    if (place !== undefined) this.#expectMessage();
  }

  send(bytes: Uint8Array, failed: () => void): void {
    const { socket, limits } = this.#options;
    const unsentBytes = socket.writableLength;
    const state = { isClosed: this.#closed, unsentBytes, limits, stuck: () => this.#stuck() };
    if (!maySend(state, failed)) return;
    this.#idle.moved();
    if (isAnswered(bytes)) this.#askedMs ??= this.#options.clock.monotonicMs();
    this.#cork.hold();
    socket.write(bytes, (error) => {
      if (error !== null && error !== undefined) failed();
    });
  }

  isSilent(): boolean {
    const sinceMs = this.#askedMs;
    return sinceMs !== undefined && this.#options.clock.monotonicMs() - sinceMs >= SILENT_MS;
  }

  /**
   * Sends CRLFCRLF at the interval. A peer that does not answer in time counts as lost (RFC 5626 §4.4.1). A repeated
   * call only changes the interval.
   */
  keepAlive(everyMs: number): void {
    const { clock } = this.#options;
    const ping = (): void => {
      if (this.#closed) return;
      this.#framer.pingSent();
      this.send(PING, () => undefined);
      this.#cancelPong ??= clock.at(clock.monotonicMs() + PONG_MS, () => this.close('no pong'));
      this.keepAlive(everyMs);
    };
    this.#cancelPing();
    this.#cancelPing = clock.at(clock.monotonicMs() + everyMs, ping);
  }

  close(why: string): void {
    if (this.#closed) return;
    const { socket, clock } = this.#options;
    this.#cork.release();
    socket.destroySoon();
    // A peer that does not read would keep the socket open indefinitely.
    const cancel = clock.at(clock.monotonicMs() + CLOSING_MS, () => socket.destroy());
    socket.once('close', cancel);
    this.#gone(why);
  }

  /** Starts the time limit for the next message. */
  #expectMessage(): void {
    const { clock, limits } = this.#options;
    this.#cancelMessage ??= clock.at(clock.monotonicMs() + limits.messageMs, () =>
      this.close('no whole message in time'),
    );
  }

  #received(chunk: Buffer): void {
    if (this.#closed) return;
    this.#idle.moved();
    this.#askedMs = undefined;
    for (const event of this.#framer.push(chunk)) {
      if (this.#closed) return;
      if (event.kind === 'message') this.#message(event.bytes);
      else if (event.kind === 'pong') this.#ponged();
      else if (event.kind === 'ping') this.send(PONG, () => undefined);
      else if (event.kind === 'error') {
        const answer = answerUnframed(event.bytes, event.status, event.reason);
        if (answer !== undefined) this.send(answer, () => undefined);
        this.close(event.reason);
        return;
      }
    }
    this.#heedPressure();
    if (this.#framer.pendingBytes > 0) this.#expectMessage();
  }

  #heedPressure(): void {
    const { socket } = this.#options;
    const reader = {
      isPaused: socket.isPaused(),
      unsentBytes: socket.writableLength,
      pause: () => socket.pause(),
      resume: () => socket.resume(),
    };
    applyBackpressure(socket, reader, this.#options, () => this.#stuck());
  }

  #stuck(): void {
    this.#gone('the peer does not read');
    this.#options.socket.destroy();
  }

  #ponged(): void {
    this.#cancelPong?.();
    this.#cancelPong = undefined;
  }

  #message(bytes: Uint8Array): void {
    this.#cancelMessage?.();
    this.#cancelMessage = undefined;
    if (this.flow.transport === 'tls') this.#noteAlias(bytes);
    this.#options.table.received(bytes, this.flow);
  }

  /**
   * Registers the listening port that an authenticated peer announces; requests to it use this connection (RFC 5923
   * §5).
   */
  #noteAlias(bytes: Uint8Array): void {
    if (this.#aliasSought || this.#options.place === undefined) return;
    this.#aliasSought = true;
    const alias = aliasOf(bytes);
    if (alias === undefined || !this.#options.isNamed(alias.host)) return;
    this.#options.table.alias(this, alias.port);
  }

  #gone(why: string): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#idle.stop();
    this.#cancelPing();
    this.#ponged();
    this.#cancelMessage?.();
    this.#options.table.remove(this, why);
  }
}

/** Requests that every peer answers within milliseconds: INVITE with 100. Some peers ignore OPTIONS. */
const ANSWERED = /^(?:INVITE|REGISTER) /;
const LONGEST_START = 9;

const isAnswered = ({ buffer, byteOffset, length }: Uint8Array): boolean =>
  length > LONGEST_START &&
  ANSWERED.test(Buffer.from(buffer, byteOffset, LONGEST_START).toString('latin1'));
