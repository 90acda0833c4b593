/** Delivers events of native sockets to their listeners, and describes the end of a socket in readable text. */
import { randomBytes } from 'node:crypto';
import { getSystemErrorName } from 'node:util';
import { hostOf, type ResolvedAddress } from '../../base/egress.ts';
import type { Logger } from '../../base/logger.ts';
import { type NativeRecord, readRecords } from '../../base/record-batch.ts';
import type { StreamEncoding, StreamWire } from '../../domain/call/needs.ts';
import type { EngineRefusal, Oversize } from '../../protocol/audio-stream/audio-stream.ts';
import { certificateFault } from './certificate-fault.ts';
import type { BotConnectionEvents } from './dispatcher.ts';
import { openingFault, openingRequest } from './handshake.ts';
import {
  type NativeSocketLimits,
  type NativeSockets,
  openNativeSockets,
  SOCKET_END,
  SOCKET_EVENT,
} from './native.ts';
import type { Upgrade } from './upgrade.ts';

/** Events of one socket. `oversized` has no limit value, because the listener knows it. */
export type SocketEvents = Omit<BotConnectionEvents, 'oversized'> & {
  oversized(what: Oversize): void;
};

const BATCH_BYTES = 1 << 18;
/** Maximum number of batches per wakeup; remaining events cause another one. */
const MAX_ROUNDS = 16;
/** Refusals by their numbers in the native PlayResult. */
const REFUSALS: Readonly<Record<number, EngineRefusal>> = {
  2: 'badPayload',
  3: 'unsupportedFormat',
  4: 'wrongStream',
  5: 'bufferFull',
};
/** Close code of RFC 6455 §7.4.1. */
const PROTOCOL_ERROR = 1002;
const NO_STATUS_RECEIVED = 1005;
const NOTHING = new Uint8Array();

export class Sockets {
  readonly #native: NativeSockets;
  readonly #logger: Logger;
  readonly #authorities: () => string;
  readonly #open = new Map<number, Socket>();
  readonly #batch = new Uint8Array(BATCH_BYTES);
  #lastHandle = 0;
  #trusting = false;

  /** `authorities` returns trusted certificates as PEM. It is called once, when the first `wss://` URL is opened. */
  constructor(authorities: () => string, threads: number, logger: Logger) {
    this.#authorities = authorities;
    this.#logger = logger;
    this.#native = openNativeSockets(() => this.#pump(), threads);
  }

  open(
    { url, headers }: Upgrade,
    addresses: readonly ResolvedAddress[],
    { limits, account }: { readonly limits: NativeSocketLimits; readonly account: string },
    events: SocketEvents,
  ): Socket {
    const secure = url.protocol === 'wss:';
    if (secure && !this.#trusting) {
      this.#trusting = true;
      this.#native.trust(this.#authorities());
    }
    this.#lastHandle = this.#lastHandle >= 0x7fff_ffff ? 1 : this.#lastHandle + 1;
    const key = randomBytes(16).toString('base64');
    const socket = new Socket(this.#native, this.#lastHandle, key, events, () =>
      this.#open.delete(socket.handle),
    );
    this.#native.open({
      socket: socket.handle,
      addresses: addresses.map(({ address }) => address),
      port: url.port === '' ? (secure ? 443 : 80) : Number(url.port),
      secureHost: secure ? hostOf(url) : '',
      request: Buffer.from(openingRequest({ url, headers, key }), 'latin1'),
      limits,
      account,
    });
    this.#open.set(socket.handle, socket);
    return socket;
  }

  counters(): ReturnType<NativeSockets['counters']> {
    return this.#native.counters();
  }

  stop(): void {
    this.#native.stop();
    this.#open.clear();
  }

  #pump(): void {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const length = this.#native.takeEvents(this.#batch);
      if (length === 0) break;
      readRecords(this.#batch, length, (record) => this.#dispatch(record));
    }
  }

  /** Logs an exception of one listener; the other records of the batch are still handled. */
  #dispatch(record: NativeRecord): void {
    try {
      this.#open.get(record.handle)?.reported(record);
    } catch (error) {
      this.#logger.error({ error }, 'stream socket listener failed');
    }
  }
}

/** One socket. After `drop` and `closed` there are no further events, and its methods have no effect. */
export class Socket implements StreamWire {
  readonly sockets: NativeSockets;
  readonly handle: number;
  readonly #key: string;
  readonly #events: SocketEvents;
  readonly #onOver: () => void;
  #over = false;
  #mediaDropped = 0;

  constructor(
    sockets: NativeSockets,
    handle: number,
    key: string,
    events: SocketEvents,
    onOver: () => void,
  ) {
    this.sockets = sockets;
    this.handle = handle;
    this.#key = key;
    this.#events = events;
    this.#onOver = onOver;
  }

