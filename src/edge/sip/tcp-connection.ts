import type { Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { answerUnframed, type Flow, PONG, StreamFramer } from '../../protocol/sip/sip.ts';
import { plainAddress } from './udp-transport.ts';

/** Limits of one connection. */
export interface ConnectionLimits {
  /** Without a byte in either direction; longer than the longest registration, whose flow this may be. */
  readonly idleMs: number;
  /** From accepting to the first whole message, and from the first byte of any message to its last. */
  readonly messageMs: number;
  /** As `idleMs`, while the peer proved nothing. */
  readonly unknownIdleMs: number;
  /** Bytes of an unfinished message of a peer that proved nothing. */
  readonly unknownPendingBytes: number;
  /** Bytes that the peer has not taken yet. */
  readonly maxUnsentBytes: number;
}

export const DEFAULT_CONNECTION_LIMITS: ConnectionLimits = {
  idleMs: 7_500_000,
  messageMs: 10_000,
  unknownIdleMs: 60_000,
  unknownPendingBytes: 16_384,
  maxUnsentBytes: 1024 * 1024,
};

export interface ConnectionEvents {
  message(bytes: Uint8Array, flow: Flow): void;
  closed(connection: TcpConnection, why: string): void;
  /** The peer proved who it is. */
  isKnown(flow: Flow): boolean;
}

const KEEP_ALIVE_MS = 60_000;

/** One TCP connection, whoever opened it: frames, keep-alives, limits (RFC 3261 §18.3, RFC 5626 §3.5.1). */
export class TcpConnection {
  readonly flow: Flow;
  readonly id: number;
  /** Address of the peer as its socket shows it. */
  readonly host: string;
  readonly #socket: Socket;
  readonly #clock: Clock;
  readonly #limits: ConnectionLimits;
  readonly #events: ConnectionEvents;
  readonly #framer = new StreamFramer();
  #cancelIdle: () => void = () => undefined;
  #cancelMessage: (() => void) | undefined;
  #closed = false;

  constructor(
    id: number,
    socket: Socket,
    clock: Clock,
    limits: ConnectionLimits,
    events: ConnectionEvents,
  ) {
    this.id = id;
    this.host = socket.remoteAddress ?? '';
    this.#socket = socket;
    this.#clock = clock;
    this.#limits = limits;
    this.#events = events;
    this.flow = {
      transport: 'tcp',
      localAddress: plainAddress(socket.localAddress ?? ''),
      localPort: socket.localPort ?? 0,
      remoteAddress: plainAddress(socket.remoteAddress ?? ''),
      remotePort: socket.remotePort ?? 0,
      connectionId: id,
    };
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    socket.on('data', (chunk: Buffer) => this.#received(chunk));
    socket.on('error', (error) => this.#gone(error.message));
    socket.on('close', () => this.#gone('closed by the peer'));
    this.#watchIdle();
  }

  /** The peer connected and has to say something soon. */
  expectMessage(): void {
    this.#cancelMessage ??= this.#clock.at(this.#clock.monotonicMs() + this.#limits.messageMs, () =>
      this.close('no whole message in time'),
    );
  }

  send(bytes: Uint8Array, failed: () => void): void {
    if (this.#closed) {
      failed();
      return;
    }
    if (this.#socket.writableLength > this.#limits.maxUnsentBytes) {
      failed();
      this.close('the peer does not read');
      return;
    }
    this.#watchIdle();
    this.#socket.write(bytes, (error) => {
      if (error !== null && error !== undefined) failed();
    });
  }

  close(why: string): void {
    if (this.#closed) return;
    this.#socket.destroySoon();
    this.#gone(why);
  }

  #received(chunk: Buffer): void {
    if (this.#closed) return;
    this.#watchIdle();
    for (const event of this.#framer.push(chunk)) {
      if (event.kind === 'message') this.#message(event.bytes);
      else if (event.kind === 'ping') this.send(PONG, () => undefined);
      else if (event.kind === 'error') {
        const answer = answerUnframed(event.bytes, event.status, event.reason);
        if (answer !== undefined) this.send(answer, () => undefined);
        this.close(event.reason);
        return;
      }
    }
    const { pendingBytes } = this.#framer;
    if (pendingBytes > this.#limits.unknownPendingBytes && !this.#events.isKnown(this.flow)) {
      this.close('too long for an unknown peer');
    } else if (pendingBytes > 0) this.expectMessage();
  }

  #message(bytes: Uint8Array): void {
    this.#cancelMessage?.();
    this.#cancelMessage = undefined;
    this.#events.message(bytes, this.flow);
  }

  #watchIdle(): void {
    this.#cancelIdle();
    const { idleMs, unknownIdleMs } = this.#limits;
    const limitMs = this.#events.isKnown(this.flow) ? idleMs : unknownIdleMs;
    const dueMs = this.#clock.monotonicMs() + limitMs;
    this.#cancelIdle = this.#clock.at(dueMs, () => this.close('idle'));
  }

  #gone(why: string): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#cancelIdle();
    this.#cancelMessage?.();
    this.#events.closed(this, why);
  }
}
