import { isUtf8 } from 'node:buffer';
import type { Socket } from 'node:net';
import type { RawData, WebSocket } from 'ws';
import type { Clock } from '../../../base/clock.ts';
import { type Flow, isKeepAlive, MAX_MESSAGE_BYTES, PONG } from '../../../protocol/sip/sip.ts';
import { applyBackpressure, maySend } from './backpressure.ts';
import type { ConnectionLimits } from './connection-limits.ts';
import type { ConnectionTable, Place, SipConnection } from './connection-table.ts';
import { IdleTimeout } from './idle-timeout.ts';
import { plainAddress } from './udp-transport.ts';
import { WriteBatch } from './write-batch.ts';

export interface WebSocketConnectionOptions {
  readonly transport: 'ws' | 'wss';
  readonly remoteAddress: string;
  readonly webSocket: WebSocket;
  readonly socket: Socket;
  readonly clock: Clock;
  readonly limits: ConnectionLimits;
  readonly table: ConnectionTable;
  readonly place: Place;
}

export const MAX_FRAME_BYTES = MAX_MESSAGE_BYTES;
/**
 * Ping interval in milliseconds. Pings keep proxies and NATs open; a ping without pong before the next one means a lost
 * peer.
 */
const PING_MS = 30_000;
/** Time limit for the peer's Close frame in milliseconds. */
const CLOSING_MS = 5_000;
const GOING_AWAY = 1001;
const POLICY = 1008;
const PING_BYTES = 4;

/** One WebSocket with a SIP message in each frame, text or binary (RFC 7118 §5). */
export class WebSocketConnection implements SipConnection {
  readonly flow: Flow;
  readonly id: number;
  readonly #options: WebSocketConnectionOptions;
  readonly #idle: IdleTimeout;
  readonly #cork: WriteBatch;
  #cancelPing: () => void = () => undefined;
  #cancelFirst: () => void;
  #answered = true;
  #closed = false;

  constructor(options: WebSocketConnectionOptions) {
    const { transport, remoteAddress, webSocket, socket, clock, limits, table, place } = options;
    this.#options = options;
    this.#cork = new WriteBatch(socket);
    this.id = table.newId();
    this.flow = {
      transport,
      localAddress: plainAddress(socket.localAddress ?? ''),
      localPort: socket.localPort ?? 0,
      remoteAddress: plainAddress(remoteAddress),
      remotePort: socket.remotePort ?? 0,
      connectionId: this.id,
    };
    webSocket.on('message', (data) => this.#received(data));
    webSocket.on('pong', () => {
      this.#answered = true;
    });
    webSocket.on('error', (error) => this.#gone(error.message));
    webSocket.on('close', (code) => this.#gone(`closed by the peer (${code})`));
    this.#idle = new IdleTimeout(
      clock,
      () => (table.isKnown(this.flow) ? limits.idleMs : limits.unknownIdleMs),
      () => this.#close('idle', GOING_AWAY),
    );
    this.#cancelFirst = clock.at(clock.monotonicMs() + limits.messageMs, () =>
      this.#close('no message in time', POLICY),
    );
    table.add(this, place);
    this.#pingLater();
  }

  send(bytes: Uint8Array, failed: () => void): void {
    const { webSocket, limits } = this.#options;
    const unsentBytes = webSocket.bufferedAmount;
    const state = { isClosed: this.#closed, unsentBytes, limits, stuck: () => this.#stuck() };
    if (!maySend(state, failed)) return;
    this.#idle.moved();
    this.#cork.hold();
    webSocket.send(bytes, { binary: !isUtf8(bytes) }, (error) => {
      if (error !== null && error !== undefined) failed();
    });
  }

  close(why: string): void {
    this.#close(why, GOING_AWAY);
  }

  #received(data: RawData): void {
    if (this.#closed) return;
    const { table } = this.#options;
    const bytes = asBytes(data);
    this.#idle.moved();
    if (bytes.length <= PING_BYTES && isKeepAlive(bytes)) {
      // Some clients send keep-alives as over TCP (RFC 5626 §4.4.1).
      if (bytes.length === PING_BYTES) this.send(PONG, () => undefined);
      return;
    }
    this.#cancelFirst();
    table.received(bytes, this.flow);
    this.#heedPressure();
  }

  #heedPressure(): void {
    const { webSocket, socket } = this.#options;
    const reader = {
      isPaused: webSocket.isPaused,
      unsentBytes: webSocket.bufferedAmount,
      pause: () => webSocket.pause(),
      resume: () => webSocket.resume(),
    };
    applyBackpressure(socket, reader, this.#options, () => this.#stuck());
  }

  #stuck(): void {
    this.#gone('the peer does not read');
    this.#options.webSocket.terminate();
  }

  #pingLater(): void {
    const { clock, webSocket } = this.#options;
    this.#cancelPing = clock.at(clock.monotonicMs() + PING_MS, () => {
      if (!this.#answered) {
        this.#gone('no answer to a ping');
        webSocket.terminate();
        return;
      }
      this.#answered = false;
      webSocket.ping();
      this.#pingLater();
    });
  }

  #close(why: string, code: number): void {
    if (this.#closed) return;
    const { webSocket, clock } = this.#options;
    this.#cork.release();
    webSocket.close(code);
    const cancel = clock.at(clock.monotonicMs() + CLOSING_MS, () => webSocket.terminate());
    webSocket.once('close', cancel);
    this.#gone(why);
  }

  #gone(why: string): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#idle.stop();
    this.#cancelPing();
    this.#cancelFirst();
    this.#options.table.remove(this, why);
  }
}

function asBytes(data: RawData): Uint8Array {
  if (Array.isArray(data)) return Buffer.concat(data);
  return data instanceof ArrayBuffer ? new Uint8Array(data) : data;
}