  /** Number of `media` messages dropped because the bot reads too slowly. */
  get mediaDropped(): number {
    return this.#over ? this.#mediaDropped : this.sockets.mediaDropped(this.handle);
  }

  send(text: string): void {
    if (!this.#over) this.sockets.send(this.handle, Buffer.from(text, 'utf8'), false);
  }

  sendMedia(message: Uint8Array): void {
    if (!this.#over) this.sockets.send(this.handle, message, true);
  }

  ping(): void {
    if (!this.#over) this.sockets.ping(this.handle);
  }

  enqueue(encoding: StreamEncoding, rate: number, payload: Uint8Array): void {
    if (this.#over) return;
    this.sockets.enqueue({ socket: this.handle, encoding, rate, audio: payload });
  }

  clear(): void {
    if (!this.#over) this.sockets.clear(this.handle);
  }

  checkpoint(id: number): void {
    if (!this.#over) this.sockets.checkpoint(this.handle, id);
  }

  /** Sends `last`, then the close frame; queued `media` is discarded. */
  close(code: number, reason: string, last: string | undefined): void {
    if (this.#over) return;
    const bytes = last === undefined ? NOTHING : Buffer.from(last, 'utf8');
    this.sockets.close({ socket: this.handle, code, reason, last: bytes });
  }

  drop(): void {
    if (this.#over) return;
    this.sockets.drop(this.handle);
    this.#end();
  }

  /** Handles an event of the native side. */
  reported({ type, a, b, payload, u32 }: NativeRecord): void {
    switch (type) {
      case SOCKET_EVENT.upgradeAnswered:
        this.#upgradeAnswered(Buffer.from(payload).toString('latin1'));
        break;
      case SOCKET_EVENT.messages:
        this.#messages();
        break;
      case SOCKET_EVENT.fault:
        this.#events.refused(REFUSALS[a] ?? 'badPayload');
        break;
      case SOCKET_EVENT.pong:
        this.#events.pong();
        break;
      case SOCKET_EVENT.flooding:
        this.#events.flooding();
        break;
      case SOCKET_EVENT.flooded:
        this.#events.flooded();
        break;
      case SOCKET_EVENT.oversized:
        this.#events.oversized(a === 0 ? 'message' : 'account');
        break;
      case SOCKET_EVENT.degraded:
        this.#events.degraded(a);
        break;
      case SOCKET_EVENT.dropped:
        this.#events.missed?.();
        break;
      case SOCKET_EVENT.overrun:
        this.#events.overrun();
        break;
      case SOCKET_EVENT.ended: {
        const words = Buffer.from(payload).toString('utf8');
        this.#end();
        this.#events.closed(describeEnd(a, { closeCode: b, words, number: () => u32() }));
        break;
      }
    }
  }

  #upgradeAnswered(head: string): void {
    const fault = openingFault(head, this.#key);
    if (fault === undefined) {
      this.sockets.accept(this.handle);
      this.#events.opened();
      return;
    }
    this.drop();
    this.#events.closed(fault);
  }

  #messages(): void {
    try {
      for (const message of this.sockets.takeMessages(this.handle)) {
        if (this.#over) return;
        this.#events.message(message);
      }
    } finally {
      if (!this.#over) this.sockets.proceed(this.handle);
    }
  }

  #end(): void {
    this.#mediaDropped = this.sockets.mediaDropped(this.handle);
    this.#over = true;
    this.sockets.forget(this.handle);
    this.#onOver();
  }
}

interface EndFacts {
  readonly closeCode: number;
  readonly words: string;
  /** Reads an errno or a verification result. */
  number(): number;
}

function describeEnd(how: number, facts: EndFacts): string {
  switch (how) {
    case SOCKET_END.system:
      return `the connection failed: ${getSystemErrorName(-facts.number())}`;
    case SOCKET_END.certificate:
      return `the connection failed: ${certificateFault(facts.number())}`;
    case SOCKET_END.other:
      return `the connection failed: ${facts.words}`;
    case SOCKET_END.closed:
      return describeClose(facts.closeCode, facts.words);
    case SOCKET_END.fault:
      return facts.closeCode === PROTOCOL_ERROR
        ? `the application broke the WebSocket protocol: ${facts.words}`
        : facts.words;
    default:
      return 'the connection broke without a closing handshake';
  }
}

function describeClose(code: number, reason: string): string {
  if (code === NO_STATUS_RECEIVED) return 'the application closed the socket (without a code)';
  const said = reason === '' ? '' : `, "${reason}"`;
  return `the application closed the socket (code ${code}${said})`;
}
