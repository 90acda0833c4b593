import type { Flow, SipTransportName } from '../../../protocol/sip/sip.ts';
import { type Guest, UnknownPeers } from './unknown-peers.ts';

/** A SIP connection over TCP, TLS or WebSocket, opened by either side. */
export interface SipConnection {
  readonly id: number;
  readonly flow: Flow;
  send(bytes: Uint8Array, failed: () => void): void;
  close(why: string): void;
  /** Returns whether the peer has sent nothing for seconds since a request that it must answer. Default: false. */
  isSilent?(): boolean;
  /** Starts pings to a peer that answers them. Default: the transport has its own pings. */
  keepAlive?(everyMs: number): void;
}

export interface ConnectionCounts {
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  /** Whether the process has file descriptors left for a connection that was accepted. Default: it has. */
  readonly mayKeep?: () => boolean;
}

export interface ConnectionEvents {
  received(bytes: Uint8Array, flow: Flow): void;
  lost(flow: Flow, why: string): void;
  /** Returns whether the peer is authenticated. Default: true. */
  isKnown?(flow: Flow): boolean;
}

/** An accepted socket, counted from its first packet; its handshake may still be in progress. */
export interface Place extends Guest {
  connection: SipConnection | undefined;
}

const TOO_MANY = 'too many unknown peers';

/** All SIP connections of every transport, with limits in total and per address. */
export class ConnectionTable {
  readonly #limits: ConnectionCounts;
  readonly #events: ConnectionEvents;
  readonly #byId = new Map<number, SipConnection>();
  readonly #placeOf = new Map<number, Place>();
  readonly #byAddress = new Map<string, SipConnection>();
  readonly #aliasOf = new Map<number, string>();
  readonly #places = new Set<Place>();
  readonly #perHost = new Map<string, number>();
  readonly #unknown: UnknownPeers<Place>;
  #lastId = 0;
  #stopping = false;

  constructor(limits: ConnectionCounts, events: ConnectionEvents) {
    this.#limits = limits;
    this.#events = events;
    this.#unknown = new UnknownPeers(
      ({ connection }) => connection !== undefined && this.isKnown(connection.flow),
    );
  }

  /** Number of connections without handshakes. */
  get size(): number {
    return this.#byId.size;
  }

  counts(): Readonly<Partial<Record<SipTransportName, number>>> {
    const counts: Partial<Record<SipTransportName, number>> = {};
    for (const { flow } of this.#byId.values()) {
      counts[flow.transport] = (counts[flow.transport] ?? 0) + 1;
    }
    return counts;
  }

  isKnown(flow: Flow): boolean {
    return this.#events.isKnown?.(flow) ?? true;
  }

  received(bytes: Uint8Array, flow: Flow): void {
    this.#events.received(bytes, flow);
  }

  /** Returns a unique connection number for all transports. */
  newId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  /** Returns whether we may open another connection. */
  mayOpen(opening: number): boolean {
    return !this.#stopping && this.#places.size + opening < this.#limits.maxConnections;
  }

  /**
   * Reserves a place for an accepted socket. At a limit, the oldest connection of an unknown peer is closed for it.
   * Returns undefined if there is none. `close` ends the socket before a connection exists on it.
   */
  enter(host: string, close: (why: string) => void): Place | undefined {
    if (this.#stopping || this.#limits.mayKeep?.() === false) return undefined;
    if (!this.#mayAccept(host)) return undefined;
    const place: Place = {
      host,
      connection: undefined,
      close: (why) => {
        if (place.connection !== undefined) {
          place.connection.close(why);
          return;
        }
        this.leave(place);
        close(why);
      },
    };
    this.#count(place);
    this.#unknown.add(place);
    return place;
  }

  /** Releases the place of a closed socket. Repeated calls have no effect. */
  leave(place: Place): void {
    if (!this.#places.delete(place)) return;
    this.#unknown.remove(place);
    const left = (this.#perHost.get(place.host) ?? 1) - 1;
    if (left > 0) this.#perHost.set(place.host, left);
    else this.#perHost.delete(place.host);
  }

  /** Adds a connection. `place` is undefined if we opened it. */
  add(connection: SipConnection, place: Place | undefined): void {
    const { id, flow } = connection;
    const taken = place ?? {
      host: flow.remoteAddress,
      connection,
      close: (why) => connection.close(why),
    };
    taken.connection = connection;
    if (place === undefined) this.#count(taken);
    this.#byId.set(id, connection);
    this.#placeOf.set(id, taken);
    this.#byAddress.set(keyOf(flow), connection);
  }

  remove(connection: SipConnection, why: string): void {
    const { id, flow } = connection;
    const place = this.#placeOf.get(id);
    this.#byId.delete(id);
    this.#placeOf.delete(id);
    for (const key of [keyOf(flow), this.#aliasOf.get(id) ?? '']) {
      if (this.#byAddress.get(key) === connection) this.#byAddress.delete(key);
    }
    this.#aliasOf.delete(id);
    if (place !== undefined) this.leave(place);
    this.#events.lost(flow, why);
  }

  /** Also uses this connection for the peer's listening port (RFC 5923). */
  alias(connection: SipConnection, port: number): void {
    const { flow, id } = connection;
    const key = keyOf({ ...flow, remotePort: port });
    if (this.#byAddress.has(key)) return;
    this.#byAddress.set(key, connection);
    this.#aliasOf.set(id, key);
  }

  /** Existing connection to that address and port. */
  at(place: Pick<Flow, 'transport' | 'remoteAddress' | 'remotePort'>): SipConnection | undefined {
    return this.#byAddress.get(keyOf(place));
  }

  get(id: number): SipConnection | undefined {
    return this.#byId.get(id);
  }

  send(id: number | undefined, bytes: Uint8Array, failed: () => void): void {
    const connection = id === undefined ? undefined : this.#byId.get(id);
    if (connection === undefined) queueMicrotask(failed);
    else connection.send(bytes, failed);
  }

  close(id: number, why: string): void {
    this.#byId.get(id)?.close(why);
  }

  stop(): void {
    this.#stopping = true;
    for (const place of [...this.#places]) place.close('shutting down');
  }

  #mayAccept(host: string): boolean {
    const { maxConnections, maxConnectionsPerAddress } = this.#limits;
    if ((this.#perHost.get(host) ?? 0) >= maxConnectionsPerAddress) {
      return this.#unknown.closeOldest(TOO_MANY, host);
    }
    return this.#places.size < maxConnections || this.#unknown.closeOldest(TOO_MANY);
  }

  #count(place: Place): void {
    this.#places.add(place);
    this.#perHost.set(place.host, (this.#perHost.get(place.host) ?? 0) + 1);
  }
}

const keyOf = ({
  transport,
  remoteAddress,
  remotePort,
}: Pick<Flow, 'transport' | 'remoteAddress' | 'remotePort'>): string =>
  `${transport} ${remoteAddress} ${remotePort}`;
