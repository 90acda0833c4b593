import { createSocket, type Socket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { isIP, isIPv6 } from 'node:net';
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/logger.ts';
import { type HepAgent, type HepPacket, hepPacket } from './hep.ts';
import type { MessageRing, TracedMessage } from './message-ring.ts';
import { maskedMessage, messageWithoutKeys } from './message-text.ts';

export interface HepOptions extends HepAgent {
  readonly host: string;
  readonly port: number;
  /** True to mask credentials and media keys. */
  readonly hidesCredentials: boolean;
  /** Returns the local address to report to a peer's address, for sockets that listen on all addresses. */
  readonly ownAddress: (remote: string) => string;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface HepCounts {
  readonly sent: number;
  /** Number of packets dropped because of overload or an unresolvable Homer host. */
  readonly dropped: number;
}

const FLUSH_MS = 100;
/** Time in milliseconds for which the first messages of a call wait for its identification. */
const TIMEOUT_MS = 1000;
const MAX_WAITING = 5000;
const MAX_WAITING_BYTES = 8 * 2 ** 20;
/** Maximum number of packets per turn; the rest is sent in the next one. */
const MOST_A_TURN = 1000;
const LOOK_UP_MS = 60_000;

/**
 * Sends messages and reports to Homer, delayed and in batches, so that calls are not blocked. Packets beyond the limit
 * are dropped and counted.
 */
export class HepExporter {
  readonly #options: HepOptions;
  readonly #ring: Pick<MessageRing, 'conversationOf'>;
  #waiting: TracedMessage[] = [];
  #waitingBytes = 0;
  #socket: Socket | undefined;
  #address: string | undefined;
  #lookedUpMs = Number.NEGATIVE_INFINITY;
  #cancel: (() => void) | undefined;
  #stopped = false;
  #sent = 0;
  #dropped = 0;

  constructor(ring: Pick<MessageRing, 'conversationOf'>, options: HepOptions) {
    this.#ring = ring;
    this.#options = options;
  }

  counts(): HepCounts {
    return { sent: this.#sent, dropped: this.#dropped };
  }

  /** Queues a message. The bytes are kept until they are sent. */
  note(message: TracedMessage): void {
    const { length } = message.bytes;
    const isFull =
      this.#waiting.length >= MAX_WAITING || this.#waitingBytes + length > MAX_WAITING_BYTES;
    if (isFull || this.#stopped) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(message);
    this.#waitingBytes += length;
    this.#arm();
  }

  /** Queues a report of an active call. */
  report(packet: Omit<HepPacket, 'what'>): void {
    this.#send({ ...packet, what: 'rtcp' });
  }

  stop(): void {
    this.#flush(Number.POSITIVE_INFINITY);
    this.#stopped = true;
    this.#cancel?.();
    this.#socket?.close();
    this.#socket = undefined;
  }

  #arm(): void {
    const { clock } = this.#options;
    this.#cancel ??= clock.at(clock.monotonicMs() + FLUSH_MS, () => {
      this.#cancel = undefined;
      this.#flush(clock.wallMs() - TIMEOUT_MS);
      if (this.#waiting.length > 0) this.#arm();
    });
  }

  /** Sends queued packets. Messages older than `before` no longer wait for identification. */
  #flush(before: number): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    let turn = 0;
    for (const message of waiting) {
      const { isCall, root } = this.#ring.conversationOf(message.callId);
      const isUnknown = isCall && root === undefined && message.atMs > before;
      if (isUnknown || turn >= MOST_A_TURN) {
        this.#waiting.push(message);
        this.#waitingBytes += message.bytes.length;
      } else {
        turn += 1;
        this.#sendMessage(message, root ?? message.callId);
      }
    }
  }

  #sendMessage({ direction, flow, atMs, bytes }: TracedMessage, correlation: string): void {
    const own = this.#options.ownAddress(flow.remoteAddress);
    const local = { address: placeOf(flow.localAddress, own), port: flow.localPort };
    const remote = { address: flow.remoteAddress, port: flow.remotePort };
    this.#send({
      from: direction === 'in' ? remote : local,
      to: direction === 'in' ? local : remote,
      isUdp: flow.transport === 'udp',
      atMs,
      what: 'sip',
      payload: this.#options.hidesCredentials ? maskedMessage(bytes) : messageWithoutKeys(bytes),
      correlation,
    });
  }

  #send(packet: HepPacket): void {
    const socket = this.#open();
    const { port } = this.#options;
    if (socket === undefined || this.#address === undefined) {
      this.#dropped += 1;
      return;
    }
    socket.send(hepPacket(packet, this.#options), port, this.#address, (error) => {
      if (error) this.#dropped += 1;
      else this.#sent += 1;
    });
  }

  /** Opens the socket. The host name is resolved again periodically; until then the last address is used. */
  #open(): Socket | undefined {
    const { clock, host } = this.#options;
    const nowMs = clock.monotonicMs();
    if (this.#stopped) return undefined;
    if (nowMs - this.#lookedUpMs >= LOOK_UP_MS) {
      this.#lookedUpMs = nowMs;
      if (isIP(host) !== 0) this.#use(host);
      else void this.#lookUp(host);
    }
    return this.#socket;
  }

  async #lookUp(host: string): Promise<void> {
    try {
      const { address } = await lookup(host);
      this.#use(address);
    } catch (error) {
      this.#options.logger.warn({ host, why: String(error) }, 'HEP server not found');
    }
  }

  #use(address: string): void {
    if (this.#stopped || address === this.#address) return;
    this.#socket?.close();
    this.#address = address;
    this.#socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
    // Errors are ignored, because an unavailable Homer must not affect calls.
    this.#socket.on('error', () => undefined);
    this.#socket.unref();
  }
}

/** Address and port; the wildcard addresses `0.0.0.0` and `::` are replaced. */
const placeOf = (address: string, own: string): string =>
  address === '0.0.0.0' || address === '::' ? own : address;
