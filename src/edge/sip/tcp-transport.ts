import { createConnection, createServer, isIPv6, type Server, type Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import type { Flow } from '../../protocol/sip/sip.ts';
import {
  type ConnectionLimits,
  DEFAULT_CONNECTION_LIMITS,
  TcpConnection,
} from './tcp-connection.ts';
import { portError } from './udp-transport.ts';
import { UnknownTcpPeers } from './unknown-tcp-peers.ts';

export interface TcpLimits extends ConnectionLimits {
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  readonly connectMs: number;
}

export const DEFAULT_TCP_LIMITS: TcpLimits = {
  ...DEFAULT_CONNECTION_LIMITS,
  maxConnections: 5_000,
  maxConnectionsPerAddress: 500,
  connectMs: 4_000,
};

export interface TcpEvents {
  received(bytes: Uint8Array, flow: Flow): void;
  lost(connectionId: number, why: string): void;
  /** The peer proved who it is. Default: everybody did. */
  isKnown?(flow: Flow): boolean;
  failed(error: Error): void;
}

/** TCP on the port of UDP: accepted and opened connections in one table, reused by address and port. */
export class TcpTransport {
  readonly #host: string;
  readonly #clock: Clock;
  readonly #limits: TcpLimits;
  readonly #events: TcpEvents;
  readonly #server: Server;
  readonly #byId = new Map<number, TcpConnection>();
  readonly #byAddress = new Map<string, TcpConnection>();
  readonly #opening = new Map<string, Promise<Flow | undefined>>();
  readonly #perHost = new Map<string, number>();
  readonly #unknown: UnknownTcpPeers;
  #lastId = 0;
  #stopping = false;

  constructor(host: string, clock: Clock, events: TcpEvents, limits = DEFAULT_TCP_LIMITS) {
    this.#host = host;
    this.#clock = clock;
    this.#limits = limits;
    this.#events = events;
    this.#unknown = new UnknownTcpPeers(({ flow }) => this.#isKnown(flow));
    this.#server = createServer((socket) => this.#accept(socket));
    this.#server.on('error', (error) => events.failed(error));
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Rejects with PORT_IN_USE. Resolves to the bound port. */
  start(port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const refused = (error: NodeJS.ErrnoException): void => {
        reject(portError(error, 'TCP', this.#host, port));
      };
      this.#server.once('error', refused);
      this.#server.listen({ host: this.#host, port }, () => {
        this.#server.off('error', refused);
        const address = this.#server.address();
        resolve(typeof address === 'object' && address !== null ? address.port : port);
      });
    });
  }

  /** A flow to that address: one that is there, or a new one; undefined when none can be had in time. */
  connect(address: string, port: number): Promise<Flow | undefined> {
    const key = keyOf(address, port);
    const known = this.#byAddress.get(key);
    if (known !== undefined) return Promise.resolve(known.flow);
    const opening = this.#opening.get(key);
    if (opening !== undefined) return opening;
    if (this.#stopping || this.#byId.size + this.#opening.size >= this.#limits.maxConnections) {
      return Promise.resolve(undefined);
    }
    const opened = this.#open(address, port).finally(() => this.#opening.delete(key));
    this.#opening.set(key, opened);
    return opened;
  }

  send(connectionId: number | undefined, bytes: Uint8Array, failed: () => void): void {
    const connection = connectionId === undefined ? undefined : this.#byId.get(connectionId);
    if (connection === undefined) queueMicrotask(failed);
    else connection.send(bytes, failed);
  }

  close(connectionId: number, why: string): void {
    this.#byId.get(connectionId)?.close(why);
  }

  stop(): Promise<void> {
    this.#stopping = true;
    for (const connection of [...this.#byId.values()]) connection.close('shutting down');
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  #open(address: string, port: number): Promise<Flow | undefined> {
    return new Promise((resolve) => {
      // Requests leave from the address that is listened on, so that the peer knows whom it talks to.
      const isAnyAddress = this.#host === '0.0.0.0' || this.#host === '::';
      const sameFamily = isIPv6(address) === isIPv6(this.#host);
      const local = isAnyAddress || !sameFamily ? {} : { localAddress: this.#host };
      const socket = createConnection({ host: address, port, ...local });
      const giveUp = (): void => {
        cancel();
        socket.destroy();
        resolve(undefined);
      };
      const cancel = this.#clock.at(this.#clock.monotonicMs() + this.#limits.connectMs, giveUp);
      socket.once('error', giveUp);
      socket.once('connect', () => {
        cancel();
        socket.off('error', giveUp);
        resolve(this.#add(socket).flow);
      });
    });
  }

  #accept(socket: Socket): void {
    const host = socket.remoteAddress;
    if (this.#stopping || host === undefined || !this.#mayAccept(host)) {
      socket.on('error', () => undefined);
      socket.destroy();
      return;
    }
    const connection = this.#add(socket);
    this.#unknown.add(connection, host);
    connection.expectMessage();
  }

  /** Whether one more connection of that host fits; at a limit the oldest connection of an unknown peer is closed for it. */
  #mayAccept(host: string): boolean {
    const { maxConnections, maxConnectionsPerAddress } = this.#limits;
    const why = 'too many unknown peers';
    if ((this.#perHost.get(host) ?? 0) >= maxConnectionsPerAddress) {
      return this.#unknown.closeOldest(why, host);
    }
    return this.#byId.size < maxConnections || this.#unknown.closeOldest(why);
  }

  #isKnown(flow: Flow): boolean {
    return this.#events.isKnown?.(flow) ?? true;
  }

  #add(socket: Socket): TcpConnection {
    this.#lastId += 1;
    const host = socket.remoteAddress ?? '';
    const connection = new TcpConnection(this.#lastId, socket, this.#clock, this.#limits, {
      message: (bytes, flow) => this.#events.received(bytes, flow),
      closed: (closed, why) => this.#remove(closed, host, why),
      isKnown: (flow) => this.#isKnown(flow),
    });
    const { flow } = connection;
    this.#byId.set(connection.id, connection);
    this.#byAddress.set(keyOf(flow.remoteAddress, flow.remotePort), connection);
    this.#perHost.set(host, (this.#perHost.get(host) ?? 0) + 1);
    return connection;
  }

  #remove(connection: TcpConnection, host: string, why: string): void {
    const { flow, id } = connection;
    const key = keyOf(flow.remoteAddress, flow.remotePort);
    this.#byId.delete(id);
    this.#unknown.remove(connection, host);
    if (this.#byAddress.get(key) === connection) this.#byAddress.delete(key);
    const left = (this.#perHost.get(host) ?? 1) - 1;
    if (left > 0) this.#perHost.set(host, left);
    else this.#perHost.delete(host);
    this.#events.lost(id, why);
  }
}

const keyOf = (address: string, port: number): string => `${address} ${port}`;
