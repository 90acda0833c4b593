import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from '../../base/logger.ts';
import {
  type Flow,
  isStun,
  requestQuoted,
  type SipTransportName,
  type Target,
  type UserAgentInput,
  type UserAgentOutput,
} from '../../protocol/sip/sip.ts';
import type { KnownPeer } from './admission-filter.ts';
import type { SignallingOptions } from './signalling.ts';
import { Traffic } from './traffic.ts';
import { ConnectionTable } from './transport/connection-table.ts';
import { SecureAcceptor } from './transport/secure-acceptor.ts';
import { DEFAULT_STREAM_LIMITS, StreamTransport, TCP } from './transport/stream-transport.ts';
import { TlsKind } from './transport/tls-kind.ts';
import { UdpTransport } from './transport/udp-transport.ts';
import { type Arrival, WebSockets } from './transport/web-sockets.ts';
import type { SipWire, WireParts } from './wire.ts';

const TLS_HANDSHAKES_PER_SECOND = 300;
/** Maximum number of attempts to find a port that is free for both UDP and TCP. */
const PORT_ATTEMPTS = 20;

type Ports = Partial<Record<SipTransportName, number | undefined>>;

/** State that exists between start and stop. */
interface Open {
  readonly table: ConnectionTable;
  udp?: UdpTransport;
  tcp?: StreamTransport;
  tls?: StreamTransport;
  webSockets?: WebSockets;
  readonly ports: Ports;
}

/** The listeners and their traffic. UDP and TCP share a port; TLS and WebSocket have separate ones. */
export class SipSockets implements SipWire {
  readonly traffic: Traffic;
  readonly #options: SignallingOptions;
  readonly #dispatch: (input: UserAgentInput) => void;
  readonly #logger: Logger;
  readonly #acquaintance: KnownPeer;
  #open: Open | undefined;
  #failedHandshakes = 0;

  constructor(
    options: SignallingOptions,
    { acquaintance, dispatch }: Pick<WireParts, 'acquaintance' | 'dispatch'>,
  ) {
    this.#options = options;
    this.#dispatch = dispatch;
    this.#logger = options.logger;
    this.#acquaintance = acquaintance;
    this.traffic = new Traffic({
      options,
      acquaintance,
      dispatch,
      close: (connectionId) => this.#open?.table.close(connectionId, 'too many requests'),
    });
  }

  get state(): SipWire['state'] {
    const isUp = this.#open !== undefined;
    return { isUp, detail: isUp ? 'listening' : 'not listening' };
  }

  /** Port of UDP and TCP. */
  get port(): number {
    return this.ports.udp ?? this.ports.tcp ?? 0;
  }

  /** Ports with a listener. */
  get ports(): Readonly<Ports> {
    return this.#open?.ports ?? {};
  }

  connections(): Readonly<Partial<Record<SipTransportName, number>>> {
    return this.#open?.table.counts() ?? {};
  }

  get failedHandshakes(): number {
    return this.#failedHandshakes;
  }

  get lost(): number {
    return this.#open?.udp?.lost ?? 0;
  }

