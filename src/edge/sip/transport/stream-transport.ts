import { createConnection, isIP, isIPv6, type Socket } from 'node:net';
import type { Clock } from '../../../base/clock.ts';
import type { Flow, Target } from '../../../protocol/sip/sip.ts';
import { type ConnectionLimits, DEFAULT_CONNECTION_LIMITS } from './connection-limits.ts';
import type { ConnectionCounts, ConnectionTable, Place } from './connection-table.ts';
import { Listener } from './listener.ts';
import { StreamConnection } from './stream-connection.ts';

export interface StreamLimits extends ConnectionLimits, ConnectionCounts {
  /** Time limit in milliseconds for opening a connection, including its handshake. */
  readonly connectMs: number;
}

export const DEFAULT_STREAM_LIMITS: StreamLimits = {
  ...DEFAULT_CONNECTION_LIMITS,
  maxConnections: 5_000,
  maxConnectionsPerAddress: 500,
  connectMs: 4_000,
};

/** Differences between TCP and TLS. */
export interface StreamKind {
  readonly transport: 'tcp' | 'tls';
  /** Calls `ready` when SIP can be sent. A socket that fails before is destroyed. */
  accept(raw: Socket, ready: (socket: Socket) => void): void;
  /** Opens a socket. `ready` names the event after which SIP can be sent. */
  open(
    target: Target,
    localAddress: string | undefined,
  ): { readonly socket: Socket; readonly ready: 'connect' | 'secureConnect' };
  /** Called when a connection could not be opened. */
  failed?(target: Target, why: string): void;
  /** Returns whether an existing connection may be used for that target. Default: true. */
  serves?(flow: Flow, target: Target): boolean;
  /** Called for each established connection, opened by either side. */
  opened?(socket: Socket, flow: Flow): void;
  /** Returns whether the peer has proved that name, so it may receive requests over the connection. Default: false. */
  isNamed?(flow: Flow, name: string): boolean;
  /** Returns whether an address may begin a handshake now. Default: true. */
  mayBegin?(address: string, nowMs: number): boolean;
}

export const TCP: StreamKind = {
  transport: 'tcp',
  accept: (raw, ready) => ready(raw),
  open: ({ address, port }, localAddress) => ({
    socket: createConnection({
      host: address,
      port,
      ...(localAddress === undefined ? {} : { localAddress }),
    }),
    ready: 'connect',
  }),
};

export interface StreamTransportOptions {
  readonly host: string;
  readonly clock: Clock;
  readonly table: ConnectionTable;
  readonly kind: StreamKind;
  readonly failed: (error: Error) => void;
  readonly limits?: StreamLimits;
}

/** SIP over TCP or TLS: connections of both directions in the common table, reused by address and port. */
export class StreamTransport {
  readonly #options: StreamTransportOptions;
  readonly #limits: StreamLimits;
  readonly #listener: Listener;
  readonly #opening = new Map<string, Promise<Flow | undefined>>();
  /** Functions that abandon the connections being opened. */
  readonly #abandon = new Set<(why: string) => void>();

  constructor(options: StreamTransportOptions) {
    const { host, table, kind, clock, failed } = options;
    this.#options = options;
    this.#limits = options.limits ?? DEFAULT_STREAM_LIMITS;
    this.#listener = new Listener({
      transport: kind.transport,
      host,
      table,
      failed,
      accepted: (raw, place) => kind.accept(raw, (socket) => this.#add(socket, place)),
      clock,
      handshakeMs: this.#limits.messageMs,
      mayBegin: (address) => kind.mayBegin?.(address, clock.monotonicMs()) ?? true,
    });
  }

  /** Rejects with PORT_IN_USE. Resolves to the bound port. */
  start(port: number): Promise<number> {
    return this.#listener.start(port);
  }

  stop(): Promise<void> {
    for (const giveUp of [...this.#abandon]) giveUp('shutting down');
    return this.#listener.stop();
  }

  /** Returns an existing or new flow to that address, or undefined if none could be opened in time. Never rejects. */
  connect(target: Target): Promise<Flow | undefined> {
    const { table, kind } = this.#options;
    const { address, port, name = '' } = target;
    const { transport } = kind;
    const known = table.at({ transport, remoteAddress: address, remotePort: port });
    // The system notices a connection that a firewall or a restarted peer has forgotten only after many minutes.
    const isUsable = known !== undefined && known.isSilent?.() !== true;
    if (isUsable && (kind.serves?.(known.flow, target) ?? true)) {
      return Promise.resolve(known.flow);
    }
    const key = `${address} ${port} ${name}`;
    const opening = this.#opening.get(key);
    if (opening !== undefined) return opening;
    if (!table.mayOpen(this.#opening.size)) return Promise.resolve(undefined);
    const opened = this.#open(target)
      .catch((error: unknown) => {
        kind.failed?.(target, error instanceof Error ? error.message : String(error));
        return undefined;
      })
      .finally(() => this.#opening.delete(key));
    this.#opening.set(key, opened);
    return opened;
  }

  #open(target: Target): Promise<Flow | undefined> {
    const { kind, clock } = this.#options;
    return new Promise((resolve) => {
      const { socket, ready } = kind.open(target, this.#localAddress(target.address));
      const giveUp = (why: string): void => {
        over();
        socket.on('error', () => undefined);
        socket.destroy();
        kind.failed?.(target, why);
        resolve(undefined);
      };
      const failed = (error: Error): void => giveUp(error.message);
      const dueMs = clock.monotonicMs() + this.#limits.connectMs;
      const cancel = clock.at(dueMs, () => giveUp('no connection in time'));
      const over = (): void => {
        cancel();
        this.#abandon.delete(giveUp);
      };
      this.#abandon.add(giveUp);
      socket.once('error', failed);
      socket.once(ready, () => {
        over();
        socket.off('error', failed);
        resolve(this.#add(socket, undefined).flow);
      });
    });
  }

  /**
   * Local address for outgoing connections: the listening address, so that the peer recognizes the service. Undefined
   * lets the system choose, as for a listening host name, which is no address to bind.
   */
  #localAddress(towards: string): string | undefined {
    const { host } = this.#options;
    const isOneAddress = isIP(host) !== 0 && host !== '0.0.0.0' && host !== '::';
    return isOneAddress && isIPv6(towards) === isIPv6(host) ? host : undefined;
  }

  #add(socket: Socket, place: Place | undefined): StreamConnection {
    const { clock, table, kind } = this.#options;
    const connection: StreamConnection = new StreamConnection({
      transport: kind.transport,
      socket,
      clock,
      limits: this.#limits,
      table,
      place,
      isNamed: (name) => kind.isNamed?.(connection.flow, name) ?? false,
    });
    kind.opened?.(socket, connection.flow);
    return connection;
  }
}