  /** Rejects with PORT_IN_USE. */
  async start(): Promise<void> {
    const attempts = this.#options.port === 0 ? PORT_ATTEMPTS : 1;
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#openAll();
        return;
      } catch (error) {
        await this.stop();
        if (attempt >= attempts) throw error;
      }
    }
  }

  async stop(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    open?.table.stop();
    const { udp, tcp, tls, webSockets } = open ?? {};
    await Promise.all([udp?.stop(), tcp?.stop(), tls?.stop(), webSockets?.stop()]);
  }

  connect(target: Target): Promise<Flow | undefined> {
    const { tcp, tls } = this.#open ?? {};
    // UDP has no connections, and a browser is reachable only over the WebSocket that it opened.
    const connecting: Readonly<Record<SipTransportName, StreamTransport | undefined>> = {
      udp: undefined,
      tcp,
      tls,
      ws: undefined,
      wss: undefined,
    };
    return connecting[target.transport]?.connect(target) ?? Promise.resolve(undefined);
  }

  /** Starts pings that detect a lost connection (RFC 5626 §4.4.1). */
  keepAlive({ connectionId, everyMs }: Extract<UserAgentOutput, { kind: 'keepAlive' }>): void {
    this.#open?.table.get(connectionId)?.keepAlive?.(everyMs);
  }

  /** Handles an upgrade received by an HTTP server of this process. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, arrival: Arrival): void {
    const webSockets = this.#open?.webSockets;
    if (webSockets === undefined) socket.destroy();
    else webSockets.upgrade(request, socket, head, arrival);
  }

  send(output: Extract<UserAgentOutput, { kind: 'send' }>): void {
    const { bytes, flow, transaction } = output;
    this.traffic.sent(output);
    const failed = (): void => {
      if (transaction !== undefined) this.#dispatch({ kind: 'sendFailed', transaction });
    };
    const open = this.#open;
    if (open === undefined) queueMicrotask(failed);
    else if (flow.transport !== 'udp') open.table.send(flow.connectionId, bytes, failed);
    else if (open.udp === undefined) queueMicrotask(failed);
    else open.udp.send(bytes, flow.remoteAddress, flow.remotePort, failed);
  }

  async #openAll(): Promise<void> {
    const options = this.#options;
    const { host, transports, clock, port, tls, connections = DEFAULT_STREAM_LIMITS } = options;
    const failed = (error: Error): void => {
      this.#logger.error({ error }, 'SIP socket failed');
    };
    const table = new ConnectionTable(connections, {
      received: (bytes, flow) => this.traffic.received(bytes, flow),
      lost: (flow, why) => this.#lost(flow, why),
      isKnown: (flow) => this.traffic.isKnown(flow),
    });
    const open: Open = { table, ports: {} };
    this.#open = open;
    const common = { host, clock, table, limits: connections, failed };
    if (transports.includes('udp')) {
      open.udp = new UdpTransport(host, port, {
        received: (bytes, address, from, waitedMs) =>
          this.#datagram(bytes, this.#udpFlow(address, from), waitedMs),
        undelivered: (start) => this.#undelivered(start),
        failed,
      });
      open.ports.udp = await open.udp.start();
    }
    if (transports.includes('tcp')) {
      open.tcp = new StreamTransport({ ...common, kind: TCP });
      open.ports.tcp = await open.tcp.start(open.ports.udp ?? port);
    }
    const acceptor =
      tls === undefined
        ? undefined
        : new SecureAcceptor({
            identity: tls.identity,
            clock,
            perSecond: tls.handshakesPerSecond ?? TLS_HANDSHAKES_PER_SECOND,
            isCarrier: (address) => this.#isCarrier(address),
            refused: (address, why) => this.#refused(address, why),
          });
    if (tls !== undefined && acceptor !== undefined) {
      const kind = new TlsKind(tls.identity, acceptor, (target, why) =>
        this.#unreached(target, why),
      );
      open.tls = new StreamTransport({ ...common, kind });
      open.ports.tls = await this.#listen(tls.port, open.tls);
    }
    const { origins = [], ws, wss } = options.webSockets ?? {};
    open.webSockets = new WebSockets({ ...common, origins });
    const { webSockets } = open;
    open.ports.ws = await this.#listen(ws, webSockets);
    if (acceptor !== undefined) {
      const start = (port: number): Promise<number> => webSockets.start(port, acceptor);
      open.ports.wss = await this.#listen(wss, { start });
    }
  }

  /** Handles a datagram. SIP and STUN keep-alives share the port (RFC 5626 §8). */
  #datagram(bytes: Uint8Array, flow: Flow, waitedMs: number): void {
    if (!isStun(bytes)) {
      this.traffic.received(bytes, flow, waitedMs);
      return;
    }
    const answer = this.traffic.answerStun(bytes, flow);
    if (answer === undefined) return;
    // A failed response is not retried, because the keep-alive is repeated.
    this.#open?.udp?.send(answer, flow.remoteAddress, flow.remotePort, () => undefined);
  }

  async #listen(
    port: number | undefined,
    listener: { start(port: number): Promise<number> },
  ): Promise<number | undefined> {
    if (port === undefined) return undefined;
    try {
      return await listener.start(port);
    } catch (error) {
      if (this.#options.optionalPorts?.includes(port) !== true) throw error;
      const why = error instanceof Error ? error.message : String(error);
      this.#logger.warn({ port }, `left out: ${why}`);
      return undefined;
    }
  }

  /** Reports an ICMP error only for a request with an unpredictable branch, so forged ICMP cannot fail a call. */
  #undelivered(start: Buffer): void {
    const quoted = requestQuoted(start.toString('latin1'));
    if (quoted !== undefined) this.#dispatch({ kind: 'undelivered', ...quoted });
  }

  #lost({ transport, remoteAddress, remotePort, connectionId }: Flow, why: string): void {
    this.#logger.debug({ transport, remoteAddress, remotePort, why }, 'SIP connection gone');
    if (connectionId !== undefined) this.#dispatch({ kind: 'connectionLost', connectionId });
  }

  #refused(remoteAddress: string, why: string): void {
    this.#failedHandshakes += 1;
    this.#logger.debug({ remoteAddress, why }, 'SIP TLS handshake failed');
  }

  /**
   * Logs a failed TLS connection as a warning, because the operator must know the cause; usually it is the certificate.
   */
  #unreached({ name, address, port }: Target, why: string): void {
    this.#logger.warn({ name, address, port, why }, 'SIP TLS connection failed');
  }

  #isCarrier(remoteAddress: string): boolean {
    return this.#acquaintance.isCarrier({ ...this.#udpFlow(remoteAddress, 0), transport: 'tls' });
  }

  #udpFlow(address: string, port: number): Flow {
    return {
      transport: 'udp',
      localAddress: this.#options.host,
      localPort: this.port,
      remoteAddress: address,
      remotePort: port,
      connectionId: undefined,
    };
  }
}
